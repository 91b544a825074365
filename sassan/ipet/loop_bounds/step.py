"""One instruction at work on the state of a thread: what it reads there, and why something is not known."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.values import MEMORY, NOWHERE, Known, Maybe, Origins, SymbolicState, Truth, Value, constant, union, unknown
from sassan.ir import Function, Immediate, Instruction, Language
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.ptx import register_widths
from sassan.isa.registers import bit

PREDICATES = frozenset(bit(file, index).bit_length() - 1 for file, count in (("P", 16), ("UP", 8)) for index in range(count))
"""Bit numbers of the registers that hold a condition."""
CONDITION_REGISTERS = PREDICATES | {CARRY, ZERO}
"""Those, and the flags until Pascal."""
CONDITIONS = frozenset({"P", "UP"})
_MEMORY = ("LD", "ATOM", "TEX", "TLD", "TXQ", "SU", "RED")


def conditions(function: Function) -> frozenset[int]:
    """Return the bit numbers of the registers of a function that hold conditions, the flags among them."""
    if function.language is Language.SASS:
        return CONDITION_REGISTERS
    return frozenset(number for number, bits in register_widths(function).items() if bits == 1)


@dataclass(slots=True)
class InstructionStep:
    """One instruction at work on the state before it."""

    instruction: Instruction
    state: SymbolicState
    environment: LaunchSymbols
    names: Mapping[int, int]
    """The bit numbers of the registers that the effect names (`values/patterns.py`)."""
    values: dict[str, Known]
    """What earlier parts of the effect have computed, by name."""
    same: frozenset[int] = frozenset()
    """Where the word of another thread is that of this one (`same_words.py`)."""

    def register(self, number: int) -> Value:
        """Return the word of a register, by its number in the effect."""
        held = self.state.registers.get(self.names[number])
        return held if isinstance(held, Value) else self.unknown()

    def immediate(self, index: int, place: int = 0) -> Value:
        """Return the number that is an operand of the instruction."""
        number = self.instruction.operands[index]
        assert isinstance(number, Immediate)
        assert isinstance(number.value, int)
        return constant(number.value >> 32 * place)

    def truth(self, number: int) -> Truth:
        """Return the condition in a register, by its number in the effect."""
        held = self.state.registers.get(self.names[number])
        return held if isinstance(held, Truth) else Truth(Maybe())

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
    kind = MEMORY if instruction.opcode.upper().startswith(_MEMORY) else "the result of "
    return f"{kind}{instruction.opcode.partition('.')[0]} at 0x{instruction.address:04x}"
