"""Which bits of an encoding hold the registers, numbers and modifiers of a text (`data/operands_*.txt`), held against the text.

The *form* of an instruction is its text without the values of registers and numbers (`IADD3 R#, -R#, c[#][#], R#`), its *shape* the kinds
of the operands (`R#,R#,c[#][#],R#`). For the value of the opcode field and a shape, the data name the place of each value; for a form,
what all other bits have been seen to be. A disassembler prints a form because of these bits: where they are those of another form, the
text is not that of the encoding. What the data do not have is not compared. `scripts/build_operand_fields` writes them.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from sassan.isa.loading import data_text

_VALUE = re.compile(
    r"(?<![\w.])(?:(?P<file>U?[RP]|S?B)(?:\d+|[ZT])(?!\w)|-?0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])|[-+](?:INF|QNAN|SNAN)(?!\w))"
)
_GUARD = re.compile(r"@!?U?P\w+ ")
_NO_KIND = re.compile(r"[-~!| ]|\.[A-Z0-9_]+")
_NEGATABLE = {"maxwell": frozenset({12, 29, 39}), "volta": frozenset({24, 68, 77, 87})}
"""First bits of the predicates that an instruction reads: the bit behind such a predicate is its `!`."""
_FEW, _BYTE, _OFFSETS = 5, 8, frozenset({(37, 16), (38, 16)})
"""So few bits of a predicate and of an integer, and those of a constant's offset and of an R, hold all of a value; others may have more."""
_PREDICATES, _ALL = 8, 0xFF
"""As many predicates are there; the bits of a UR above 63, which are more than those of the others."""
SYMBOL = "("
"""Of a form that has a symbol in the place of a number: the linker writes that number."""
_SWAP = re.compile(r"ATOMS?(?:\.E)?\.CAS(\.64)? .*, R#, R#$")
"""Until Pascal the registers to compare with and to store follow each other, and an encoding has the first."""
_PLACE = re.compile(r"([rifdh])([0-9]+)\+([0-9]+)(?:<([0-9]+))?(?:,([0-9]+)\+([0-9]+))?")
_ZERO = 1 << 128
_FLOATS = {"f": ("<f", "<I", 0), "d": ("<d", "<Q", 32), "h": ("<e", "<H", 0)}
"""Kinds of floats: the format, that of its bits, and how many of the low bits no instruction holds."""
_TOO_LARGE = -1
"""The bits of a number that its format does not have."""
_TEXTS = 8192
ARCHITECTURES = ((50, "m"), (60, "p"), (70, "v"), (75, "t"), (80, "a"), (90, "h"), (100, "b"), (120, "w"))
"""The first number of each range of architectures that the data tell apart, and its letter in them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Bits of an encoding: of a register (kind `r`), of an integer (`i`) or a float (`f`, `d`, `h`) without its `dropped` low bits.

    `high` is where the upper bits are, as (first bit, bits), if they do not follow the others.
    """

    kind: str
    first: int
    low: int
    dropped: int = 0
    high: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        """As in the data: `f20+19<12`, `i64+3,72+5`."""
        dropped = f"<{self.dropped}" if self.dropped else ""
        return f"{self.kind}{self.first}+{self.low}{dropped}" + (f",{self.high[0]}+{self.high[1]}" if self.high[1] else "")

    @property
    def bits(self) -> int:
        """How many bits it has."""
        return self.low + self.high[1]

    @property
    def mask(self) -> int:
        """Its bits in an encoding."""
        return (1 << self.low) - 1 << self.first | (1 << self.high[1]) - 1 << self.high[0]

    def of(self, word: int) -> int:
        """Return what an encoding has here."""
        return word >> self.first & (1 << self.low) - 1 | (word >> self.high[0] & (1 << self.high[1]) - 1) << self.low

    def fits(self, value: str, word: int) -> bool | None:
        """Whether an encoding has a register or number here, None for one that is not of this kind."""
        bits = _bits(value, self.kind)
        if bits is None:
            return None
        if self.kind == "i" and bits & (1 << self.dropped) - 1:
            return False
        if self.kind == "i" and self.bits <= _FEW and bits < 0:
            return False
        if value[0] == "U" and bits >= 1 << self.bits > _PREDICATES:
            return word >> self.first & _ALL == bits
        narrow = self.bits <= _BYTE or self.dropped or (self.first, self.bits) in _OFFSETS
        whole = value[0] == "R" or self.bits <= _FEW or (self.kind == "i" and bool(narrow))
        return (bits >> self.dropped) & (1 << self.bits) - 1 == self.of(word) and not (whole and bits >> self.bits > 0)


class Written(NamedTuple):
    """The form and the shape of an instruction's text, its registers and numbers in order, and whether a `!` is before each."""

    form: str
    shape: str
    values: tuple[str, ...]
    negated: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """What is known of a value: that it is at one of some places; or that it is the same wherever its form has been seen."""

    places: tuple[Place, ...] = ()
    constant: str = ""

    def __str__(self) -> str:
        """As in the data: `r0+8|r8+8`, `=PT`, `.` for nothing."""
        return f"={self.constant}" if self.constant else "|".join(map(str, self.places)) or "."

    @property
    def place(self) -> Place | None:
        """The place, if only one is possible."""
        return self.places[0] if len(self.places) == 1 else None

    def excludes(self, value: str, word: int) -> bool:
        """Whether an encoding has another value."""
        return bool(self.places) and all(place.fits(value, word) is False for place in self.places)


@dataclass(frozen=True, slots=True)
class Form:
    """The values of a form; what the bits that hold none have been seen to be, and on which architectures."""

    name: str
    slots: tuple[Slot, ...]
    seen: Mapping[int, str]

    def rest(self, word: int) -> int:
        """Return an encoding without its values, but with RZ, PT, and a mark for each 0: these may be printed in another form."""
        flag = _ZERO
        for slot in self.slots:
            flag <<= 1
            place = slot.place
            if place is None or (value := word & place.mask) == place.mask:
                continue
            word ^= value
            if not value and place.kind != "r":
                word |= flag
        return word


@dataclass(frozen=True, slots=True)
class _Opcode:
    slots: Mapping[str, tuple[Slot, ...]]
    """By shape."""
    forms: Mapping[str, Form]


@lru_cache(maxsize=_TEXTS)
def written(text: str, *, target: bool = False) -> Written:
    """Return the parts of a text without its guard, its `.reuse`, and its last operand if that is a `target`."""
    values: list[str] = []
    negated: list[bool] = []

    def mark(value: re.Match[str]) -> str:
        values.append(value[0])
        negated.append(value.string[: value.start()].endswith("!"))
        return f"{value['file'] or ''}#"

    opcode, _, operands = _GUARD.sub("", text, count=1).replace(".reuse", "").partition(" ")
    marked = _VALUE.sub(mark, operands.rpartition(" ")[0] if target else operands).replace(" ,", ",")
    return Written(f"{opcode} {marked}", _NO_KIND.sub("", marked), tuple(values), tuple(negated))


class Operands(NamedTuple):
    """What is compared of an instruction: its encoding without guard, target and control code, the value of the opcode field, and its text.

    `arch` is the letter of the architecture (`ARCHITECTURES`).
    """

    arch: str
    code: int
    text: Written
    word: int


def difference(table: str, operands: Operands) -> str:
    """Return what an encoding has otherwise than its text, '' for nothing that is known."""
    _, code, text, word = operands
    opcode = opcodes(table).get(code)
    if opcode is None:
        return ""
    slots = opcode.slots.get(text.shape, ())
    for value, slot, negated in zip(text.values, slots, text.negated, strict=False):
        if slot.excludes(value, word):
            return f"0x{slot.places[0].of(word):x} in the place of '{value}'"
        if slot.place and "P" in value and slot.place.first in _NEGATABLE[table] and _negated(slot.place, word) != negated:
            return f"'{value}' {'without' if negated else 'with'} a '!'"
    if table == "maxwell" and (swap := _SWAP.search(text.form)):
        follows = _following(text.values[-2], 2 if swap[1] else 1)
        if follows != text.values[-1]:
            return f"'{follows}' in the place of '{text.values[-1]}'"
    return _of_form(opcode, slots, operands)


def _of_form(opcode: _Opcode, slots: tuple[Slot, ...], operands: Operands) -> str:
    text, word = operands.text, operands.word
    form = opcode.forms.get(text.form)
    if form is not None and form.rest(word) in form.seen:
        wrong = ((value, slot) for value, slot in zip(text.values, slots, strict=False) if slot.constant not in {"", value})
        return next((f"'{slot.constant}' in the place of '{value}'" for value, slot in wrong), "")
    if SYMBOL in text.form:
        return ""
    return next((f"the form '{other.name}'" for other in opcode.forms.values() if _is_of(other, form, operands)), "")


def _following(register: str, count: int) -> str:
    return f"R{int(register[1:]) + count}" if register[1:].isdigit() else register


def _negated(predicate: Place, word: int) -> bool:
    return bool(word >> predicate.first + predicate.bits & 1)


def _is_of(other: Form, form: Form | None, operands: Operands) -> bool:
    """Whether an encoding is of another form, and not only where these differ by the values: an IMAD.SHL is an IMAD by a power of two."""
    if form is None and not _is_printed(other.name, operands.text.values):
        return False
    # Architectures print the same bits in different ways: with and without `desc[UR4]`.
    return operands.arch in other.seen.get(other.rest(operands.word), "") and (form is None or form.seen.keys().isdisjoint(other.seen))


def _is_printed(name: str, values: tuple[str, ...]) -> bool:
    """Whether a form is printed for such values: an IMAD by another number than 1 is no IMAD.IADD, and by no power of two no IMAD.SHL."""
    if ".IADD" not in name and ".SHL" not in name:
        return True
    factors = [int(value, 16) for value in values if value.startswith("0x")]
    return any(factor == 1 if ".IADD" in name else factor.bit_count() == 1 for factor in factors)


@cache
def opcodes(table: str) -> "Opcodes":
    """Return what is known of the opcodes of a table."""
    return Opcodes(data_text(f"operands_{table}.txt"))


class Opcodes:
    """The data of a table, parsed opcode by opcode as they are asked for."""

    def __init__(self, text: str) -> None:
        """Take the text of a file: a head, and a paragraph for each value of the opcode field."""
        _, *paragraphs = text.split("\n\n")
        self._texts = {int(code, 16): rows for code, _, rows in (paragraph.partition("\n") for paragraph in paragraphs)}
        self._known: dict[int, _Opcode] = {}

    def get(self, code: int) -> _Opcode | None:
        """Return what is known of a value of the opcode field."""
        if code not in self._known and code in self._texts:
            self._known[code] = _opcode(self._texts[code])
        return self._known.get(code)


def _opcode(rows: str) -> _Opcode:
    slots: dict[str, tuple[Slot, ...]] = {}
    forms: dict[str, Form] = {}
    current: tuple[Slot, ...] = ()
    for row in rows.splitlines():
        name, _, listed = row.partition(" = ")
        if name.startswith(" "):
            forms[name[1:]] = Form(name[1:], current, _seen(listed))
        else:
            slots[name] = current = tuple(map(_slot, listed.split()))
    return _Opcode(slots, forms)


def _seen(listed: str) -> dict[int, str]:
    pairs = (each.partition(":") for each in listed.split())
    return {int(rest, 16): arches for rest, _, arches in pairs}


def _slot(text: str) -> Slot:
    if text.startswith("="):
        return Slot(constant=text[1:])
    return Slot(tuple(map(place_of, text.split("|")))) if text != "." else Slot()


def place_of(text: str) -> Place:
    """Return the place that a word of the data names."""
    match = _PLACE.fullmatch(text)
    assert match is not None, text
    return Place(match[1], int(match[2]), int(match[3]), int(match[4] or 0), (int(match[5] or 0), int(match[6] or 0)))


@lru_cache(maxsize=_TEXTS)
def _bits(value: str, kind: str) -> int | None:
    """Return the bits of a register's index or a number as one of a kind, None if it is none; RZ and PT are all ones."""
    if value[0] in "URPSB":
        digits = value.lstrip("URPSB")
        return None if kind != "r" else int(digits) if digits.isdigit() else -1
    if "0x" in value:
        return int(value, 16) if kind == "i" else None
    if kind == "r" or "NAN" in value:
        return None
    number = float(value.replace("INF", "inf"))
    if kind == "i":
        return int(number) if number.is_integer() else None
    number_format, bits_format, low = _FLOATS[kind]
    try:
        packed = struct.pack(number_format, number)
    except OverflowError:
        return _TOO_LARGE
    return int(struct.unpack(bits_format, packed)[0]) >> low
