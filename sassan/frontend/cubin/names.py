"""Names of kernel parameters from the debug information of `nvcc -G` (DWARF 2 to 4): formal parameters in the order of the source.

Only the needed entries are read, in one pass from front to end; no reference is followed. Data that is truncated, too large or of
another version yields no names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sassan.frontend.cubin.elf import Elf

_MOST = 1 << 22
"""Limit on the attributes, and on the bytes of names and of abbreviations: those of a large program, read in a few seconds."""
_VERSIONS = (2, 3, 4)
_SUBPROGRAM, _FORMAL_PARAMETER = 0x2E, 0x05
_NAME, _LINKAGE_NAME, _MIPS_LINKAGE_NAME = 0x03, 0x6E, 0x2007
_NAMES = (_MIPS_LINKAGE_NAME, _LINKAGE_NAME, _NAME)
"""The attributes that may hold the name of a symbol, by priority."""
_ADDRESS = 8
# DWARF 4, section 7.5.4: forms of a fixed size in bytes, blocks after a length of so many bytes, and LEB128 numbers.
_FIXED = {
    0x01: _ADDRESS,
    0x0B: 1,
    0x05: 2,
    0x06: 4,
    0x07: 8,
    0x0C: 1,
    0x10: 4,
    0x11: 1,
    0x12: 2,
    0x13: 4,
    0x14: 8,
    0x17: 4,
    0x19: 0,
    0x20: 8,
}
_BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4}
_NUMBERS = (0x0D, 0x0F, 0x15)
_STRING, _STRP, _LONG_BLOCK, _EXPRESSION = 0x08, 0x0E, 0x09, 0x18


class _UnreadableError(Exception):
    """The bytes cannot be read."""


@dataclass(slots=True)
class _Bytes:
    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if self.at + size > len(self.data):
            raise _UnreadableError
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        """Return the next unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def leb(self) -> int:
        """Return the next LEB128 number."""
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the continuation bit
                return value
            if shift > 63:  # noqa: PLR2004 - no number is longer
                raise _UnreadableError

    def text(self) -> str:
        """Return the next text, which ends with a zero."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise _UnreadableError
        return self.take(end + 1 - self.at)[:-1].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Kind:
    """An abbreviation: the tag of an entry, whether it has children, and its attributes as (attribute, form)."""

    tag: int
    children: bool
    attributes: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry `depth` levels below its unit, with its texts by attribute."""

    depth: int
    tag: int
    texts: dict[int, str] = field(default_factory=dict[int, str])


def parameter_names(elf: Elf) -> dict[str, tuple[str, ...]]:
    """Return the names of the parameters, in order, of each function in the debug information, by its symbol."""
    sections = [elf.by_name.get(name) for name in (".debug_info", ".debug_abbrev", ".debug_str")]
    info, kinds, texts = (elf.bytes_of(section) if section is not None and section.size <= _MOST else b"" for section in sections)
    if not info or not kinds:
        return {}
    try:
        return _described(_entries(_Bytes(info), kinds, texts))
    except _UnreadableError:
        return {}


def _described(entries: Iterator[_Entry]) -> dict[str, tuple[str, ...]]:
    """Return the parameters of every function; none of two functions with the same name, which are ambiguous."""
    parameters: dict[str, tuple[str, ...]] = {}
    twice: set[str] = set()
    function, depth = "", 0
    for entry in entries:
        if entry.tag == _SUBPROGRAM:
            function, depth = next((entry.texts[key] for key in _NAMES if key in entry.texts), ""), entry.depth
            twice |= {function} & set(parameters)
            parameters[function] = ()
        elif entry.depth <= depth:
            function = ""
        elif entry.tag == _FORMAL_PARAMETER and function and entry.depth == depth + 1:
            parameters[function] += (entry.texts.get(_NAME, ""),)
    return {name: names for name, names in parameters.items() if name and name not in twice}


def _entries(info: _Bytes, kinds: bytes, texts: bytes) -> Iterator[_Entry]:
    """Yield the entries of all units in order."""
    tables: dict[int, dict[int, _Kind]] = {}
    left = _MOST
    while info.at < len(info.data):
        size = info.number(4)
        unit = _Bytes(info.take(size))
        version, table, address = unit.number(2), unit.number(4), unit.number(1)
        if version not in _VERSIONS or address != _ADDRESS:
            raise _UnreadableError
        if table not in tables:
            abbreviations = _Bytes(kinds, table)
            tables[table] = _kinds(abbreviations)
            left -= abbreviations.at - table
        depth = 0
        while unit.at < len(unit.data):
            code = unit.leb()
            if not code:
                depth -= 1
                continue
            kind = tables[table].get(code)
            if kind is None or left < 0:
                raise _UnreadableError
            attributes = {key: value for key, form in kind.attributes if (value := _value(unit, form, texts))}
            left -= 1 + len(kind.attributes) + sum(map(len, attributes.values()))
            yield _Entry(depth, kind.tag, attributes)
            depth += kind.children


def _kinds(table: _Bytes) -> dict[int, _Kind]:
    """Return the abbreviations of a table by their code."""
    kinds: dict[int, _Kind] = {}
    while code := table.leb():
        tag, children = table.leb(), table.number(1)
        attributes: list[tuple[int, int]] = []
        while any(pair := (table.leb(), table.leb())):
            attributes.append(pair)
        kinds[code] = _Kind(tag, bool(children), tuple(attributes))
    return kinds


def _value(unit: _Bytes, form: int, texts: bytes) -> str:
    """Return the text of an attribute, '' for other values."""
    if form == _STRING:
        return unit.text()
    if form == _STRP:
        return _Bytes(texts, unit.number(4)).text()
    if form in _FIXED:
        unit.take(_FIXED[form])
    elif form in _BLOCKS:
        unit.take(unit.number(_BLOCKS[form]))
    elif form in (_LONG_BLOCK, _EXPRESSION):
        unit.take(unit.leb())
    elif form in _NUMBERS:
        unit.leb()
    else:
        raise _UnreadableError
    return ""
