"""States of one thread over a function: at the entries of each loop, and after one iteration of it."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.execute import InstructionPlan, SymbolicExecutor, numbers
from sassan.ipet.loop_bounds.flow import Flows, LoopSlice, slice_at
from sassan.ipet.loop_bounds.states import reduce, trimmed, with_registers
from sassan.ipet.loop_bounds.values import NOWHERE, Known, Maybe, Origins, SymbolicState, Truth, UnknownWord, Value, union, unknown
from sassan.isa.computations import CARRY, ZERO

Narrow = Callable[[int, Sequence[SymbolicState], Sequence[SymbolicState]], Mapping[int, Range]]
"""Given a loop, the states in which threads enter it at its head and those elsewhere: ranges of registers at its head, as far as known."""
Movements = Callable[[int, Sequence[SymbolicState], SymbolicState, Callable[[], list[SymbolicState]]], Mapping[int, Range]]
"""Given a loop, the states in which threads enter it, one for every visit of its head, and what walks from that one back to the head:
how far it may have moved its counters since it was entered, for each visit of its head."""


@dataclass(slots=True)
class Walk:
    """Walks over the loops of one function.

    `changed` are the registers that each loop may write, `before` those that matter before each node.
    """

    flows: Flows
    machine: SymbolicExecutor
    changed: tuple[int, ...]
    heads: dict[int, int]
    before: Mapping[int, int]
    met: dict[int, list[SymbolicState]] = field(default_factory=dict[int, list[SymbolicState]])
    """The states in which threads come to the nodes that are looked at."""
    _plans: dict[int, list[list[InstructionPlan]]] = field(default_factory=dict[int, list[list[InstructionPlan]]])
    _names: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    _steps: dict[int, tuple[tuple[int, bool | None], ...]] = field(default_factory=dict[int, tuple[tuple[int, bool | None], ...]])
    """As in `flows`, where they differ."""
    _children: tuple[tuple[int, ...], ...] = field(default=())
    """The loops directly inside each loop."""
    _inside: tuple[frozenset[int], ...] = field(default=())
    _order: tuple[tuple[int, ...], ...] = field(default=())
    _sides: tuple[tuple[int, ...], ...] = field(default=())
    """Per loop, the nodes beside its head where threads enter it."""

    def __post_init__(self) -> None:
        """Keep the nodes of each loop as sets, and in the order of the walk."""
        if self._order:
            return
        loops, sources = self.flows.cfg.loops, self.flows.predecessors
        self._inside = tuple(frozenset(loop.nodes) for loop in loops)
        self._sides = tuple(
            tuple(node for node in loop.nodes if node != loop.head and not inside.issuperset(sources[node]))
            for loop, inside in zip(loops, self._inside, strict=True)
        )
        children: list[list[int]] = [[] for _ in loops]
        for inner, loop in enumerate(loops):
            if loop.parent is not None:
                children[loop.parent].append(inner)
        self._children = tuple(map(tuple, children))
        places = {node: place for place, node in enumerate(self.flows.order)}
        reached = [[node for node in inside if node in places] for inside in self._inside]
        self._order = tuple(tuple(sorted(nodes, key=places.__getitem__)) for nodes in reached)

    def sides_of(self, loop: int) -> Sequence[int]:
        """Return the nodes of a loop beside its head where threads enter it."""
        return self._sides[loop]

    def order_of(self, loop: int) -> Sequence[int]:
        """Return the nodes of a loop that are reached, in the order of the walk."""
        return self._order[loop]

    def sliced(self, loop: int, part: LoopSlice, *, past: bool = True) -> "Walk":
        """Return a walk over a loop that follows only the registers of a slice, with a count of executed instructions of its own.

        It leads `past` nodes where nothing happens to them.
        """
        walk = replace(self, machine=self.machine.sliced(part.behind), before=part.before, _plans={}, _names={}, _steps={}, met={})
        if past:
            walk.lead_past(loop)
        return walk

    def lead_past(self, loop: int) -> None:
        """Leave out the nodes of a loop where nothing happens to what is followed, and the loops inside that consist of such nodes."""
        idle = {node for node in self._order[loop] if self._is_idle(node)} - {self.flows.cfg.loops[loop].head}
        for inner in self._children[loop]:
            if not self._inside[inner] <= idle:
                idle -= self._inside[inner]
        for node in self._order[loop]:
            if node not in idle:
                self._steps[node] = tuple((late, truth) for after, truth in self.flows.steps[node] for late in self._past(after, idle))

    def _is_idle(self, node: int) -> bool:
        end = self.flows.facts[self.flows.cfg.nodes[node].end]
        tested, held = end.condition | end.guard, self.before[node]
        always = all(truth is None for _, truth in self.flows.steps[node])
        return not self._plans_of(node) and (always or (tested != 0 and not tested & held))

    def _past(self, node: int, idle: AbstractSet[int]) -> Sequence[int]:
        """Return where threads that go to a node come to first that is not idle."""
        if node not in idle:
            return (node,)
        reached, pending = {node: None}, [node]
        while pending:
            fresh = [after for after in self.flows.successors[pending.pop()] if after not in reached]
            reached |= dict.fromkeys(fresh)
            pending += [after for after in fresh if after in idle]
        return [late for late in reached if late not in idle]

    def _plans_of(self, node: int) -> list[list[InstructionPlan]]:
        plans = self._plans.get(node)
        if plans is None:
            plans = self._plans[node] = self.machine.plans(self.flows.writers[node], self.before[node])
        return plans

    def only(self, state: SymbolicState, node: int) -> SymbolicState:
        """Return a state without the registers that do not matter before a node."""
        names = self._names.get(node)
        if names is None:
            names = self._names[node] = frozenset(numbers(self.before[node]))
        if names.issuperset(state.registers):
            return state
        return with_registers(state, {name: known for name, known in state.registers.items() if name in names})

    def function(self, narrow: Narrow) -> frozenset[int]:
        """Walk once from the start of the function, and ask `narrow` at each loop on the way, outer loops first; return the nodes met."""
        waiting: dict[int, list[SymbolicState]] = {self.flows.cfg.entry: [SymbolicState()]}
        everything = frozenset(range(len(self.flows.cfg.nodes)))
        ends: dict[int, list[SymbolicState]] = {}
        outside = {src for nodes in self._sides for node in nodes for src in self.flows.predecessors[node]}
        met: set[int] = set()
        for node in self.flows.order:
            states = waiting.pop(node, [])
            loop = self.heads.get(node)
            if loop is not None:
                side = self._side_entries(loop, ends)
                if states or side:
                    states = [trimmed(self.at_head(loop, [*states, *side], narrow(loop, states, side)))]
            if states:
                met.add(node)
            late = self._leave(node, states, everything, waiting)
            if node in outside:
                ends[node] = late
        return frozenset(met)

    def _side_entries(self, loop: int, ends: Mapping[int, list[SymbolicState]]) -> list[SymbolicState]:
        """Return the states that enter a loop elsewhere than at its head: they come to the head later, so it stands for them too."""
        return [state for node in self._sides[loop] for state in self._into(node, self._inside[loop], ends)]

    def _into(self, node: int, inside: frozenset[int], ends: Mapping[int, list[SymbolicState]]) -> list[SymbolicState]:
        outer = [src for src in self.flows.predecessors[node] if src not in inside]
        truths = [(src, truth) for src in outer for dst, truth in self.flows.steps[src] if dst == node]
        return [self.only(state, node) for src, truth in truths for old in ends.get(src, []) for state in self._step(src, truth, old)]

    def at_head(self, loop: int, states: Sequence[SymbolicState], known: Mapping[int, Range]) -> SymbolicState:
        """Return a state that stands for every visit of a head: what the loop writes is a new symbol each."""
        head = self.flows.cfg.loops[loop].head
        (out,) = reduce(states, 1)
        registers: dict[int, Known] = {name: _named(known) for name, known in out.registers.items()}
        lost = self.changed[loop] & self.before[head]
        why = frozenset({iterations_of(self.flows.cfg.nodes[head].start)})
        while lost:
            name = (lost & -lost).bit_length() - 1
            lost &= lost - 1
            registers[name] = (
                Truth(Maybe()) if name in self.machine.conditions else _new(name, head, known.get(name), registers.get(name), why)
            )
            if name == CARRY:
                registers[ZERO] = Truth(Maybe())
        # What is known of differences that no register holds is not part of what a loop is known by (`summaries.py`).
        held = {known.symbol for known in registers.values() if isinstance(known, Value)}
        facts = {symbol: words for symbol, words in out.facts.items() if symbol.difference is None or symbol in held}
        # Threads that enter elsewhere may hold what does not matter at the head, so that nothing there would forget it.
        return self.only(SymbolicState(registers, facts, out.decided), head)

    def on_entry(self, states: Sequence[SymbolicState], names: Sequence[int]) -> dict[int, Value]:
        """Return what registers hold where a loop is entered in these states, as far as that is known."""
        (out,) = reduce(states, 1)
        values = {name: _named(out.registers[name]) for name in names if name in out.registers}
        return {name: known for name, known in values.items() if isinstance(known, Value)}

    def iterate(self, loop: int, starts: Mapping[int, list[SymbolicState]], inside_of: Movements | None = None) -> list[SymbolicState]:
        """Return the states in which a thread takes a back edge, from states at nodes of the loop.

        An inner loop is taken for all its iterations at once; `inside_of` says how far each may move its counters.
        """
        waiting = {node: [self.only(state, node) for state in states] for node, states in starts.items()}
        return self._around(loop, waiting, self._inside[loop], inside_of)

    def within(self, loop: int, start: SymbolicState, node: int, place: int, registers: int) -> Sequence[SymbolicState]:
        """Return the states at a place in the line of a node of a loop, with what some registers hold, in an iteration from a state on."""
        walk, met = self.sliced(loop, slice_at(self.flows, self.order_of(loop), node, place, registers), past=False), list[SymbolicState]()
        walk.met[node] = met
        walk.iterate(loop, {self.flows.cfg.loops[loop].head: [start]})
        return walk.machine.run(met, walk.machine.plans(self.flows.writers[node][:place], walk.before[node]))

    def _around(
        self, loop: int, waiting: dict[int, list[SymbolicState]], inside: frozenset[int], inside_of: Movements | None
    ) -> list[SymbolicState]:
        """Walk a loop once from the states that wait at its nodes; return those back at its head.

        Those that leave it wait where they come to, if that is `inside` a region.
        """
        head = self.flows.cfg.loops[loop].head
        back: list[SymbolicState] = []
        for node in self._order[loop]:
            inner = self.heads.get(node, loop)
            if inner != loop:
                self._pass(inner, waiting, inside, inside_of)
            elif node in waiting:
                self._leave(node, waiting.pop(node), inside, waiting, head)
            back += waiting.pop(head, ())
        return back

    def _pass(self, loop: int, waiting: dict[int, list[SymbolicState]], inside: frozenset[int], inside_of: Movements | None) -> None:
        """Walk an inner loop from a state for every visit of its head: counters as they were on entry, plus what they may have moved.

        Threads that enter elsewhere (`side`) come to the head later, and the way there may have moved a counter: nothing is known of it.
        """
        head = self.flows.cfg.loops[loop].head
        states, side = waiting.pop(head, []), [state for node in self._sides[loop] for state in waiting.get(node, ())]
        if not states and not side:
            return
        start = self.at_head(loop, [*states, *side], {})
        if inside_of is not None and not side:
            ahead = {head: [start]}
            moved = inside_of(loop, states, start, partial(self._around, loop, ahead, inside, inside_of))
            if not moved and head not in ahead:
                # The loop has been walked to find that out.
                for node, left in ahead.items():
                    waiting[node] = reduce([*waiting.get(node, ()), *left], self.machine.capacity)
                return
            (entry,) = reduce(states, 1)
            old = {register: entry.registers.get(register) for register in moved}
            late = {name: _plus(known, moved[name]) for name, known in old.items() if isinstance(known, Value)}
            start = with_registers(start, {**start.registers, **late})
        waiting[head] = [start]
        self._around(loop, waiting, inside, inside_of)

    def _leave(
        self,
        node: int,
        states: list[SymbolicState],
        inside: frozenset[int],
        waiting: dict[int, list[SymbolicState]],
        head: int | None = None,
    ) -> list[SymbolicState]:
        """Execute a node, hand its states to the successors inside a region, and return them.

        Those that go back to the `head` of the loop that is walked stay apart up to a limit: each has compared other words.
        """
        if node in self.met:
            self.met[node] += states
        states = reduce(self.machine.run(states, self._plans_of(node)), self.machine.capacity)
        for after, truth in self._steps.get(node) or self.flows.steps[node]:
            if after in inside:
                left = states if truth is None else [late for state in states for late in self._step(node, truth, state)]
                arrivals = [self.only(state, after) for state in left]
                if arrivals:
                    late = [*waiting.get(after, []), *arrivals]
                    waiting[after] = late if after == head and len(late) <= self.machine.capacity else reduce(late, self.machine.capacity)
        return states

    def _step(self, node: int, truth: bool | None, state: SymbolicState) -> list[SymbolicState]:
        """Return the states in which a thread leaves a node where the condition at its end has a truth (None: whatever it has)."""
        return [state] if truth is None else assume(state, self.flows.condition(node, state), truth, 2)


def _new(name: int, head: int, known: Range | None, old: Known | None, why: Origins) -> Value:
    """Return what a register that holds a word holds at the head of a loop that may write it; `why` is the reason if nothing is `known`."""
    origins = old.origins if isinstance(old, Value) else NOWHERE
    if known is None:
        known, origins = ranges.EVERY, union(origins, why)
    return Value(UnknownWord(known, origins, head, name), 1, ranges.const(0), origins)


def _plus(value: Value, moved: Range) -> Value:
    return Value(value.symbol, value.factor, ranges.add(value.range, moved), value.origins)


def _named(known: Known) -> Known:
    """Return a word that was joined from several with a symbol of its own, so that later guards may narrow it."""
    return unknown(known.range, known.origins) if isinstance(known, Value) and known.symbol is None and known.range.width else known


def iterations_of(address: int) -> str:
    """Return why it is unknown what a loop leaves in a register."""
    return f"the iterations of the loop at 0x{address:04x}"
