"""Patterns: instructions that differ in their registers and plain numbers only share an effect, which is translated once per function.

What an effect makes of an instruction depends on its opcode, on constants, and on which operands are the same register, but not on which
registers these are: they are numbered in order. Nor need it depend on a number that is only a word to it: that is read from the
instruction at hand, as if it were a register.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special, Target
from sassan.isa.computations import CARRY, ZERO, Computation, Step
from sassan.isa.registers import bit

T = TypeVar("T")
IMMEDIATES = "immediates"
"""The file of which register i stands for the number that is operand i of the instruction."""
_WIDTHS: Mapping[str, int] = {"R": 8, "UR": 4, "P": 1, "UP": 1}
"""How many registers from one on an operand may name, by file."""
_PRINTED = frozenset({"as_float", "float_halves"})
"""What reads a number as it is printed: `-0` and `0`, or `0x1` and `1`, are one value."""
_ABOUT_NUMBERS = _PRINTED | {"number", "short", "zero"}
"""Functions of the language to which a number is more than a word."""
_FLAGS: Mapping[int, int] = MappingProxyType({CARRY: CARRY, ZERO: ZERO})
Names = Mapping[int, int]
"""Bit numbers of the registers of an instruction, by those of its pattern."""


class InstructionEffect(NamedTuple, Generic[T]):
    """The effect of one instruction: that of its pattern, and the registers that take part."""

    translated: T
    names: Names


class Patterns(Generic[T]):
    """The effects of the instructions of a function, by opcode and operands up to the numbers of registers."""

    def __init__(self, translate: Callable[[tuple[Step, ...]], T], is_free: Callable[[int], bool] = lambda _: False) -> None:
        """Take what translates the steps of an effect, and which numbers are read from the instruction: nothing else depends on them."""
        self._translate = translate
        self._is_free = is_free
        self._known: dict[object, T] = {}
        self._words: dict[int, frozenset[int]] = {}
        """Per computation, the operands of which only the word matters."""

    def effect(self, computes: Computation, instruction: Instruction) -> InstructionEffect[T]:
        """Return the effect of an instruction."""
        words = self._words.get(id(computes))
        if words is None:
            words = self._words[id(computes)] = _only_words(computes)
        numbered, names, floats = self._numbered(instruction, words)
        # What a number in floating point means is in the text of the instruction, not in its value alone.
        printed = floats or not _PRINTED.isdisjoint(computes.effect.functions)
        key = (id(computes), instruction.opcode, numbered, instruction.text if printed else "")
        known = self._known.get(key)
        if known is None:
            operands = tuple(Register(*operand) if isinstance(operand, tuple) else operand for operand in numbered)
            known = self._known[key] = self._translate(computes.of(replace(instruction, operands=operands)))
        return InstructionEffect(known, names)

    def _numbered(self, instruction: Instruction, words: AbstractSet[int]) -> tuple[tuple["_Numbered", ...], Names, bool]:
        """Return the operands with registers numbered in order, the bit numbers that they stand for, and whether one is a float."""
        places: dict[tuple[str, int], int] = {}
        names = _Pairs(_FLAGS)
        operands: list[_Numbered] = []
        floats = False
        for index, operand in enumerate(instruction.operands):
            if isinstance(operand, Register):
                place, file = operand.index, operand.file
                if place is not None:
                    width = _WIDTHS.get(file)
                    if width is None:
                        return instruction.operands, SAME, _has_float(instruction)
                    known = places.get((file, place))
                    if known is None:
                        known = places[file, place] = len(places) * width
                        names[number_of(file, known)] = number_of(file, place)
                    place = known
                operands.append((file, place, operand.negated, operand.absolute, operand.inverted, operand.modifiers))
            elif isinstance(operand, Immediate):
                value = operand.value
                floats = floats or not isinstance(value, int)
                free = isinstance(value, int) and index in words and not operand.modifiers and self._is_free(value)
                operands.append((IMMEDIATES, index, False, False, False, ()) if free else operand)
            elif _is_plain(operand):
                operands.append(operand)
            else:
                return instruction.operands, SAME, _has_float(instruction)
        return tuple(operands), names, floats


_Numbered = Operand | tuple[str, int | None, bool, bool, bool, tuple[str, ...]]
"""An operand of a pattern: of a register, the fields, which are hashed faster."""


def _only_words(computes: Computation) -> frozenset[int]:
    """Return the operands that stand for nothing but a word, whether they are registers or numbers."""
    if not _ABOUT_NUMBERS.isdisjoint(computes.effect.functions):
        return frozenset()
    numbers = {place for name, place in computes.places.items() if name[0] == "i"}
    return frozenset(place for place in computes.places.values() if place not in numbers)


def _has_float(instruction: Instruction) -> bool:
    return any(isinstance(operand, Immediate) and isinstance(operand.value, float) for operand in instruction.operands)


@lru_cache(maxsize=1024)
def number_of(file: str, index: int) -> int:
    """Return the bit number of a register."""
    return bit(file, index).bit_length() - 1


class _Pairs(dict[int, int]):
    """The first register of each operand by its number in the pattern; those that follow it come with it."""

    def __missing__(self, number: int) -> int:
        uniform = number_of("UR", 0)
        step = number % _WIDTHS["R"] if number < uniform else (number - uniform) % _WIDTHS["UR"]
        if not step:
            raise KeyError(number)
        return self[number - step] + step


def _is_plain(operand: Operand) -> bool:
    """Say whether an operand that is neither a register nor a number names no register."""
    if isinstance(operand, Constant):
        return isinstance(operand.bank, int) and all(register.index is None for register in operand.base)
    return isinstance(operand, Special | Target)


class _Same(dict[int, int]):
    """Every number is its own."""

    def __missing__(self, number: int) -> int:
        return number


SAME: Names = _Same()
"""The names of an instruction that is a pattern of its own."""
