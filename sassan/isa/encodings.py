"""What an encoding says of its instruction: guard, target, opcode and operands, held against the text of a listing.

Fields of each generation, found in the output of cuobjdump and nvdisasm over samples/ and equal to what Mesa NAK encodes: enough to notice
a text that was redirected or exchanged, without a disassembler. The operands are those of `operand_fields.py`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sassan.arch import Architecture
from sassan.ir import Immediate, Instruction, Register, Target
from sassan.isa import operand_fields, tables
from sassan.isa.loading import data_text
from sassan.isa.operand_fields import ARCHITECTURES, Operands, written

_FILE, _MODIFIERS = "codes.toml", "modifier_fields.toml"
_ALONE = frozenset({"NOP", "EXIT"})
"""Opcodes without operands: the data know every encoding of them."""
_ABSOLUTE = (".ABS", "JCAL", "JMP", "JMX")
_INDIRECT = "BRX"
_UNGUARDED = frozenset({"SSY", "PBK", "PCNT", "PRET", "CAL", "JCAL", "BPT"})
"""Until Pascal these have other bits in the place of the guard."""
_SHORT = frozenset({"BSSY"})
"""Since Volta: targets of 30 bits."""
_TRUE, _RZ = 7, 255


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of an encoding are, as (first bit, bits); the parts of a target from low to high, in units of `step` bytes.

    `base` is the register of an indirect branch.
    """

    table: str
    opcode: tuple[int, int]
    guard: tuple[int, int]
    target: tuple[tuple[int, int], ...]
    step: int
    base: tuple[int, int]


_MAXWELL = Layout("maxwell", opcode=(51, 13), guard=(16, 4), target=((20, 24),), step=1, base=(8, 8))
_VOLTA = Layout("volta", opcode=(0, 12), guard=(12, 4), target=((34, 48),), step=4, base=(24, 8))
_HOPPER = replace(_VOLTA, target=((16, 8), (34, 48)))
_SHORT_TARGET = ((34, 30),)
_FIRST_HOPPER = 90
_OPERANDS = {"maxwell": ~(0xF << 16), "volta": (1 << 105) - 1 & ~(0xF << 12)}
"""The bits that belong to the opcode and its operands: without the guard, and without the control code."""
_TARGETS = {"maxwell": _MAXWELL.target, "volta": _HOPPER.target}


def layout(arch: Architecture) -> Layout:
    """Return the layout of the encodings of an architecture."""
    if arch.control_words:
        return _MAXWELL
    return _HOPPER if arch.number >= _FIRST_HOPPER else _VOLTA


@lru_cache(maxsize=2)
def opcodes(table: str) -> Mapping[int, tuple[str, ...]]:
    """Return the opcodes, without modifiers, of each value of the opcode field that is known."""
    known: dict[int, tuple[str, ...]] = {}
    for name, codes in tomllib.loads(data_text(_FILE))[table].items():
        for code in codes:
            known[code] = (*known.get(code, ()), name)
    return known


@dataclass(frozen=True, slots=True)
class ModifierField:
    """The bits of an encoding, as (first bit, bits), that hold one modifier of an opcode in each of its forms."""

    bits: tuple[int, int]
    values: Mapping[str, int]


@lru_cache(maxsize=2)
def _modifier_fields(table: str) -> Mapping[str, tuple[ModifierField, ...]]:
    """Return the fields of each opcode of a table."""
    out: dict[str, tuple[ModifierField, ...]] = {}
    for each in tomllib.loads(data_text(_MODIFIERS))[table].values():
        first, bits = each["bits"]
        for opcode in each["opcodes"]:
            out[opcode] = (*out.get(opcode, ()), ModifierField((first, bits), each["values"]))
    return out


class Encodings:
    """Holds the instructions of one architecture against their encodings."""

    def __init__(self, arch: Architecture) -> None:
        """Take the layout of the architecture."""
        self._arch = arch
        self._letter = next((letter for first, letter in reversed(ARCHITECTURES) if arch.number >= first), "")
        self._layout = layout(arch)
        self._opcodes = opcodes(self._layout.table)
        self._names = frozenset(name for names in self._opcodes.values() for name in names)
        self._rows = tables.mnemonics(arch)
        self._shift, bits = self._layout.opcode
        self._mask = (1 << bits) - 1

    @property
    def table(self) -> str:
        """The table that its layout belongs to."""
        return self._layout.table

    def difference(self, instruction: Instruction) -> str:
        """Return what the encoding of an instruction says otherwise than its text, '' where they agree, or where nothing is known."""
        word = instruction.encoding
        if word is None:
            return ""
        opcode = instruction.opcode.partition(".")[0]
        code = word >> self._shift & self._mask
        known = self._opcodes.get(code)
        if known is None:
            # An opcode that takes no operands has one encoding. Control codes alone are none.
            return "another opcode" if code and opcode in _ALONE else ""
        if opcode not in known:
            # Another version of the tools may have another name for it; one that is known here has an encoding of its own, and one that
            # is not has no row in the tables of opcodes.
            return f"the opcode {' or '.join(known)}" if opcode in self._names or opcode in self._rows else ""
        if opcode not in _UNGUARDED or not self._arch.control_words:
            guard = _field(word, self._layout.guard)
            if guard != _guard(instruction):
                return f"the guard {_shown(guard)}"
        difference = self._indirect(instruction, word) if opcode == _INDIRECT and instruction.operands else ""
        if _has_target(instruction):
            if any(mark in instruction.opcode for mark in _ABSOLUTE):
                return ""  # The linker writes it.
            difference = difference if _INDIRECT in opcode else self._target(instruction, word, opcode)
        difference = difference or self._modifier(instruction, opcode, word)
        return difference or operand_fields.difference(self._layout.table, self.operands(instruction))

    def _modifier(self, instruction: Instruction, opcode: str, word: int) -> str:
        """What bits say of a modifier otherwise than the text, whose form the data need not know."""
        modifiers = instruction.opcode.split(".")[1:]
        for field in _modifier_fields(self._layout.table).get(opcode, ()):
            stated = [field.values[each] for each in modifiers if each in field.values]
            value = _field(word, field.bits)
            if len(stated) == 1 and stated[0] != value:
                return f"{opcode}.{next((name for name, bits in field.values.items() if bits == value), '?')}"
        return ""

    def operands(self, instruction: Instruction) -> Operands:
        """Return the text and the encoding of an instruction without what is compared by itself: guard, target, control code."""
        word, target = instruction.encoding or 0, _has_target(instruction)
        code = word >> self._shift & self._mask
        if target:
            for place in _SHORT_TARGET if instruction.opcode.partition(".")[0] in _SHORT else _TARGETS[self._layout.table]:
                word &= ~(_field(-1, place) << place[0])
        return Operands(self._letter, code, written(instruction.text, target=target), word & _OPERANDS[self._layout.table])

    def _target(self, instruction: Instruction, word: int, opcode: str) -> str:
        last = instruction.operands[-1]
        assert isinstance(last, Target)
        # The distance counts from the next word of the code, which may be a control word.
        address = self._arch.normalise(instruction.address + self._arch.instruction_bytes + self._distance(word, opcode))
        return "" if address == last.address else f"the target 0x{address:04x}"

    def _indirect(self, instruction: Instruction, word: int) -> str:
        """What differs of a branch to a register and a distance."""
        register, last = instruction.operands[0], instruction.operands[-1]
        index = _field(word, self._layout.base)
        if not isinstance(register, Register) or index != (_RZ if register.index is None else register.index):
            return f"R{index} in the place of the first operand"
        distance = self._distance(word, instruction.opcode)
        return f"the distance {distance:#x}" if isinstance(last, Immediate) and last.value != distance else ""

    def _distance(self, word: int, opcode: str) -> int:
        value = shift = 0
        for first, bits in _SHORT_TARGET if opcode in _SHORT else self._layout.target:
            value |= _field(word, (first, bits)) << shift
            shift += bits
        return (value - (value >> shift - 1 << shift)) * self._layout.step


def _has_target(instruction: Instruction) -> bool:
    return bool(instruction.operands) and type(instruction.operands[-1]) is Target


def _field(word: int, place: tuple[int, int]) -> int:
    return word >> place[0] & (1 << place[1]) - 1


def _guard(instruction: Instruction) -> int:
    guard = instruction.guard
    if guard is None:
        return _TRUE
    return (_TRUE if guard.index is None else guard.index) | guard.negated << 3


def _shown(guard: int) -> str:
    index = guard & _TRUE
    return f"@{'!' if guard >> 3 else ''}P{'T' if index == _TRUE else index}"
