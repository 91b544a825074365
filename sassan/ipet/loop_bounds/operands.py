"""Reading operands and writing results of one instruction over a state."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.values import NOWHERE, YES, Known, Maybe, Origins, State, Truth, Value, constant, union, unknown
from sassan.ir import Constant, Function, Immediate, Instruction, Operand, Register, Special, Variable
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.ptx import register_widths
from sassan.isa.registers import bit

PREDICATES = frozenset(bit(file, index).bit_length() - 1 for file, count in (("P", 16), ("UP", 8)) for index in range(count))
"""Bit numbers of the registers that hold a condition."""
CONDITION_REGISTERS = PREDICATES | {CARRY, ZERO}
"""Those, and the flags until Pascal."""
WORDS = frozenset({"R", "UR"})
CONDITIONS = frozenset({"P", "UP"})
IMMEDIATES = "immediates"
"""The file of which register i stands for the number that is operand i of the instruction (`patterns.py`)."""
_NO_MEANING = frozenset({"reuse", "64"})
_MEMORY = ("LD", "ATOM", "TEX", "TLD", "TXQ", "SU", "RED")


_LONG = 64


def conditions(function: Function) -> frozenset[int]:
    """Return the bit numbers of the registers of a function that hold conditions, the flags among them."""
    if not function.frames:
        return CONDITION_REGISTERS
    return frozenset(number for number, bits in register_widths(function).items() if bits == 1)


def number(register: Register, place: int = 0) -> int | None:
    """Return the bit number of a register, or of one that follows it; None for RZ and PT."""
    first = number_of(register.file, register.index)
    return None if first is None else first + place


@lru_cache(maxsize=1024)
def number_of(file: str, index: int | None) -> int | None:
    """Return the bit number of a register of a file, None for RZ and PT."""
    return None if index is None else bit(file, index).bit_length() - 1


@dataclass(slots=True)
class Step:
    """One instruction at work on the state before it."""

    instruction: Instruction
    state: State
    environment: LaunchSymbols
    names: Mapping[int, int]
    """The bit numbers of the registers that the effect names (`patterns.py`)."""
    values: dict[str, Known]
    """What earlier parts of the effect have computed, by name."""

    def word(self, operand: Operand, place: int = 0) -> Value:  # noqa: PLR0911  # one for each kind of operand
        """Return an operand word; `place` 1 is the high half of a pair."""
        match operand:
            case Register(file=file) if file in WORDS:
                return self._register(operand, place)
            case Register(file=file, index=int() as index) if file == IMMEDIATES:
                return self.immediate(index, place)
            case Immediate(value=int() as value):
                return constant(value >> 32 * place) if not operand.modifiers else self.unknown()
            case Variable():
                return self._variable(operand, place)
            case Special() if not place:
                return self.environment.special(operand.name)
            case Constant(bank=0, modifiers=()) if all(register.index is None for register in operand.base):
                if operand.absolute:
                    return self.unknown()
                return self._signs(self.environment.constant(operand.offset + 4 * place), operand.negated, operand.inverted)
            case _:
                return self.unknown(_why(operand))

    def _variable(self, variable: Variable, place: int) -> Value:
        whole = not variable.part and (variable.bits == _LONG or (variable.bits > 1 and not place))
        held = self.state.registers.get(self.names[variable.number + place]) if whole else None
        return held if isinstance(held, Value) else self.unknown()

    def immediate(self, index: int, place: int = 0) -> Value:
        """Return the number that is an operand of the instruction."""
        number = self.instruction.operands[index]
        assert isinstance(number, Immediate)
        assert isinstance(number.value, int)
        return constant(number.value >> 32 * place)

    def _register(self, register: Register, place: int) -> Value:
        if not _NO_MEANING.issuperset(register.modifiers) or register.absolute:
            return self.unknown()
        name = number(register, place)
        held = constant(0) if name is None else self.state.registers.get(self.names[name])
        value = held if isinstance(held, Value) else self.unknown()
        return self._signs(value, register.negated, register.inverted)

    def _signs(self, value: Value, negated: bool, inverted: bool) -> Value:
        if negated:
            return self.state.times(value, -1)
        return self.state.minus(constant(-1), value) if inverted else value

    def truth(self, operand: Operand) -> Truth:
        """Return a condition operand."""
        if not isinstance(operand, Variable) and not (isinstance(operand, Register) and operand.file in CONDITIONS):
            return Truth(Maybe())
        name = operand.number if isinstance(operand, Variable) else number(operand)
        held = YES if name is None else self.state.registers.get(self.names[name])
        truth = held if isinstance(held, Truth) else Truth(Maybe())
        return truth.negate() if operand.negated else truth

    def flag(self, name: int) -> Truth:
        """Return the carry or the zero flag."""
        held = self.state.registers.get(name)
        return held if isinstance(held, Truth) else Truth(Maybe())

    def range(self, value: Value) -> Range:
        """Return all words that a value may be."""
        return self.state.range_of(value)

    def unknown(self, origins: Origins = NOWHERE) -> Value:
        """Return a word that nothing is known of."""
        return unknown(ranges.EVERY, origins or frozenset({reason(self.instruction)}))

    def of_range(self, words: Range, *inputs: Value) -> Value:
        """Return a word of a range that was worked out from inputs."""
        return unknown(words, reduce(union, (value.origins for value in inputs), NOWHERE))


def reason(instruction: Instruction) -> str:
    """Return why nothing is known of what an instruction writes, in words."""
    kind = "memory, read by" if instruction.opcode.upper().startswith(_MEMORY) else "the result of"
    return f"{kind} {instruction.opcode.partition('.')[0]} at 0x{instruction.address:04x}"


def _why(operand: Operand) -> Origins:
    return frozenset({f"constant bank {operand.bank}"}) if isinstance(operand, Constant) and isinstance(operand.bank, int) else NOWHERE
