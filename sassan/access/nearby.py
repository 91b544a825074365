"""How far apart the addresses of a warp lie at most, where it is not known where: a table that all lanes read at an index below 8.

The word of each lane lies on an arc of the circle of 2^32, at a multiple of a step from its begin: u + k step, with one u for all lanes
that execute an instruction together. They do so for the whole of a node, so sums and multiples are followed inside one only; what comes
from before is a number of known bounds, or a word on which lanes agree up to what each adds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple

from sassan.access.opcodes import Reference, references
from sassan.access.transactions import BANKS, LANES, WORD, lanes_together
from sassan.domains.lanes import SIZE, LaneWord
from sassan.ir import Constant, Instruction, Memory, Operand, Register
from sassan.isa.computations import Apply, Fixed, Number, Read, StepValue, Term, Write
from sassan.isa.registers import bit
from sassan.values import WarpValues
from sassan.values.lanes.abstract_word import WORD_BITS, signed_number
from sassan.values.warp_values import PointValues

_PLAIN = frozenset({"64", "U32", "reuse"})
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_ONE_COPY = frozenset({"UR", "UP"})
_Guard = tuple[str, int, bool]


class Arc(NamedTuple):
    """Words u + k `step`, 0 <= k `step` <= `length`, with one u for all lanes; a step of 0 says that all are u."""

    length: int
    step: int

    @property
    def places(self) -> int:
        """Return how many words there are on it."""
        return 1 + (self.length // self.step if self.step else 0)

    def blocks(self, size: int) -> int:
        """Return in how many aligned blocks of `size` bytes accesses at these addresses lie, where each lies in one."""
        return min(self.places, 1 + -(-self.length // size))

    def passes(self, size: int) -> int:
        """Return the passes over the banks of shared memory of a warp that loads or stores `size` bytes in each lane."""
        together = lanes_together(size)
        words = self.length // WORD + (size // WORD if size >= WORD else 2)
        return -(-LANES // together) * min(together, self.places, -(-words // BANKS))

    def plus(self, other: "Arc") -> "Arc | None":
        """Return the sums or differences of words on both; None: anywhere."""
        return _arc(self.length + other.length, gcd(self.step, other.step))

    def times(self, factor: int) -> "Arc | None":
        """Return the multiples; None: anywhere."""
        factor = abs(signed_number(factor % SIZE))
        return _arc(self.length * factor, self.step * factor)


_ONE = Arc(0, 0)


def _arc(length: int, step: int) -> Arc | None:
    return None if length >= SIZE else Arc(length, step) if length else _ONE


def nearby(values: WarpValues, index: int) -> Mapping[tuple[int, int], Arc]:
    """Return the arcs of the addresses in a node, by instruction and the place of the operand; an address that may be anywhere has none."""
    out: dict[tuple[int, int], Arc] = {}
    threads = _Threads()
    for instruction, point in values.executing(index, lambda _: True):
        known = _Known(threads.of(instruction), point)
        for reference in references(instruction):
            arc = known.address(instruction, reference)
            if arc is not None:
                out[instruction.address, reference.place] = arc
        facts = values.facts[instruction.address]
        threads.write(instruction, facts.writes, known.results(facts.computes.of(instruction)) if facts.computes is not None else {})
    return out


@dataclass(slots=True)
class _Threads:
    """The arcs of registers that a node has written: of all threads, and of those for which a guard holds."""

    every: dict[int, Arc] = field(default_factory=dict[int, Arc])
    some: dict[_Guard, dict[int, Arc]] = field(default_factory=dict[_Guard, dict[int, Arc]])

    def of(self, instruction: Instruction) -> dict[int, Arc]:
        """Return those of the threads that execute an instruction."""
        guard = _guard(instruction)
        return self.every if guard is None else self.some.setdefault(guard, dict(self.every))

    def write(self, instruction: Instruction, written: int, results: Mapping[int, Arc]) -> None:
        """Note what an instruction writes."""
        registers = self.of(instruction)
        for some in (self.every, *self.some.values()):
            for register in [each for each in some if written >> each & 1]:
                del some[register]
            if registers is self.every and instruction.guard is None:
                some.update(results)
        if registers is not self.every:
            registers.update(results)
        for guard in [each for each in self.some if written & bit(each[0], each[1])]:
            del self.some[guard]


def _guard(instruction: Instruction) -> _Guard | None:
    guard = instruction.guard
    return None if guard is None or guard.index is None else (guard.file, guard.index, guard.negated)


@dataclass(slots=True)
class _Known:
    """What threads know before an instruction: `arcs` of registers that their node has written, and words."""

    arcs: Mapping[int, Arc]
    point: PointValues
    named: dict[str, Arc | None] = field(default_factory=dict[str, Arc | None])

    def results(self, steps: tuple[object, ...]) -> dict[int, Arc]:
        """Return the arcs of what an instruction writes."""
        out: dict[int, Arc] = {}
        for step in steps:
            if isinstance(step, Write):
                arc = self.named[step.name] = self.term(step.value)
                out.update(dict.fromkeys(step.targets, arc) if arc is not None else {})
        return out

    def address(self, instruction: Instruction, reference: Reference) -> Arc | None:
        """Return the arc of the address of an access."""
        operand = instruction.operands[reference.place] if reference.place >= 0 else None
        if not isinstance(operand, Memory | Constant) or not set(operand.modifiers) <= _PLAIN:
            return None
        total: Arc | None = _ONE
        for register in operand.base:
            arc = self.operand(register, 0)
            scale = next((_SCALES[name] for name in register.modifiers if name in _SCALES), 1)
            arc = arc.times(scale) if arc is not None else None
            total = total.plus(arc) if total is not None and arc is not None else None
        return total

    def term(self, term: Term) -> Arc | None:
        """Return the arc of a value."""
        match term:
            case Number():
                return _ONE
            case Read(operand, place):
                return self.operand(operand, place)
            case StepValue(name):
                return self.named.get(name)
            case Apply(function, arguments):
                return self.applied(function, arguments)
            case _:
                return None

    def applied(self, function: str, arguments: tuple[Term, ...]) -> Arc | None:
        """Return the arc of what a function makes of values: of sums, differences, multiples, and of words of constant banks."""
        match function, arguments:
            case "constant", (Fixed(Constant() as operand), *_):
                return self.operand(operand, 0)
            case (("add" | "subtract"), (first, second)):
                left, right = self.term(first), self.term(second)
                return None if left is None or right is None else left.plus(right)
            case "multiply", ((first, Number(factor)) | (Number(factor), first)):
                arc = self.term(first)
                return None if arc is None else arc.times(factor)
            case "shift_left", (first, Number(places)) if 0 <= places < WORD_BITS:
                arc = self.term(first)
                return None if arc is None else arc.times(1 << places)
            case _:
                return None

    def operand(self, operand: Operand, place: int) -> Arc | None:
        """Return the arc of a register, or of a word of a constant bank; that of a negative is as long."""
        match operand:
            case Constant(base=()):
                return _ONE
            case Register(index=None):
                return _ONE
            case Register() if operand.file in _ONE_COPY:
                return _ONE
            case Register(index=int() as index) if set(operand.modifiers) <= _PLAIN | _SCALES.keys() and not operand.absolute:
                name = bit(operand.file, index).bit_length() - 1 + place
                arcs = [arc for arc in (self.arcs.get(name), *_of_word(self.point, name)) if arc is not None]
                return min(arcs, default=None, key=lambda arc: (arc.places, arc.length))
            case _:
                return None


def _of_word(point: PointValues, name: int) -> tuple[Arc | None, ...]:
    """Return the arcs of what a register holds: by its bounds, and by what lanes add where they agree on the rest."""
    held, agreed = point.words.held.get(name, LaneWord()), point.word(name)
    bounded = _arc(held.high - held.low, gcd(held.modulus, *(held.lanes or ())) if held.modulus < SIZE else 1)
    if agreed is None or agreed.rows is not None:
        return (bounded,)
    signed = [signed_number(lane) for lane in agreed.lanes or (0,)]
    return bounded, _arc(max(signed) - min(signed), gcd(*[each - signed[0] for each in signed]))
