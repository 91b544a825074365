"""Reading operands and writing results of one instruction over a state."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.surroundings import Surroundings
from sassan.ipet.loop_bounds.values import NO, NOWHERE, YES, Known, Maybe, Origins, State, Truth, Value, constant, unknown
from sassan.ir import Constant, Immediate, Instruction, Operand, Register
from sassan.isa.registers import bit

CARRY = bit("CC", 0).bit_length() - 1
"""The carry flag until Pascal, as a condition."""
ZERO = -1
"""The zero flag until Pascal; a number that no register has."""
PREDICATES = frozenset(bit(file, index).bit_length() - 1 for file, count in (("P", 16), ("UP", 8)) for index in range(count))
"""Bit numbers of the registers that hold a condition."""
WORDS = frozenset({"R", "UR"})
CONDITIONS = frozenset({"P", "UP"})
_NO_MEANING = frozenset({"reuse", "64"})
_SIGNED_20 = (1 << 19, 1 << 20)


def number(register: Register, place: int = 0) -> int | None:
    """Return the bit number of a register, or of one that follows it; None for RZ and PT."""
    if register.index is None:
        return None
    return bit(register.file, register.index).bit_length() - 1 + place


@cache
def _modifiers(opcode: str) -> list[str]:
    return opcode.split(".")[1:]


@dataclass(slots=True)
class Step:
    """One instruction at work: the state before it, and what it writes."""

    instruction: Instruction
    state: State
    around: Surroundings
    writes: dict[int, Known]

    @property
    def modifiers(self) -> list[str]:
        """Return what stands behind the mnemonic."""
        return _modifiers(self.instruction.opcode)

    @property
    def is_signed(self) -> bool:
        """Say whether an integer instruction works on signed numbers: the default."""
        return "U32" not in self.modifiers and "U64" not in self.modifiers

    def word(self, operand: Operand, place: int = 0) -> Value:
        """Return an operand word; `place` 1 is the high half of a pair."""
        match operand:
            case Register(file=file) if file in WORDS:
                return self._register(operand, place)
            case Immediate(value=int() as value):
                return constant(value >> 32 * place) if not operand.modifiers else self.unknown()
            case Constant(bank=0, modifiers=()) if all(one.index is None for one in operand.base):
                if operand.absolute:
                    return self.unknown()
                return self._signs(self.around.constant(operand.offset + 4 * place), operand.negated, operand.inverted)
            case _:
                return self.unknown(_why(operand))

    def _register(self, register: Register, place: int) -> Value:
        if not _NO_MEANING.issuperset(register.modifiers) or register.absolute:
            return self.unknown()
        name = number(register, place)
        held = constant(0) if name is None else self.state.registers.get(name)
        value = held if isinstance(held, Value) else self.unknown()
        return self._signs(value, register.negated, register.inverted)

    def _signs(self, value: Value, negated: bool, inverted: bool) -> Value:
        if negated:
            return self.state.times(value, -1)
        return self.state.minus(constant(-1), value) if inverted else value

    def immediate(self, operand: Operand) -> int | None:
        """Return a plain number."""
        return operand.value if isinstance(operand, Immediate) and isinstance(operand.value, int) else None

    def truth(self, operand: Operand) -> Truth:
        """Return a condition operand."""
        if not isinstance(operand, Register) or operand.file not in CONDITIONS:
            return Truth(Maybe())
        name = number(operand)
        held = YES if name is None else self.state.registers.get(name)
        truth = held if isinstance(held, Truth) else Truth(Maybe())
        return truth.negate() if operand.negated else truth

    def flag(self, name: int) -> Truth:
        """Return the carry or the zero flag."""
        held = self.state.registers.get(name)
        return held if isinstance(held, Truth) else Truth(Maybe())

    def range(self, value: Value) -> Range:
        """Return all words that a value may be."""
        return self.state.range_of(value)

    def put(self, operand: Operand, known: Known, place: int = 0) -> None:
        """Write a register, or one that follows it."""
        if isinstance(operand, Register):
            name = number(operand, place)
            if name is not None:
                self.writes[name] = known

    def unknown(self, origins: Origins = NOWHERE) -> Value:
        """Return a word that nothing is known of."""
        return unknown(ranges.EVERY, origins or frozenset({f"{self.instruction.opcode} at 0x{self.instruction.address:04x}"}))

    def found(self, found: Range, *inputs: Value) -> Value:
        """Return a word of a range that was worked out from inputs."""
        origins: Origins = frozenset().union(*(one.origins for one in inputs))
        return unknown(found, origins)

    def carry(self, a: Value, b: Value) -> Truth:
        """Return whether a sum of two words leaves the word."""
        (low, high), (other_low, other_high) = self.range(a).unsigned, self.range(b).unsigned
        if high + other_high < ranges.SIZE:
            return NO
        return YES if low + other_low >= ranges.SIZE else Truth(Maybe(a.origins | b.origins))


Operation = Callable[[Step], None]
Outcomes = tuple[Truth, dict[int, Known], dict[int, Known]]
Choice = Callable[[Step], Outcomes | None]
"""What an instruction writes where a condition holds, and where it does not; None for a form that is not known."""


def _why(operand: Operand) -> Origins:
    return frozenset({f"constant bank {operand.bank}"}) if isinstance(operand, Constant) and isinstance(operand.bank, int) else NOWHERE


def short(value: int) -> int:
    """Return the number that a 20-bit immediate until Pascal stands for, where the disassembler prints it without its sign."""
    low, high = _SIGNED_20
    return value - high if low <= value < high else value
