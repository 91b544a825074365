"""The words of registers at the start of every block: a fixpoint over the steps that one thread may take."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.analysis.graph import nest, weak_order
from sassan.domains.bits import bits
from sassan.domains.lanes import UNKNOWN, LaneDomain, LaneState, LaneWord, follows
from sassan.ir import Instruction
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import ONE_PER_WARP
from sassan.values.divisions import divisions
from sassan.values.edge_join import Step, edge_join, lanes_of_blocks, steps
from sassan.values.environment import LaunchEnvironment
from sassan.values.evaluate import PREDICATES, Evaluation, Evaluator, Words
from sassan.values.slicing import backward_slice
from sassan.warpcfg.graph import WarpCfg

_CHOOSE_BY_WORD = frozenset({Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.RETURN})
_ROUNDS = 8
"""How often the fixpoint is solved, at most: what is known where lanes come together may decide another branch."""


LaneEffects = dict[int, tuple[int, Evaluation]]
"""For each instruction, the registers whose agreement is lost before it, and what it does to agreement; both up to lanes."""


@dataclass(frozen=True, slots=True)
class BlockRun:
    """A block that is run from the words at its start: the words behind it, and what each instruction does to agreement."""

    end: LaneState
    laned: Mapping[int, LaneWord]
    """The words that have lanes behind it."""
    effects: LaneEffects


@dataclass(frozen=True, slots=True)
class WordFlow:
    """What registers hold at the start of each block of a function, in whatever call context, by the address of the block."""

    starts: Mapping[int, LaneState]
    before: Mapping[int, tuple[int, ...]]
    """The blocks from which a thread comes to a block."""
    blocks: Mapping[int, tuple[Instruction, ...]]
    evaluator: Evaluator

    runs: Mapping[int, BlockRun]
    """Each block that is reached, run from these words."""
    lanes: Mapping[int, int]
    """The lanes whose threads may come to each block, as a set of bits, of those of a table; where none is, no thread comes."""
    taken: Mapping[Step, int]
    """The lanes that may take each step between blocks; all bits where that is not known."""

    def effects(self) -> LaneEffects:
        """Return what each instruction does to agreement; at the start of a block, what threads bring with different lanes is lost."""
        out: LaneEffects = {address: effect for run in self.runs.values() for address, effect in run.effects.items()}
        for start, instructions in self.blocks.items():
            here = self.starts[start].words
            brought = [self.runs[src].laned for src in self.before[start] if src in self.runs]
            mixed = {name for laned in brought for name, value in laned.items() if _mixes(value, here.get(name, UNKNOWN))}
            if mixed and self.starts[start].reached:
                address = instructions[0].address
                lost, outcome = out[address]
                out[address] = lost | sum(1 << name for name in mixed), outcome
        return out


def _mixes(brought: LaneWord, word: LaneWord) -> bool:
    """Say whether threads that agree on a word when they come may not do so where it is another one; what is known is agreed."""
    return not word.known and not follows(brought, word)


def _run(instructions: tuple[Instruction, ...], state: LaneState, evaluator: Evaluator, lost: Mapping[int, int]) -> BlockRun:
    """Return what instructions do that begin in a state."""
    words = Words(state.words)
    effects: LaneEffects = {}
    for instruction in instructions:
        given_up = lost.get(instruction.address, 0) & words.laned
        if given_up:
            words.forget_lanes(given_up)
        effects[instruction.address] = given_up, evaluator.run(words, instruction)
    laned = {name: words.held[name] for name in bits(words.laned & ~PREDICATES)}
    return BlockRun(LaneState(words.held), laned, effects)


def deciding(facts: Facts) -> int:
    """Return the words whose agreement is meant without lanes: those that decide where threads go, and all behind an unknown call."""
    if facts.flow is Flow.NONE:
        return 0
    if facts.flow is Flow.CALL and facts.target is None:
        return ~PREDICATES
    return (facts.condition | (facts.reads if facts.flow in _CHOOSE_BY_WORD else 0)) & ~PREDICATES


class _Graph(NamedTuple):
    """The blocks of a function by their addresses, with the steps of threads, or of warps, between them."""

    entry: int
    following: Mapping[int, Sequence[int]]
    order: Sequence[int]
    """The blocks that are reached, loops as a whole before what follows them."""
    heads: frozenset[int]


def _graph(cfg: WarpCfg, steps: Iterable[tuple[int, int]]) -> _Graph:
    """Return the graph of blocks with these steps between nodes."""
    starts = sorted({node.start for node in cfg.nodes})
    index = {start: place for place, start in enumerate(starts)}
    after: list[set[int]] = [set() for _ in starts]
    for src, dst in steps:
        after[index[cfg.nodes[src].start]].add(index[cfg.nodes[dst].start])
    successors, entry = [sorted(each) for each in after], index[cfg.nodes[cfg.entry].start]
    return _Graph(
        starts[entry],
        {start: [starts[dst] for dst in successors[place]] for place, start in enumerate(starts)},
        [starts[node] for node in weak_order(len(starts), successors, entry)],
        frozenset(starts[loop.head] for loop in nest(len(starts), successors, entry)),
    )


def word_flow(cfg: WarpCfg, facts: Mapping[int, Facts], environment: LaunchEnvironment) -> WordFlow:
    """Return the words of the registers of a graph without gaps and external calls, for a launch.

    Raises SelfCheckError when the fixpoint fails its re-check.
    """
    blocks = {node.start: node.instructions for node in cfg.nodes}
    graph = _graph(cfg, ((edge.src, edge.dst) for edge in cfg.thread_edges))
    before: dict[int, tuple[int, ...]] = dict.fromkeys(sorted(blocks), ())
    for src, reached in graph.following.items():
        for dst in reached:
            before[dst] += (src,)
    followed = backward_slice(blocks, facts, before, graph.order)
    evaluator = Evaluator(environment, facts, followed, divisions(blocks.values(), facts, environment))
    lost = {address: registers for address, each in facts.items() if (registers := deciding(each))}
    wide = _warp_wide(cfg, blocks, evaluator, facts)
    met: dict[int, LaneState] = {}

    def run(start: int, state: LaneState) -> BlockRun:
        made = _run(blocks[start], _with(_with(state, wide.get(start)), met.get(start)), evaluator, lost)
        kept = {name: word for name, word in made.end.words.items() if not 1 << name & ONE_PER_WARP} if wide else made.end.words
        return replace(made, end=LaneState(kept))

    def solved() -> tuple[Mapping[int, LaneState], Mapping[int, BlockRun]]:
        states, runs = _fixpoint(graph, run)
        return {start: _with(states.get(start, LaneDomain.bottom), met.get(start)) for start in before}, runs

    starts, runs = solved()
    for _ in range(_ROUNDS - 1):
        more = edge_join(blocks, facts, graph.following, starts, _ends(runs), graph.entry, environment)
        if not more:
            break
        met = {start: _with(more.get(start, LaneState()), met.get(start)) for start in met.keys() | more.keys()}
        starts, runs = solved()
    taken = steps(blocks, facts, graph.following, _ends(runs))
    coming = lanes_of_blocks(taken, graph.following, graph.entry, environment.present)
    return WordFlow(
        {start: _with(state, wide.get(start)) for start, state in starts.items()}, before, blocks, evaluator, runs, coming, taken
    )


def _ends(runs: Mapping[int, BlockRun]) -> Mapping[int, LaneState]:
    return {start: each.end for start, each in runs.items()}


def _warp_wide(
    cfg: WarpCfg, blocks: Mapping[int, tuple[Instruction, ...]], evaluator: Evaluator, facts: Mapping[int, Facts]
) -> Mapping[int, LaneState]:
    """Return the words of the registers that a warp has once, at the start of each block; nothing where none is written.

    They hold what the threads wrote that ran before, whichever they were: so these words follow the steps of the warp.
    """
    writing = {start: tuple([each for each in block if facts[each.address].writes & ONE_PER_WARP]) for start, block in blocks.items()}
    if not any(writing.values()):
        return {}

    def run(start: int, state: LaneState) -> BlockRun:
        made = _run(writing[start], state, evaluator, {})
        return replace(made, end=LaneState({name: word for name, word in made.end.words.items() if 1 << name & ONE_PER_WARP}))

    return _fixpoint(_graph(cfg, ((edge.src, edge.dst) for edge in cfg.edges if edge.dst is not None)), run)[0]


def _with(state: LaneState, more: LaneState | None) -> LaneState:
    return LaneState({**state.words, **more.words}) if state.reached and more is not None and more.words else state


def _fixpoint(graph: _Graph, run: Callable[[int, LaneState], BlockRun]) -> tuple[Mapping[int, LaneState], Mapping[int, BlockRun]]:
    """Return the words at the start of each block that is reached, and each of these blocks run from them.

    Raises SelfCheckError when one of these runs leads to words that are not covered.
    """
    places = {start: place for place, start in enumerate(graph.order)}
    runs: dict[int, BlockRun] = {}

    def leading(start: int, state: LaneState) -> Iterator[tuple[int, LaneState]]:
        end = run(start, state).end
        return ((dst, end) for dst in graph.following[start])

    def last(start: int, _: LaneState) -> Iterator[tuple[int, LaneState]]:
        return ((dst, runs[start].end) for dst in graph.following[start])

    problem = FixpointProblem(
        LaneDomain(), leading, {graph.entry: LaneState()}, lambda start: (places[start],), widens=graph.heads.__contains__
    )
    states = solve(problem).states
    runs |= {start: run(start, state) for start, state in states.items()}
    verify(replace(problem, transfer=last), states, name=lambda start: f"words at 0x{start:04x}")
    return states, runs
