"""The words of registers at the start of every block: a fixpoint over the steps that one thread may take."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sassan.analysis.fixpoint import Problem, solve, verify
from sassan.analysis.graph import nest, weak_order
from sassan.domains.bits import bits
from sassan.domains.lanes import UNKNOWN, LaneDomain, LaneState, LaneWord, follows
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import ONE_PER_WARP
from sassan.values.arrivals import Step, arrivals, lanes_of_blocks, steps
from sassan.values.divisions import divisions
from sassan.values.environment import LaunchEnvironment
from sassan.values.evaluate import PREDICATES, Evaluator, Outcome, Words
from sassan.values.slicing import backward_slice
from sassan.warpcfg.graph import WarpCfg

_CHOOSE_BY_WORD = frozenset({Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.RETURN})
_ROUNDS = 8
"""How often the fixpoint is solved, at most: what is known where lanes come together may decide another branch."""


LaneEffects = dict[int, tuple[int, Outcome]]
"""For each instruction, the registers whose agreement is lost before it, and what it does to agreement; both up to lanes."""


@dataclass(frozen=True, slots=True)
class WordFlow:
    """What registers hold at the start of each block of a function, in whatever call context, by the address of the block."""

    starts: Mapping[int, LaneState]
    before: Mapping[int, tuple[int, ...]]
    """The blocks from which a thread comes to a block."""
    blocks: Mapping[int, tuple[Instruction, ...]]
    evaluator: Evaluator

    seen: LaneEffects
    """What each instruction does to agreement, from these words on."""
    ends: Mapping[int, Mapping[int, LaneWord]]
    """The words that have lanes at the end of each block."""
    lanes: Mapping[int, int]
    """The lanes whose threads may come to each block, as a set of bits, of those of a table; where none is, no thread comes."""
    taken: Mapping[Step, int]
    """The lanes that may take each step between blocks; all bits where that is not known."""

    def effects(self) -> LaneEffects:
        """Return what each instruction does to agreement; at the start of a block, what threads bring with different lanes is lost."""
        out = dict(self.seen)
        for start, instructions in self.blocks.items():
            here = self.starts[start].words
            brought = [self.ends[src] for src in self.before[start] if src in self.ends]
            mixed = {name for laned in brought for name, value in laned.items() if _mixes(value, here.get(name, UNKNOWN))}
            if mixed and self.starts[start].reached:
                address = instructions[0].address
                lost, outcome = out[address]
                out[address] = lost | sum(1 << name for name in mixed), outcome
        return out


def _mixes(brought: LaneWord, word: LaneWord) -> bool:
    """Say whether threads that agree on a word when they come may not do so where it is another one; what is known is agreed."""
    return not word.known and not follows(brought, word)


def _run(
    instructions: tuple[Instruction, ...], state: LaneState, evaluator: Evaluator, lost: Mapping[int, int], seen: LaneEffects | None = None
) -> Words:
    """Return the words behind instructions that begin in a state; what each does to agreement is noted in `seen`."""
    words = Words(state.words)
    for instruction in instructions:
        given_up = lost.get(instruction.address, 0) & words.laned
        if given_up:
            words.forget_lanes(given_up)
        outcome = evaluator.run(words, instruction)
        if seen is not None:
            seen[instruction.address] = given_up, outcome
    return words


def deciding(facts: Facts) -> int:
    """Return the words whose agreement is meant without lanes: those that decide where threads go, and all behind an unknown call."""
    if facts.flow is Flow.NONE:
        return 0
    if facts.flow is Flow.CALL and facts.target is None:
        return ~PREDICATES
    return (facts.condition | (facts.reads if facts.flow in _CHOOSE_BY_WORD else 0)) & ~PREDICATES


def word_flow(cfg: WarpCfg, facts: Mapping[int, Facts], environment: LaunchEnvironment) -> WordFlow:
    """Return the words of the registers of a graph without gaps and external calls, for a launch.

    Raises SelfCheckError when the fixpoint fails its re-check.
    """
    blocks = {node.start: node.instructions for node in cfg.nodes}
    starts = sorted(blocks)
    index = {start: place for place, start in enumerate(starts)}
    after: list[set[int]] = [set() for _ in starts]
    for edge in cfg.thread_edges:
        after[index[cfg.nodes[edge.src].start]].add(index[cfg.nodes[edge.dst].start])
    successors = [sorted(each) for each in after]
    before: dict[int, tuple[int, ...]] = dict.fromkeys(starts, ())
    for src, reached in enumerate(successors):
        for dst in reached:
            before[starts[dst]] += (starts[src],)
    entry = index[cfg.nodes[cfg.entry].start]
    order = [starts[node] for node in weak_order(len(starts), successors, entry)]
    following = {start: [starts[dst] for dst in successors[index[start]]] for start in starts}
    followed = backward_slice(blocks, facts, before, order)
    evaluator = Evaluator(environment, facts, followed, divisions(blocks.values(), facts, environment))
    lost = {address: registers for address, each in facts.items() if (registers := deciding(each))}
    wide = _warp_wide(cfg, blocks, evaluator, facts)

    seen: LaneEffects = {}
    laned: dict[int, Mapping[int, LaneWord]] = {}
    ends: dict[int, LaneState] = {}
    states: Mapping[int, LaneState] = {}
    met: Mapping[int, LaneState] = {}

    def transfer(start: int, state: LaneState) -> LaneState:
        # The re-check runs every block once more, last, from its final words: what is noted then stays.
        words = _run(blocks[start], _with(_with(state, wide.get(start)), met.get(start)), evaluator, lost, seen)
        laned[start] = {name: words.held[name] for name in bits(words.laned & ~PREDICATES)}
        held = {name: value for name, value in words.held.items() if not 1 << name & ONE_PER_WARP} if wide else words.held
        ends[start] = LaneState(held)
        return ends[start]

    for _ in range(_ROUNDS):
        solution = _fixpoint(following, starts[entry], transfer)
        states = {start: _with(solution.get(start, LaneDomain.bottom), met.get(start)) for start in starts}
        more = arrivals(blocks, facts, following, states, ends, starts[entry], environment)
        if not more:
            break
        met = {start: _with(more.get(start, LaneState()), met.get(start)) for start in met.keys() | more.keys()}
    states = {start: _with(state, wide.get(start)) for start, state in states.items()}
    taken = steps(blocks, facts, following, ends)
    coming = lanes_of_blocks(taken, following, starts[entry], environment.present)
    return WordFlow(states, before, blocks, evaluator, seen, laned, coming, taken)


def _warp_wide(
    cfg: WarpCfg, blocks: Mapping[int, tuple[Instruction, ...]], evaluator: Evaluator, facts: Mapping[int, Facts]
) -> Mapping[int, LaneState]:
    """Return the words of the registers that a warp has once, at the start of each block; nothing where none is written.

    They hold what the threads wrote that ran before, whichever they were: so these words follow the steps of the warp.
    """
    writing = {start: tuple([each for each in block if facts[each.address].writes & ONE_PER_WARP]) for start, block in blocks.items()}
    if not any(writing.values()):
        return {}
    following: dict[int, list[int]] = {start: [] for start in blocks}
    for edge in cfg.edges:
        if edge.dst is not None and (start := cfg.nodes[edge.dst].start) not in following[cfg.nodes[edge.src].start]:
            following[cfg.nodes[edge.src].start].append(start)

    def transfer(start: int, state: LaneState) -> LaneState:
        words = _run(writing[start], state, evaluator, {})
        return LaneState({name: value for name, value in words.held.items() if 1 << name & ONE_PER_WARP})

    return _fixpoint(following, cfg.nodes[cfg.entry].start, transfer)


def _with(state: LaneState, more: LaneState | None) -> LaneState:
    return LaneState({**state.words, **more.words}) if state.reached and more is not None and more.words else state


def _fixpoint(following: Mapping[int, list[int]], entry: int, transfer: Callable[[int, LaneState], LaneState]) -> Mapping[int, LaneState]:
    """Return the words at the start of each block that is reached; `transfer` gives those at its end.

    Raises SelfCheckError when the re-check fails.
    """
    starts = sorted(following)
    index = {start: place for place, start in enumerate(starts)}
    successors = [sorted(index[dst] for dst in following[start]) for start in starts]
    heads = {starts[loop.head] for loop in nest(len(starts), successors, index[entry])}
    places = {starts[node]: place for place, node in enumerate(weak_order(len(starts), successors, index[entry]))}

    def leading(start: int, state: LaneState) -> Iterator[tuple[int, LaneState]]:
        ends = transfer(start, state)
        return ((dst, ends) for dst in following[start])

    problem = Problem(LaneDomain(), leading, {entry: LaneState()}, lambda start: (places[start],), widens=heads.__contains__)
    solution = solve(problem)
    verify(problem, solution.states, name=lambda start: f"words at 0x{start:04x}")
    return solution.states
