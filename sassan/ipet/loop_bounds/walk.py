"""States of one thread over a function: at the entries of each loop, and after one iteration of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.execute import Machine
from sassan.ipet.loop_bounds.flow import Flows, Slice
from sassan.ipet.loop_bounds.operands import PREDICATES
from sassan.ipet.loop_bounds.states import reduce, trimmed, with_registers
from sassan.ipet.loop_bounds.values import Known, Maybe, State, Symbol, Truth, Value, union, unknown
from sassan.ir import Instruction
from sassan.isa.computations import CARRY, ZERO

Narrow = Callable[[int, Sequence[State], Sequence[State]], Mapping[int, Range]]
"""Given a loop, the states in which threads enter it at its head and those elsewhere: ranges of registers at its head, as far as known."""


@dataclass(slots=True)
class Walk:
    """Walks over the loops of one function.

    `changed` are the registers that each loop may write, `before` those that matter before each node.
    """

    flows: Flows
    machine: Machine
    changed: tuple[int, ...]
    heads: dict[int, int]
    before: Mapping[int, int]
    run: Mapping[int, Sequence[Instruction]]
    """The instructions of each node that are executed; those that write what does not matter there may be missing."""
    _inside: tuple[frozenset[int], ...] = field(default=())
    _order: tuple[tuple[int, ...], ...] = field(default=())

    def __post_init__(self) -> None:
        """Keep the nodes of each loop as sets, and in the order of the walk."""
        if self._order:
            return
        self._inside = tuple(frozenset(loop.nodes) for loop in self.flows.cfg.loops)
        places = {node: place for place, node in enumerate(self.flows.order)}
        reached = [[node for node in inside if node in places] for inside in self._inside]
        self._order = tuple(tuple(sorted(nodes, key=places.__getitem__)) for nodes in reached)

    def order_of(self, loop: int) -> Sequence[int]:
        """Return the nodes of a loop that are reached, in the order of the walk."""
        return self._order[loop]

    def sliced(self, part: Slice) -> "Walk":
        """Return a walk that follows only the registers of a slice, with a count of executed instructions of its own."""
        every = 0
        for registers in part.behind.values():
            every |= registers
        facts = self.machine.facts
        # What is never held need not be forgotten.
        run = {node: [one for one in self.run[node] if facts[one.address].writes & every] for node in part.before}
        return replace(self, machine=self.machine.sliced(part.behind), before=part.before, run=run)

    def function(self, narrow: Narrow) -> None:
        """Walk once from the start of the function, and ask `narrow` at each loop on the way, outer loops first."""
        waiting: dict[int, list[State]] = {self.flows.cfg.entry: [State()]}
        everything = frozenset(range(len(self.flows.cfg.nodes)))
        ends: dict[int, list[State]] = {}
        for node in self.flows.order:
            states = waiting.pop(node, [])
            loop = self.heads.get(node)
            if loop is not None:
                side = self._side_entries(loop, ends)
                if states or side:
                    states = [trimmed(self.at_head(loop, [*states, *side], narrow(loop, states, side)))]
            ends[node] = self._leave(node, states, everything, waiting)

    def _side_entries(self, loop: int, ends: Mapping[int, list[State]]) -> list[State]:
        """Return the states that enter a loop elsewhere than at its head: they come to the head later, so it stands for them too."""
        inside, head = self._inside[loop], self.flows.cfg.loops[loop].head
        return [state for node in sorted(inside - {head}) for state in self._into(node, inside, ends)]

    def _into(self, node: int, inside: frozenset[int], ends: Mapping[int, list[State]]) -> list[State]:
        outer = [one for one in self.flows.predecessors[node] if one not in inside]
        return [state for src in outer for old in ends.get(src, []) for state in self._step(src, node, old)]

    def at_head(self, loop: int, states: Sequence[State], known: Mapping[int, Range]) -> State:
        """Return a state that stands for every visit of a head: what the loop writes is a new symbol each."""
        head = self.flows.cfg.loops[loop].head
        (out,) = reduce(states, 1)
        registers: dict[int, Known] = {name: _named(known) for name, known in out.registers.items()}
        lost = self.changed[loop] & self.before[head]
        while lost:
            name = (lost & -lost).bit_length() - 1
            lost &= lost - 1
            registers[name] = _new(name, head, known.get(name), registers.get(name), self.flows.cfg.nodes[head].start)
            if name == CARRY:
                registers[ZERO] = Truth(Maybe())
        return replace(out, registers=registers, atoms=())

    def iterate(self, loop: int, starts: Mapping[int, list[State]], inside_of: Narrow | None = None) -> list[State]:
        """Return the states in which a thread goes back to the head, from states at nodes of the loop.

        An inner loop is taken for all its iterations at once; `inside_of` says how far each may move its counters.
        """
        inside, head = self._inside[loop], self.flows.cfg.loops[loop].head
        waiting = {node: list(states) for node, states in starts.items()}
        back: list[State] = []
        for node in self._order[loop]:
            states = waiting.pop(node, [])
            inner = self.heads.get(node)
            if inner is not None and inner != loop:
                states = self._passed(inner, states, self._later(inner, waiting), inside_of)
            if not states:
                continue
            self._leave(node, states, inside, waiting)
            back += waiting.pop(head, []) if head in self.flows.successors[node] else []
        return back

    def _passed(self, loop: int, states: list[State], side: list[State], inside_of: Narrow | None) -> list[State]:
        """Return a state for every visit of the head of an inner loop: counters as they were on entry, plus what they may have moved.

        Threads that enter elsewhere (`side`) come to the head later, and the way there may have moved a counter: nothing is known of it.
        """
        if not states and not side:
            return []
        out = self.at_head(loop, [*states, *side], {})
        if side or inside_of is None:
            return [out]
        (entry,) = reduce(states, 1)
        registers = dict(out.registers)
        for register, moved in inside_of(loop, states, side).items():
            old = entry.registers.get(register)
            if isinstance(old, Value):
                registers[register] = Value(old.symbol, old.factor, ranges.add(old.range, moved), old.origins)
        return [replace(out, registers=registers)]

    def _later(self, loop: int, waiting: Mapping[int, list[State]]) -> list[State]:
        inside, head = self._inside[loop], self.flows.cfg.loops[loop].head
        return [state for node in sorted(inside - {head}) for state in waiting.get(node, [])]

    def _leave(self, node: int, states: list[State], inside: frozenset[int], waiting: dict[int, list[State]]) -> list[State]:
        """Execute a node, hand its states to the successors inside a region, and return them."""
        for one in self.run[node]:
            if not states:
                break
            states = self.machine.run(states, one)
        states = reduce(states, self.machine.capacity) if states else states
        for after in self.flows.successors[node]:
            if after in inside:
                found = [late for state in states for late in self._step(node, after, state)]
                found = [only(state, self.before[after]) for state in found]
                if found:
                    waiting[after] = reduce([*waiting.get(after, []), *found], self.machine.capacity)
        return states

    def _step(self, src: int, dst: int, state: State) -> list[State]:
        found = self.flows.condition(src, dst, state)
        return [state] if found is None else assume(state, found[0], found[1], 2)


def _new(name: int, head: int, known: Range | None, old: Known | None, address: int) -> Known:
    """Return what a register holds at the head of a loop that may write it."""
    if name in PREDICATES or name == CARRY:
        return Truth(Maybe())
    origins = old.origins if isinstance(old, Value) else frozenset[str]()
    if known is None:
        known, origins = ranges.EVERY, union(origins, frozenset({iterations_of(address)}))
    return Value(Symbol(known, origins, head, name), 1, ranges.const(0), origins)


def _named(known: Known) -> Known:
    """Return a word that was joined from several with a symbol of its own, so that later guards may narrow it."""
    return unknown(known.range, known.origins) if isinstance(known, Value) and known.symbol is None and known.range.width else known


def iterations_of(address: int) -> str:
    """Return the reason why nobody knows what a loop leaves in a register."""
    return f"the iterations of the loop at 0x{address:04x}"


def only(state: State, wanted: int) -> State:
    """Return the state without the registers that do not matter any more."""
    kept = {name: known for name, known in state.registers.items() if wanted >> (CARRY if name == ZERO else name) & 1}
    return state if len(kept) == len(state.registers) else with_registers(state, kept)
