"""Loop bounds of a function for a launch: what the code itself says, one loop after the other, outer loops first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.counters import Counter, LoopBound, counters, distance_bound, equality_bound, monotone_bound
from sassan.ipet.loop_bounds.endings import LoopEnding, ended
from sassan.ipet.loop_bounds.execute import SymbolicExecutor
from sassan.ipet.loop_bounds.extents import WalkedLoop, extent_bound
from sassan.ipet.loop_bounds.flow import Flows, decisions, entries, exits, flows_of, leaving, own_slice, wanted
from sassan.ipet.loop_bounds.halves import halves_bound
from sassan.ipet.loop_bounds.invariants import guesses_of, may_stay, narrowed, next_guesses, stays, words_within
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.ones import ones_bound
from sassan.ipet.loop_bounds.results import Inference, Inferred, can_be_given
from sassan.ipet.loop_bounds.same_words import same_words
from sassan.ipet.loop_bounds.states import with_registers
from sassan.ipet.loop_bounds.step import conditions, reason
from sassan.ipet.loop_bounds.summaries import EntryKeys, Key, LoopSummary, Movement, distance, named_registers
from sassan.ipet.loop_bounds.trial import ITERATIONS, Trials, trials_of
from sassan.ipet.loop_bounds.values import Origins, SymbolicState, Value
from sassan.ipet.loop_bounds.walk import Walk, iterations_of
from sassan.ir import Function, Instruction, Language
from sassan.isa.facts import Facts
from sassan.isa.ptx import variable_names
from sassan.isa.registers import names, stack_distance
from sassan.machine.launch import LaunchConfiguration
from sassan.values.threads import WarpContext
from sassan.warpcfg.graph import CfgLoop, WarpCfg

_MOST_STATES = 12
"""States that stay apart at one place."""
_WORD = 1 << 30
"""So many iterations say no more than that a counter is a word."""
_NEVER = "unreachable"
_NO_WORK_LEFT = "more iterations than are followed one by one in one function"
_NESTED = 32
"""Loops inside each other, counted from the innermost, up to which they are walked: each is walked within all around it."""
_TOO_NESTED = f"more than {_NESTED} loops inside each other"
_USELESS = 1 << 20
"""A bound above this that rests on words that are not given is discarded: `i < n` with any n."""


@dataclass(slots=True)
class _Search:
    """The loops of one function, while they are looked at."""

    flows: Flows
    walk: Walk
    named: tuple[int, ...]
    """The registers that each loop names."""
    trials: Trials
    heights: Sequence[int]
    """How many loops are inside each other in each loop."""
    guards: Mapping[int, int]
    """The conditions on which loops are entered, but for those that end another one, by node."""
    name: Callable[[int], str]
    """What a register is called."""
    moved: bool = False
    """Whether a loop inside the one that is walked moves a counter that matters to it."""
    found: dict[int, Inferred] = field(default_factory=dict[int, Inferred])
    ranges: dict[int, Mapping[int, Range]] = field(default_factory=dict[int, Mapping[int, Range]])
    """Per loop, what registers hold at every visit of its head."""
    summaries: dict[int, dict[Key, LoopSummary]] = field(default_factory=dict[int, dict[Key, LoopSummary]])

    def infer_bound(self, loop: int, entries: Sequence[SymbolicState], side: Sequence[SymbolicState]) -> Mapping[int, Range]:
        """Find the bound of a loop that is entered in these states; return the ranges of registers at its head."""
        summary = self._summary(loop, entries, side)
        best = summary.best
        head = self.flows.cfg.nodes[self.flows.cfg.loops[loop].head].start
        if best is None:
            missing = summary.missing - {iterations_of(head)}
            self.found[loop] = Inferred(loop, head, None, "", missing, extent=self._extent(loop, [*entries, *side]))
            return {}
        self.found[loop] = Inferred(loop, head, best.bound, best.reason, best.origins - {iterations_of(head)})
        held = {counter.register: ranges.add(counter.start, distance(counter.step, best.bound)) for counter in summary.counters}
        self.ranges[loop] = held
        return held

    def _extent(self, loop: int, entries: Sequence[SymbolicState]) -> LoopBound | None:
        """Return the bound of a loop if what it accesses stays within its buffers."""
        launch = self.walk.machine.environment.launch
        if not launch.targets and launch.shared is None:
            return None
        start = self.walk.at_head(loop, entries, {})
        back = self.walk.iterate(loop, {self._head(loop): [start]}, self.movements)
        known = counters(self._head(loop), start, entries, back)
        return extent_bound(WalkedLoop(self.walk, loop, start, known), dict(launch.targets), launch.shared)

    def movements(
        self, loop: int, entries: Sequence[SymbolicState], start: SymbolicState, iterate: Callable[[], list[SymbolicState]]
    ) -> Mapping[int, Range]:
        """Return how far an inner loop may have moved its counters since it was entered, for each visit of its head."""
        key, summaries = self._key(loop, entries, ()), self.summaries.setdefault(loop, {})
        summary = summaries.get(key)
        if summary is None:
            back = iterate()
            if not _is_moving(counters(self._head(loop), start, entries, back)):
                return {}
            summary = summaries[key] = self._bound(loop, (start, back), entries, [])
        best = summary.best
        return {counter.register: distance(counter.step, best.bound) for counter in summary.counters} if best is not None else {}

    def _head(self, loop: int) -> int:
        return self.flows.cfg.loops[loop].head

    def _key(self, loop: int, entries: Sequence[SymbolicState], side: Sequence[SymbolicState]) -> Key:
        return EntryKeys(self.named[loop]).key(entries, side)

    def _summary(self, loop: int, entries: Sequence[SymbolicState], side: Sequence[SymbolicState]) -> LoopSummary:
        """Return what is known of a loop for these entries, unless it has been worked out for others that are alike."""
        known = self.summaries.get(loop)
        summary = known.get(self._key(loop, entries, side)) if known else None
        if summary is not None:
            return summary
        if self.heights[loop] >= _NESTED:
            return LoopSummary(None, (), frozenset({_TOO_NESTED}))
        head, late = self._head(loop), self._from_side_entries(loop, side)
        start = self.walk.at_head(loop, [*entries, *side], {})
        if self.heights[loop]:
            # At first, what ends the loops inside is not followed, unless they move a counter.
            self.moved = False
            part = own_slice(self.flows, self.walk.order_of(loop), self.guards, self.walk.before[head])
            back = self.walk.sliced(loop, part).iterate(loop, {head: [start]}, self._moves)
            summary = None if self.moved else self._bound(loop, (start, back), entries, late)
        if summary is None or summary.best is None:
            back = self.walk.iterate(loop, {head: [start]}, self.movements)
            held: dict[int, Value] = {}
            if entries and not side:
                start, back, held = self._holding(loop, start, back, entries, {})
            summary = self._bound(loop, (start, back), entries, late, tries=summary is None)
            if summary.best is not None and entries and not side:
                # Now that it is known how far counters come, so is what they carry: the high word of another one may stay as it is.
                within = words_within(head, summary.counters, summary.best.bound, held)
                held |= self._holding(loop, start, back, entries, within)[2] if within else {}
            kept = (Movement(name, start.range_of(known), ranges.const(0)) for name, known in held.items())
            summary = replace(summary, counters=(*summary.counters, *kept))
        return summary

    def _holding(
        self, loop: int, start: SymbolicState, back: list[SymbolicState], entries: Sequence[SymbolicState], within: Mapping[int, Value]
    ) -> tuple[SymbolicState, list[SymbolicState], dict[int, Value]]:
        """Return the state for every visit of the head, and those after an iteration, with what the loop preserves; and that by register.

        Such is the high word of a counter of 64 bits below 2^32. Guessed are registers that stay as they were on entry, and counters that
        stay between their start and a limit. By induction: if the guesses hold after every iteration that begins with them, they always do.
        What then is left at the head is guessed once more: a counter that goes down by 16 as long as it is above 12 ends above 12.
        `within` are counters whose words are known.
        """
        head = self._head(loop)
        unmoved = [name for name in start.registers if may_stay(head, name, start, back)]
        if not unmoved:
            return start, back, {}
        held = self.walk.on_entry(entries, unmoved)
        moving = [counter for counter in counters(head, start, entries, back) if counter.register not in within]
        guesses = {counter.register: guesses_of(counter, head, back) for counter in moving}
        held |= next_guesses(guesses)
        settled: tuple[SymbolicState, list[SymbolicState], dict[int, Value]] = start, back, {}
        while held:
            begin = with_registers(start, {**start.registers, **within, **held})
            late = self.walk.iterate(loop, {head: [begin]}, self.movements)
            lasting = {name: known for name, known in held.items() if all(stays(state, name, known) for state in late)}
            if len(lasting) == len(held):
                is_first, settled = not settled[2], (begin, late, held)
                held = narrowed(held, entries, late) if is_first else {}
            elif settled[2]:
                break
            else:
                others = next_guesses({name: guesses[name] for name in guesses if name in held and name not in lasting})
                # What a wrong guess did to the other registers says nothing.
                held = {**held, **others} if others else lasting
        return settled

    def _moves(
        self, loop: int, entries: Sequence[SymbolicState], start: SymbolicState, iterate: Callable[[], list[SymbolicState]]
    ) -> Mapping[int, Range]:
        """Find out whether an inner loop moves a counter that is followed."""
        self.moved = self.moved or _is_moving(counters(self._head(loop), start, entries, iterate()))
        return {}

    def _bound(
        self,
        loop: int,
        walked: tuple[SymbolicState, list[SymbolicState]],
        entries: Sequence[SymbolicState],
        late: Sequence[SymbolicState],
        *,
        tries: bool = True,
    ) -> LoopSummary:
        """Return the bound of a loop, its counters, and what the ways back depend on.

        `walked` are the state for every visit of the head, and those after an iteration; `late` those that come there first from inside.
        """
        head = self._head(loop)
        start, back = walked
        firsts = [*entries, *late]
        if not firsts:
            return LoopSummary(LoopBound(0, _NEVER), (), frozenset())
        known = counters(head, start, firsts, back)
        fixed = [
            value for value in start.registers.values() if isinstance(value, Value) and (value.symbol is None or value.symbol.head != head)
        ]
        best = _never(back) or _counted(known, back, fixed, firsts, self.name) or self._over_ones(head, start, firsts, back)
        if tries and (best is None or self._tests_flags(loop)):
            # Such a test stands for one half of a condition; a counter explains that half only.
            tried = self.trials.bound(loop, firsts, _hopeless(known, back))
            best = min((bound for bound in (best, tried) if bound is not None), key=lambda bound: bound.bound, default=None)
        best = best or self._halved(head, start, firsts, back)
        missing = _missing(back)
        if best is not None:
            best = replace(best, bound=best.bound + bool(late))
        elif self.trials.ended and not (missing and all(map(can_be_given, missing))):
            missing |= {_NO_WORK_LEFT}
        return LoopSummary(best, tuple(Movement(counter.register, counter.start, counter.step) for counter in known), missing)

    def _over_ones(
        self, head: int, start: SymbolicState, firsts: Sequence[SymbolicState], back: Sequence[SymbolicState]
    ) -> LoopBound | None:
        counted = ones_bound(head, start, firsts, back)
        return None if counted is None else replace(counted[1], reason=f"{self.name(counted[0])} {counted[1].reason}")

    def _halved(self, head: int, start: SymbolicState, firsts: Sequence[SymbolicState], back: Sequence[SymbolicState]) -> LoopBound | None:
        halved = halves_bound(head, start, firsts, back)
        if halved is None:
            return None
        (low, high), bound = halved
        whole = self.name(high) if low is None else f"what is between {self.name(low)} and {self.name(high)}"
        return replace(bound, reason=f"{whole} {bound.reason}")

    def _tests_flags(self, loop: int) -> bool:
        cfg = self.flows.cfg
        return any(cfg.nodes[node].instructions[-1].condition for node in cfg.loops[loop].nodes)

    def _from_side_entries(self, loop: int, side: Sequence[SymbolicState]) -> list[SymbolicState]:
        """Return the states in which threads come to the head first that entered the loop elsewhere."""
        if not side:
            return []
        # Which of the entering states came through which node is not kept: each may have.
        return self.walk.iterate(loop, {node: list(side) for node in self.walk.sides_of(loop)}, self.movements)


def _never(back: Sequence[SymbolicState]) -> LoopBound | None:
    return None if back else LoopBound(0, "no path leads back")


def _counted(
    known: Sequence[Counter],
    back: Sequence[SymbolicState],
    fixed: Sequence[Value],
    firsts: Sequence[SymbolicState],
    name: Callable[[int], str],
) -> LoopBound | None:
    """Return the least bound that a counter gives, of those that rest on what is given or are worth something without."""
    old = frozenset(value.symbol for state in firsts for value in state.registers.values() if isinstance(value, Value) and value.symbol)
    options: list[LoopBound] = []
    for counter in known:
        ways = (monotone_bound(counter, back), equality_bound(counter, back, fixed, old), distance_bound(counter, back, fixed, old))
        for way in ways:
            if way is not None and (way.bound <= _USELESS or (not way.origins and way.bound < _WORD)):
                named = replace(way, reason=f"{name(counter.register)} {way.reason}")
                options.append(named)
    return min(options, key=lambda option: option.bound, default=None)


def _hopeless(known: Sequence[Counter], back: Sequence[SymbolicState]) -> int:
    """Return the counters that are compared, and that no few iterations bring to where a comparison ends the loop."""
    out = 0
    for counter in known:
        kept = [state.facts.get(counter.symbol, ranges.EVERY) for state in back]
        if ranges.EVERY not in kept:
            reached = ranges.add(counter.start, distance(counter.step, ITERATIONS))
            if all((reached.low - words.low) % ranges.SIZE + reached.width <= words.width for words in kept):
                out |= 1 << counter.register
    return out


def _is_moving(known: Sequence[Counter]) -> bool:
    """Say whether it is known of any counter how far it moves."""
    return any(counter.step.width != ranges.EVERY.width for counter in known)


def _namer(function: Function) -> Callable[[int], str]:
    if function.language is Language.SASS:
        return _register_name
    known = variable_names(function)
    # The high word of a long has no name of its own.
    return lambda number: known[number] if number in known else f"the high word of {known[number - 1]}"


def _register_name(number: int) -> str:
    distance = stack_distance(number)
    return next(names(1 << number)) if distance is None else f"the stack word at {'-' if distance < 0 else ''}0x{abs(distance):x}"


def _missing(back: Sequence[SymbolicState]) -> Origins:
    """Return what the ways back depend on, as far as comparisons say so."""
    return frozenset().union(*(atom.left.origins | atom.right.origins for state in back for atom in state.atoms))


def infer(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration) -> tuple[Inferred, ...]:
    """Return what the code says of each loop of a graph, in the order of `cfg.loops`; () for a graph with gaps or without loops."""
    return inference(cfg, facts_of, launch, reaching=False).loops if cfg.loops else ()


def inference(
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launch: LaunchConfiguration,
    warp: WarpContext | None = None,
    *,
    reaching: bool = True,
) -> Inference:
    """Return what the code says of the loops of a graph for a launch, and, if that is wanted, of the blocks; nothing for a graph with gaps.

    It holds for the threads of all warps, or for those of one; ValueError is raised for a warp of another block than the launch has.

    A block is not reached where no state is left that a thread may come in, all conditions followed: with what is known of the registers
    at the heads of loops, the function is walked once more.
    """
    if cfg.gaps:
        return Inference()
    facts = {instruction.address: facts_of(instruction) for node in cfg.nodes for instruction in node.instructions}
    known = {address: instruction_facts for address, instruction_facts in facts.items() if instruction_facts is not None}
    if len(known) != len(facts):
        return Inference()
    flows = flows_of(cfg, known)
    entered, left = entries(flows), exits(flows)
    behind, before = wanted(flows, entered | left)
    machine = SymbolicExecutor(
        LaunchSymbols(cfg.function, launch, warp), behind, _MOST_STATES, conditions(cfg.function), same_words(cfg, known)
    )
    heads = {loop.head: index for index, loop in enumerate(cfg.loops)}
    written = [reduce(or_, [writer.written for writer in line], 0) for line in flows.writers]
    named = [
        reduce(or_, [writer.written | writer.read for writer in line], named_registers(node.instructions, known))
        for node, line in zip(cfg.nodes, flows.writers, strict=True)
    ]
    changed, named_by_loop = (tuple(reduce(or_, [masks[node] for node in loop.nodes]) for loop in cfg.loops) for masks in (written, named))
    walk = Walk(flows, machine, changed, heads, before)
    guards = {node: condition for node, condition in entered.items() if node not in left}
    search = _Search(flows, walk, named_by_loop, trials_of(walk), _heights(cfg.loops), guards, _namer(cfg.function))
    search.walk.function(search.infer_bound)
    results = [search.found.get(index, Inferred(index, cfg.nodes[loop.head].start, 0, _NEVER)) for index, loop in enumerate(cfg.loops)]
    loops = tuple(
        result
        if result.bound is not None
        else replace(result, missing=result.missing or _tests(flows, result.loop), ended=_ended(flows, result))
        for result in results
    )
    return Inference(loops, _unreached(search) if reaching else ())


def _ended(flows: Flows, result: Inferred) -> LoopEnding | None:
    """Return what ends a loop without a bound, unless more of the launch may bound it."""
    given = bool(result.missing) and all(map(can_be_given, result.missing))
    return None if given or _NO_WORK_LEFT in result.missing else ended(flows, result.loop)


def _unreached(search: _Search) -> tuple[int, ...]:
    """Return the addresses of the blocks that no thread reaches, in whatever call."""
    flows, walk = search.flows, search.walk
    behind, before = wanted(flows, decisions(flows))
    again = replace(walk, machine=walk.machine.sliced(behind), before=before, _plans={}, _names={}, _steps={})

    def ranges_at_head(loop: int, _entries: Sequence[SymbolicState], _side: Sequence[SymbolicState]) -> Mapping[int, Range]:
        return search.ranges.get(loop, {})

    met = again.function(ranges_at_head)
    nodes = flows.cfg.nodes
    return tuple(sorted({node.start for node in nodes} - {nodes[index].start for index in met}))


def _heights(loops: Sequence[CfgLoop]) -> Sequence[int]:
    """Return of each loop how many loops are inside each other in it."""
    out = [0] * len(loops)
    for index in sorted(range(len(loops)), key=lambda index: len(loops[index].nodes)):  # a loop has more nodes than those inside
        around = loops[index].parent
        if around is not None:
            out[around] = max(out[around], out[index] + 1)
    return out


def _tests(flows: Flows, loop: int) -> Origins:
    """Return the instructions of a loop that decide whether it goes on: the reason where their words are followed back to no origin."""
    nodes = flows.cfg.loops[loop].nodes
    tested = leaving(flows, nodes)
    inside = [instruction for node in nodes for instruction in flows.cfg.nodes[node].instructions]
    return frozenset(reason(instruction) for instruction in inside if flows.facts[instruction.address].writes & tested) or frozenset(
        {"a test before the loop"}
    )
