"""What the encoding of a text is: for each opcode and shape, which bits hold which value, and which bits each feature of the text changes.

A *model* belongs to the texts of one name and shape (`spelling.py`). It has a place for each value. All other
bits that a disassembler prints something of are those of the model's base, of which each feature of the text changes some: they add up.
That holds for features that are put together as those were that the model was learnt from, which its *ties* say: of `.LT`, `.LE` and
`.GT` a text has one. So a text has one encoding but for the bits that nothing is printed of, and the two are compared without a
disassembler. What no model covers is not compared. `scripts/build_encodings` writes the models (`data/encodings_*.txt`), with the
disassembler as its oracle.
"""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from sassan.isa.loading import data_text
from sassan.isa.spelling import RELOCATED, Written

ARCHITECTURES = ((50, "m"), (60, "p"), (70, "v"), (75, "t"), (80, "a"), (86, "e"), (89, "l"), (90, "h"), (100, "b"), (120, "w"))
"""The first number of each range of architectures that the data tell apart, and its letter in them."""
CONTROL = {"maxwell": 64, "volta": 105}
"""The first bit of the control code; until Pascal it is not among those of the encoding, and here behind them."""
REUSE = {table: tuple(range(first + 17, first + 20)) for table, first in CONTROL.items()}
"""The bits of the control code that mark registers as read again."""
_PLACE = re.compile(r"([rifdh])(.*?)(?:\^(\d+))?")
_RUN = re.compile(r"(\d+)\+(\d+)(?:<(\d+))?")
_FLOATS = {"f": ("<f", "<I"), "d": ("<d", "<Q"), "h": ("<e", "<H")}
_NOT_NUMBERS = {"f": (32, 22), "d": (64, 51), "h": (16, 9)}
"""Of a kind of floats: its bits, and the highest of the fraction, which tells quiet from signaling ones; those below are not printed."""
_UNTOLD = "fh"
"""The kinds of floats of which disassemblers before CUDA 13 print the signaling ones as quiet."""
_QUIET = "QNAN"
_REGISTERS = "URPSB"
"""What a register begins with: predicates, barriers and scoreboards are registers, too."""
_WIDTHS = (32, 64)
_HALF = 16
_BRAIN = frozenset({".BF16_V2", ".BF16_V2'"})
_SEVERAL = 2
_VALUES = 8192


class BitPattern(NamedTuple):
    """The bits of an encoding that a mask selects."""

    mask: int
    value: int


NEVER = BitPattern(0, 1)
"""That of no encoding."""


class BitRun(NamedTuple):
    """Bits of an encoding from `first` on, that hold those of a value from `shift` on."""

    first: int
    bits: int
    shift: int

    def __str__(self) -> str:
        """As in the data: `40+14<2`."""
        return f"{self.first}+{self.bits}" + (f"<{self.shift}" if self.shift else "")

    @property
    def mask(self) -> int:
        """Its bits in an encoding."""
        return (1 << self.bits) - 1 << self.first


@dataclass(frozen=True, slots=True)
class EncodedField:
    """Where an encoding holds a value: the index of a register (kind `r`), an integer (`i`), or a float (`f`, `d`, `h`).

    What it holds is less than the value by `offset`.
    """

    kind: str
    runs: tuple[BitRun, ...]
    offset: int = 0

    def __str__(self) -> str:
        """As in the data: `i40+14<2`, `r20+8^1`."""
        return self.kind + ",".join(map(str, self.runs)) + (f"^{self.offset}" if self.offset else "")

    @property
    def mask(self) -> int:
        """Its bits in an encoding."""
        return sum(run.mask for run in self.runs)

    def of(self, word: int) -> int:
        """Return what an encoding has here."""
        return self.offset + sum((word >> run.first & (1 << run.bits) - 1) << run.shift for run in self.runs)

    def narrow(self, *, brain: bool) -> "EncodedField":
        """Return the place of a float of 16 bits as that of a half or, `brain`, of the upper half of one of 32; every other as it is.

        What it was learnt from may have had only one kind, or only values that both have: its text says which it is.
        """
        if self.kind not in _FLOATS or [run.bits for run in self.runs] != [_HALF]:
            return self
        kind, shift = ("f", _HALF) if brain else ("h", 0)
        return EncodedField(kind, (self.runs[0]._replace(shift=shift),))

    def quiet(self, word: int) -> int:
        """Return the bit that makes a signaling NaN quiet, 0 where an encoding has none here, or one of 64 bits.

        Disassemblers before CUDA 13 print `QNAN` of signaling ones of 16 and 32 bits, too.
        """
        if self.kind not in _UNTOLD:
            return 0
        bits, highest = _NOT_NUMBERS[self.kind]
        held, fraction = self.of(word), (2 << highest) - 1
        exponent = (1 << bits - 1) - 1 & ~fraction
        if held & exponent != exponent or not held & fraction:
            return 0
        return sum(1 << run.first + highest - run.shift for run in self.runs if run.shift <= highest < run.shift + run.bits)

    def pattern(self, value: str) -> BitPattern | None:
        """Return the bits of a value here, None for one of another kind."""
        bits = _bits(value, self.kind)
        if bits is None:
            return _not_a_number(value, self.kind, self.runs) if value.endswith("NAN") and self.kind in _FLOATS else None
        top = max(run.shift + run.bits for run in self.runs)
        bits = (1 << top) - 1 if self.kind == "r" and bits < 0 else bits - self.offset
        held = value_bits = 0
        for run in self.runs:
            part = bits >> run.shift & (1 << run.bits) - 1
            held |= part << run.shift
            value_bits |= part << run.first
        excess = bits >> top
        # What is printed of a negative number has a sign, or as many bits as its type.
        signed = self.kind == "i" and (excess == -1 or any(excess == (1 << width - top) - 1 for width in _WIDTHS if width > top))
        fits = held == bits & (1 << top) - 1 and (not excess or signed)
        return BitPattern(self.mask, value_bits) if fits else NEVER


def place_of(text: str) -> EncodedField:
    """Return the place that a word of the data names."""
    match = _PLACE.fullmatch(text)
    assert match is not None, text
    runs = tuple(BitRun(int(first), int(bits), int(shift or 0)) for first, bits, shift in _RUN.findall(match[2]))
    return EncodedField(match[1], runs, int(match[3] or 0))


@dataclass(frozen=True, slots=True)
class ValueEncoding:
    """What is known of a value: a place for each kind that it may be of, or that it was the same wherever it was seen."""

    places: tuple[EncodedField, ...] = ()
    constant: str = ""

    def __str__(self) -> str:
        """As in the data: `f32+32`, `=PT`, `.` for nothing."""
        return f"={self.constant}" if self.constant else "|".join(map(str, self.places)) or "."

    @property
    def mask(self) -> int:
        """Its bits in an encoding."""
        out = 0
        for place in self.places:
            out |= place.mask
        return out

    def pattern(self, value: str, *, brain: bool = False) -> BitPattern | None:
        """Return the bits of a value, None where they are not known; `brain`: a float of 16 bits is the upper half of one of 32."""
        if RELOCATED in value:
            return BitPattern(0, 0)  # The linker writes them.
        if self.constant:
            return BitPattern(0, 0) if value == self.constant else None
        places = dict.fromkeys(place.narrow(brain=brain) for place in self.places)
        patterns = [pattern for place in places if (pattern := place.pattern(value)) is not None]
        if len(patterns) < _SEVERAL:
            return patterns[0] if patterns else None
        # It may be a float of several kinds: what all of them have is compared.
        possible = [pattern for pattern in patterns if pattern is not NEVER] or [NEVER]
        mask, held = possible[0]
        for pattern in possible[1:]:
            mask &= pattern.mask & ~(held ^ pattern.value)
        return BitPattern(mask, held & mask) if possible[0] is not NEVER else NEVER


def slot_of(text: str) -> ValueEncoding:
    """Return the slot that a word of the data stands for."""
    if text.startswith("="):
        return ValueEncoding(constant=text[1:])
    return ValueEncoding(tuple(map(place_of, text.split("|")))) if text != "." else ValueEncoding()


@dataclass(frozen=True, slots=True)
class EncodingModel:
    """Encodings of the texts of one name and shape."""

    arches: str
    slots: tuple[ValueEncoding, ...]
    care: int
    """The bits that belong to no value, and that something is printed of."""
    base: int
    weights: Mapping[str, int]
    """The bits of the base that each feature changes."""
    ties: tuple[frozenset[str], ...]
    """Of the features of each, a text has an odd number."""
    even: tuple[frozenset[str], ...] = ()
    """Of the features of each, a text has an even number."""

    def fixed(self, features: Iterable[str]) -> int | None:
        """Return the bits that belong to no value, for some features; None where the model does not know how these are put together."""
        given = frozenset(features)
        value = self.base
        for feature in given:
            weight = self.weights.get(feature)
            if weight is None:
                return None
            value ^= weight
        known = all(len(given & tie) & 1 for tie in self.ties) and not any(len(given & tie) & 1 for tie in self.even)
        return value if known else None

    def pattern(self, fixed: int, text: Written) -> BitPattern | None:
        """Return the encodings of a text whose bits that belong to no value are known, None where the place of a value is not."""
        mask, value = self.care, fixed
        brain = brain_floats(text)
        for printed, slot in zip(text.values, self.slots, strict=True):
            part = slot.pattern(printed, brain=brain)
            if part is None:
                return None
            if part is NEVER:
                return NEVER
            mask |= part.mask
            value |= part.value
        return BitPattern(mask, value)

    def quieted(self, text: Written, word: int) -> int:
        """Return an encoding with quiet NaNs where the text has such."""
        brain = brain_floats(text)
        for printed, slot in zip(text.values, self.slots, strict=True):
            if printed.endswith(_QUIET):
                for place in slot.places:
                    word |= place.narrow(brain=brain).quiet(word)
        return word

    def differs_in_kind(self, text: Written) -> bool:
        """Whether a text has a number in the place of a register, or a register in that of a number."""
        return any(
            bool(slot.places) and all((place.kind == "r") != (printed[0] in _REGISTERS) for place in slot.places)
            for printed, slot in zip(text.values, self.slots, strict=True)
        )


def brain_floats(text: Written) -> bool:
    """Say whether the floats of 16 bits of a text have the exponent of those of 32."""
    return not _BRAIN.isdisjoint(text.features)


Shapes = Mapping[str, Sequence[EncodingModel]]
"""The models of a name, by shape."""


@cache
def models(table: str) -> "Models":
    """Return the models of a table."""
    return Models(table, data_text(f"encodings_{table}.txt"))


class Models:
    """The data of a table, parsed name by name as they are asked for."""

    def __init__(self, table: str, text: str) -> None:
        """Take the text of a file: a head, and a paragraph for each name."""
        _, *paragraphs = text.split("\n\n")
        self._texts = {name: rows for name, _, rows in (paragraph.partition("\n") for paragraph in paragraphs)}
        self._known: dict[str, Shapes] = {}
        self._everything = COMPARED[table]
        self.reusing = frozenset(self._texts.pop(REUSING, "").split())
        """The names whose registers are marked where they are read again."""
        self.unset = tuple(frozenset(self._texts.pop(kind, "").split()) for kind in UNSET)
        """What sets no barrier for its result, and what sets none for its sources: names, names with shapes, and these with features."""

    def of(self, name: str) -> Shapes:
        """Return what is known of a name."""
        known = self._known.get(name)
        if known is None:
            self._known[name] = known = self._shapes(self._texts.get(name, ""))
        return known

    def _shapes(self, rows: str) -> Shapes:
        out: dict[str, list[EncodingModel]] = {}
        current: list[EncodingModel] = []
        for row in rows.splitlines():
            if row.startswith("\t"):
                current.append(self._model(row[1:].split("\t")))
            else:
                current = out.setdefault(row.removeprefix(NO_OPERANDS), [])
        return out

    def _model(self, row: Sequence[str]) -> EncodingModel:
        arches, slots, ignored, base, weights, ties = row
        known = tuple(map(slot_of, slots.split()))
        care = self._everything & ~mask_of(ignored)
        for slot in known:
            care &= ~slot.mask
        pairs = (each.rpartition("=") for each in weights.split())
        listed = [(each.startswith("0:"), frozenset(each.removeprefix("0:").split(","))) for each in ties.split()]
        return EncodingModel(
            arches,
            known,
            care,
            mask_of(base),
            {feature: mask_of(bits) for feature, _, bits in pairs},
            tuple(tie for even, tie in listed if not even),
            tuple(tie for even, tie in listed if even),
        )


REUSING = ".reuse"
"""The paragraph of the data with the names whose registers are marked where they are read again, or cannot be."""
UNSET = (".result", ".sources")
"""The paragraphs with what sets no barrier when its result is written, and none when its sources are read: `EXIT`, `BMOV:B#,R#`,
`CCTL::.IVALL`."""
NO_OPERANDS = "-"
"""In the data, the shape of a text without operands."""
COMPARED = {"maxwell": (1 << 64) - 1, "volta": (1 << 105) - 1}
"""The bits that models say something of: without the control code."""


def mask_of(listed: str) -> int:
    """Return the bits that a word of the data lists: `12-15+72`."""
    out = 0
    for part in listed.split("+") if listed else ():
        first, _, last = part.partition("-")
        out |= (1 << int(last or first) - int(first) + 1) - 1 << int(first)
    return out


def listed(mask: int) -> str:
    """Return bits as the data list them."""
    parts: list[str] = []
    bit = 0
    while mask >> bit:
        if mask >> bit & 1:
            last = bit
            while mask >> last + 1 & 1:
                last += 1
            parts.append(f"{bit}-{last}" if last > bit else f"{bit}")
            bit = last
        bit += 1
    return "+".join(parts)


@lru_cache(maxsize=_VALUES)
def _bits(value: str, kind: str) -> int | None:
    """Return the index of a register or the bits of a number as one of a kind, None if it is none; RZ and PT are -1."""
    if value[0] in _REGISTERS:
        digits = value.lstrip(_REGISTERS)
        return None if kind != "r" else int(digits) if digits.isdigit() else -1
    if "0x" in value:
        return int(value, 16) if kind == "i" else None
    if kind == "r" or value.endswith("NAN"):
        return None
    number = float(value.replace("INF", "inf"))
    if kind == "i":
        return int(number) if number.is_integer() else None
    number_format, bits_format = _FLOATS[kind]
    try:
        packed = struct.pack(number_format, number)
    except OverflowError:
        return 1 << 64  # more than it holds
    return int(struct.unpack(bits_format, packed)[0])


def _not_a_number(value: str, kind: str, runs: Sequence[BitRun]) -> BitPattern:
    bits, highest = _NOT_NUMBERS[kind]
    mask = (1 << bits) - (1 << highest)
    printed = mask & ~((value[0] != "-") << bits - 1 | ("S" in value) << highest)
    out = [0, 0]
    for run in runs:
        for index, part in enumerate((mask, printed)):
            out[index] |= (part >> run.shift & (1 << run.bits) - 1) << run.first
    return BitPattern(*out)
