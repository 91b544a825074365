"""Instructions that differ in their registers only share an effect: each is compiled once per function, for registers numbered in order.

What an effect makes of an instruction depends on its opcode, on numbers and constants, and on which operands are the same register, but
not on which registers these are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from sassan.ipet.loop_bounds.evaluate import Evaluated, evaluated
from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special, Target
from sassan.isa.computations import CARRY, ZERO, Computation
from sassan.isa.registers import bit

_WIDTHS: Mapping[str, int] = {"R": 8, "UR": 4, "P": 1, "UP": 1}
"""How many registers from one on an operand may name, by file."""
_FLAGS: Mapping[int, int] = MappingProxyType({CARRY: CARRY, ZERO: ZERO})
Names = Mapping[int, int]
"""Bit numbers of the registers of an instruction, by those of its pattern."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one instruction: that of its pattern, and the registers that take part."""

    evaluated: Evaluated
    names: Names


@dataclass(slots=True)
class Patterns:
    """The effects of the instructions of a function, by opcode and operands up to the numbers of registers."""

    _known: dict[object, Evaluated] = field(default_factory=dict[object, Evaluated])

    def effect(self, computes: Computation, instruction: Instruction) -> Effect:
        """Return the effect of an instruction."""
        operands, names = _numbered(instruction)
        # What a number in floating point means is in the text of the instruction, not in its value alone.
        text = instruction.text if any(isinstance(operand, Immediate) and isinstance(operand.value, float) for operand in operands) else ""
        key = (id(computes), instruction.opcode, operands, text)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = evaluated(computes, replace(instruction, operands=operands))
        return Effect(known, names)


def _numbered(instruction: Instruction) -> tuple[tuple[Operand, ...], Names]:
    """Return the operands with registers numbered in order, and the bit numbers that they stand for."""
    if not all(map(_is_plain, instruction.operands)):
        return instruction.operands, _Same()
    places: dict[tuple[str, int], int] = {}
    names = _Pairs(_FLAGS)
    operands: list[Operand] = []
    for operand in instruction.operands:
        if not isinstance(operand, Register) or operand.index is None:
            operands.append(operand)
            continue
        width = _WIDTHS[operand.file]
        place = places.get((operand.file, operand.index))
        if place is None:
            place = places[operand.file, operand.index] = len(places) * width
            names[_number(operand.file, place)] = _number(operand.file, operand.index)
        operands.append(Register(operand.file, place, operand.negated, operand.absolute, operand.inverted, operand.modifiers))
    return tuple(operands), names


@lru_cache(maxsize=1024)
def _number(file: str, index: int) -> int:
    return bit(file, index).bit_length() - 1


class _Pairs(dict[int, int]):
    """The first register of each operand by its number in the pattern; those that follow it come with it."""

    def __missing__(self, number: int) -> int:
        uniform = _number("UR", 0)
        step = number % _WIDTHS["R"] if number < uniform else (number - uniform) % _WIDTHS["UR"]
        if not step:
            raise KeyError(number)
        return self[number - step] + step


def _is_plain(operand: Operand) -> bool:
    """Say whether an operand names no register, or one by itself."""
    match operand:
        case Register():
            return operand.index is None or operand.file in _WIDTHS
        case Constant():
            return isinstance(operand.bank, int) and all(register.index is None for register in operand.base)
        case _:
            return isinstance(operand, Immediate | Special | Target)


class _Same(dict[int, int]):
    """Every number is its own."""

    def __missing__(self, number: int) -> int:
        return number
