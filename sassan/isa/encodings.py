"""What an encoding says of its instruction: guard, target, opcode and operands, held against the text of a listing.

Fields of each generation, found in the output of cuobjdump and nvdisasm over samples/ and equal to what Mesa NAK encodes: enough to notice
a text that was redirected or exchanged, without a disassembler. Modifiers and operands are those of `encoding_models.py`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from sassan.arch import Architecture
from sassan.ir import Instruction, Target
from sassan.isa import control, tables
from sassan.isa.encoding_models import (
    ARCHITECTURES,
    COMPARED,
    CONTROL,
    NEVER,
    REUSE,
    BitPattern,
    EncodingModel,
    brain_floats,
    models,
)
from sassan.isa.loading import data_text
from sassan.isa.spelling import Written, written

_FILE = "codes.toml"
_ALONE = frozenset({"NOP", "EXIT"})
"""Opcodes without operands: the data know every encoding of them."""
_ABSOLUTE = (".ABS", "JCAL", "JMP", "JMX")
_UNGUARDED = frozenset({"SSY", "PBK", "PCNT", "PRET", "CAL", "JCAL", "BPT"})
"""Until Pascal these have other bits in the place of the guard."""
_SHORT = frozenset({"BSSY"})
"""Since Volta: targets of 30 bits."""
_MARKED = frozenset({"ISCADD"})
"""Compilers mark more registers of these than are printed."""
_TRUE = 7
_GUARD = re.compile(r"@(!?)U?P([0-7T]) ")
_TEXTS = 16384
_STAYS, _ENCODED = 109, (1 << 128) - 1
"""Since Volta, the bit that keeps the warp; the bits of an encoding."""


@dataclass(frozen=True, slots=True)
class EncodingLayout:
    """Where the fields of an encoding are, as (first bit, bits); the parts of a target from low to high, in units of `step` bytes."""

    table: str
    opcode: tuple[int, int]
    guard: tuple[int, int]
    target: tuple[tuple[int, int], ...]
    step: int


_MAXWELL = EncodingLayout("maxwell", opcode=(51, 13), guard=(16, 4), target=((20, 24),), step=1)
_VOLTA = EncodingLayout("volta", opcode=(0, 12), guard=(12, 4), target=((34, 48),), step=4)
_HOPPER = replace(_VOLTA, target=((16, 8), (34, 48)))
_SHORT_TARGET = ((34, 30),)
_FIRST_HOPPER = 90


def layout(arch: Architecture) -> EncodingLayout:
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


class _Expected(NamedTuple):
    """A model with the bits of a text that belong to no value."""

    model: EncodingModel
    fixed: int


class Encodings:
    """Holds the instructions of one architecture against their encodings."""

    def __init__(self, arch: Architecture) -> None:
        """Take the layout of the architecture."""
        self._arch = arch
        self._letter = next((letter for first, letter in reversed(ARCHITECTURES) if arch.number >= first), "")
        self._layout = layout(arch)
        self._models = models(self._layout.table)
        self._opcodes = opcodes(self._layout.table)
        self._names = frozenset(name for names in self._opcodes.values() for name in names)
        self._rows = tables.mnemonics(arch)
        self._shift, bits = self._layout.opcode
        self._mask = (1 << bits) - 1
        self._forms: dict[tuple[str, tuple[str, ...], str], Sequence[_Expected]] = {}
        self._patterns: dict[str, tuple[Sequence[BitPattern], BitPattern | None]] = {}

    def difference(self, instruction: Instruction) -> str | None:
        """Return what the encoding of an instruction says otherwise than its text, '' where they agree, None where no model covers it."""
        word, seen = instruction.encoding, _ENCODED
        if word is None:
            return None
        table = self._layout.table
        if self._arch.control_words:
            if instruction.control is None:
                seen = COMPARED[table]
            else:
                word |= instruction.control << CONTROL[table]
        scheduled = self._scheduled(instruction, word >> CONTROL[table] & control.BITS) if seen == _ENCODED else ""
        if not (self._arch.control_words or word >> _STAYS & 1):
            word &= ~_marks(table)  # of a warp that gives way to others no register is kept, and none is printed as kept
        return scheduled or self._target(instruction, word) or self.of(instruction.text, word, seen)

    def of(self, text: str, word: int, seen: int = _ENCODED) -> str | None:
        """Return what the `seen` bits of an encoding say otherwise than a text, '' if they agree, None where no model covers it.

        The relative target of a branch is not compared. Until Pascal the bits from 64 on are those of the control code.
        """
        known = self._patterns.get(text)
        if known is None:
            if len(self._patterns) >= _TEXTS:
                self._patterns.clear()
            self._patterns[text] = known = (self._pattern(text), self._reused(text))
        patterns, reused = known
        if reused is not None and not reused.mask & ~seen and (word & reused.mask).bit_count() != reused.value:
            return "another '.reuse'"
        for mask, value in patterns:
            if word & mask & seen == value & seen:
                return ""
        parts = written(text)
        for model, _ in self._expected(parts):
            if (quieted := model.quieted(parts, word)) != word:
                return self.of(text, quieted, seen) or None  # which tool printed the text is not known
        difference = self._opcode(parts.name, word) or self._guard(text, parts.name, word)
        if difference or patterns:
            return difference or self._why(parts, word)
        # With a modifier that is not known, it is not known either whether the text has an address as its encoding does.
        return self._otherwise(parts, word) or self._otherwise(written(text, absolute=True), word)

    def _scheduled(self, instruction: Instruction, code: int) -> str:
        """What a control code says otherwise than the notes beside an instruction, or that none of such an instruction does."""
        if not control.known(code, paired=self._arch.control_words):
            return "a control code of no instruction"
        if instruction.notes and (noted := control.noted(instruction.notes)) and noted != control.notes(code):
            return f"the control code of '{' '.join(sorted(control.notes(code)))}'"
        for first, unset, event in zip(control.PLACES, self._models.unset, ("result", "sources"), strict=True):
            if code >> first & control.NO_BARRIER != control.NO_BARRIER:
                parts = written(instruction.text)
                shape = f"{parts.name}:{parts.shape}"
                if not unset.isdisjoint((parts.name, shape, f"{shape}:{''.join(parts.features)}")):
                    return f"a barrier for its {event}"
        return ""

    def _opcode(self, name: str, word: int) -> str:
        code = self._code(word)
        known = self._opcodes.get(code)
        if known is None:
            # An opcode that takes no operands has one encoding. Control codes alone are none.
            return "another opcode" if code and name in _ALONE else ""
        # Another version of the tools may have another name for it; one that is known here has an encoding of its own, and one that
        # is not has no row in the tables of opcodes.
        return f"the opcode {' or '.join(known)}" if name not in known and (name in self._names or name in self._rows) else ""

    def _guard(self, text: str, name: str, word: int) -> str:
        if self._arch.control_words and name in _UNGUARDED:
            return ""
        guard = _field(word, self._layout.guard)
        return f"the guard {_shown(guard)}" if guard != _guard(text) else ""

    def _pattern(self, text: str) -> Sequence[BitPattern]:
        """Return what the encoding of a text can be, nothing where no model covers it."""
        out: list[BitPattern] = []
        parts = written(text)
        first, bits = self._layout.guard
        guarded = not (self._arch.control_words and parts.name in _UNGUARDED)
        for model, fixed in self._expected(parts):
            pattern = model.pattern(fixed, parts)
            if pattern is None:
                continue
            mask, value = pattern
            if guarded and pattern is not NEVER:
                mask |= (1 << bits) - 1 << first
                value |= _guard(text) << first
            out.append(BitPattern(mask, value))
        return out

    def _reused(self, text: str) -> BitPattern | None:
        """Return which bits mark registers as read again, and how many of them are set, None where others may be."""
        parts = written(text)
        if not (parts.reused or parts.name in self._models.reusing):
            return None
        # Compilers mark a register of some of which nothing is printed: the printed marks are those of the first sources.
        sources = parts.shape.count("R#") - 1 if parts.name in _MARKED else None
        return BitPattern(_marks(self._layout.table, sources), parts.reused)

    def _expected(self, text: Written) -> Sequence[_Expected]:
        form = (text.name, text.features, text.shape)
        known = self._forms.get(form)
        if known is None:
            self._forms[form] = known = [
                _Expected(model, fixed)
                for model in self._models.of(text.name).get(text.shape, ())
                if self._letter in model.arches and (fixed := model.fixed(text.features)) is not None
            ]
        return known

    def _otherwise(self, text: Written, word: int) -> str | None:
        """What is known of an encoding whose text is not: that of a text with the same values, or a register for a number; or None."""
        for shape, several in self._models.of(text.name).items():
            for model in several:
                if self._letter not in model.arches or len(model.slots) != len(text.values):
                    continue
                given = frozenset(text.features) & model.weights.keys()
                for features in _near(given, frozenset(model.weights)):
                    if model.fixed(features) != word & model.care or (shape == text.shape and features == frozenset(text.features)):
                        continue
                    pattern = model.pattern(word & model.care, text)
                    exact = features == frozenset(text.features)
                    other = exact and model.differs_in_kind(text) if pattern is None else word & pattern.mask == pattern.value
                    if other:
                        return f"the form '{text.name}{''.join(sorted(features))} {shape}'"
        return None

    def _why(self, text: Written, word: int) -> str:
        """What differs of an encoding whose text is known."""
        for model, fixed in self._expected(text):
            if (word ^ fixed) & model.care:
                continue
            for value, slot in zip(text.values, model.slots, strict=True):
                pattern = slot.pattern(value, brain=brain_floats(text))
                if pattern is not None and word & pattern.mask != pattern.value and slot.places:
                    return f"0x{slot.places[0].of(word):x} in the place of '{value}'"
        return self._otherwise(text, word) or "another form"

    def _target(self, instruction: Instruction, word: int) -> str:
        last = instruction.operands[-1] if instruction.operands else None
        if type(last) is not Target or any(mark in instruction.opcode for mark in _ABSOLUTE):
            return ""  # The linker writes an absolute one.
        # The distance counts from the next word of the code, which may be a control word.
        distance = self._distance(word, instruction.opcode.partition(".")[0])
        address = self._arch.normalise(instruction.address + self._arch.instruction_bytes + distance)
        return "" if address == last.address else f"the target 0x{address:04x}"

    def _code(self, word: int) -> int:
        return word >> self._shift & self._mask

    def _distance(self, word: int, opcode: str) -> int:
        value = shift = 0
        for first, bits in _SHORT_TARGET if opcode in _SHORT else self._layout.target:
            value |= _field(word, (first, bits)) << shift
            shift += bits
        return (value - (value >> shift - 1 << shift)) * self._layout.step


@lru_cache(maxsize=32)
def encodings(arch: Architecture) -> Encodings:
    """Return what holds the instructions of an architecture against their encodings: it keeps what it has made of texts."""
    return Encodings(arch)


def _marks(table: str, sources: int | None = None) -> int:
    """The bits that mark the first sources, or all, as read again."""
    return sum(1 << bit for bit in REUSE[table][:sources])


def _near(given: frozenset[str], known: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield features, and those that differ from them by one that is missing, or added, or both."""
    yield given
    for added in known - given:
        yield given | {added}
    for left in given:
        yield given - {left}
        for added in known - given:
            yield given - {left} | {added}


def _field(word: int, place: tuple[int, int]) -> int:
    return word >> place[0] & (1 << place[1]) - 1


def _guard(text: str) -> int:
    match = _GUARD.match(text)
    if match is None:
        return _TRUE
    return (_TRUE if match[2] == "T" else int(match[2])) | bool(match[1]) << 3


def _shown(guard: int) -> str:
    index = guard & _TRUE
    return f"@{'!' if guard >> 3 else ''}P{'T' if index == _TRUE else index}"
