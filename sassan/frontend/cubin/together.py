"""The text of several cubins from one start of nvdisasm, most of whose time for a small kernel goes by before it reads one.

A cubin without relocations of its code and without names inside it is no more than the bytes of its functions to nvdisasm: those of all are
put into one ELF file, each under a name of its own, and the text of each is what is printed under its names. Their labels have other
numbers than those of one file alone, what only symbols or debug sections point at has none, and they come in the order of the file.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from sassan.errors import InputError, MissingToolError
from sassan.frontend.cubin import disassembly
from sassan.frontend.cubin.debug import check_debug
from sassan.frontend.cubin.elf import Elf, ElfSection
from sassan.frontend.image import Image

_TEXT = ".text."
_RELOCATED = (".rel.text.", ".rela.text.")
_HEADER, _ALIGN = 64, 128
_FUNCTION, _ENTRY = 0x12, 0x10
"""A global symbol of a function (STT_FUNC), and STO_CUDA_ENTRY."""
_REGISTERS = 24
"""The registers of a function are in the high byte of sh_info."""
_NAMES, _SYMBOLS, _FIRST = 2, 3, 4
"""Places of the sections: the names of symbols, the symbols, the first function."""
_SECTION = re.compile(r"^//-+ \.text\.(\S+) +-+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of one of the cubins, its section and the name that it has among all."""

    image: int
    section: ElfSection
    code: bytes
    alias: str


def read_ahead(images: Sequence[Image]) -> int:
    """Disassemble cubins that are read next without the cache, as many of them as go together; return their number."""
    groups: dict[int, list[tuple[Image, Elf]]] = {}
    for image in {image.data: image for image in images}.values():
        elf = _simple(image)
        if elf is not None:
            groups.setdefault(elf.sm, []).append((image, elf))
    return sum(_group(sm, several) for sm, several in groups.items() if len(several) > 1)


def _simple(image: Image) -> Elf | None:
    """Return the frame of a cubin whose code nvdisasm reads alone, else None; errors are for who reads it."""
    try:
        elf = Elf(image)
        elf.check_symbols()
        check_debug(image, elf)
        plain = elf.is_cubin and elf.sm >= disassembly.PLAIN_SINCE and elf.code and not elf.copies and not elf.inner_symbols()
    except InputError:
        return None
    return elf if plain and not any(section.name.startswith(_RELOCATED) for section in elf.sections) else None


def _group(sm: int, several: Sequence[tuple[Image, Elf]]) -> int:
    functions = [
        _Function(number, section, elf.bytes_of(section), f"sassan_{number}_{place}_")
        for number, (_, elf) in enumerate(several)
        for place, section in enumerate(elf.code)
    ]
    try:
        text = disassembly.plain_text(Image("several cubins", _joined(several[0][0].data, functions)), sm)
    except (InputError, MissingToolError):
        return 0
    head, *rest = _SECTION.split(text)
    listed = dict(zip(rest[::2], rest[1::2], strict=True))
    known = 0
    for number, (image, _) in enumerate(several):
        members = [each for each in functions if each.image == number]
        if all(each.alias in listed for each in members):
            parts = [_named(f"//--- {_TEXT}{each.alias} ---{listed[each.alias]}", each) for each in members]
            known += disassembly.keep_ahead(image, sm, "".join([head, *parts]))
    return known


def _named(text: str, function: _Function) -> str:
    return text.replace(function.alias, function.section.name.removeprefix(_TEXT))


def _joined(first: bytes, functions: Sequence[_Function]) -> bytes:
    """Return an ELF file with nothing but functions; its header is that of a cubin of the same architecture."""
    body = bytearray(first[:_HEADER])
    names, symbol_names, symbols = bytearray(b"\0"), bytearray(b"\0"), bytearray(24)
    code: list[tuple[int, ...]] = []
    frame = [_named_at(names, name) for name in (".shstrtab", ".strtab", ".symtab")]
    for place, each in enumerate(functions):
        symbols += struct.pack("<IBBHQQ", _named_at(symbol_names, each.alias), _FUNCTION, _ENTRY, _FIRST + place, 0, len(each.code))
        info = each.section.info >> _REGISTERS << _REGISTERS | place + 1
        at = _put(body, each.code, _ALIGN)
        code.append((_named_at(names, _TEXT + each.alias), 1, each.section.flags, 0, at, len(each.code), _SYMBOLS, info, _ALIGN, 0))
    sections = [
        (0,) * 10,
        (frame[0], 3, 0, 0, _put(body, names), len(names), 0, 0, 1, 0),
        (frame[1], 3, 0, 0, _put(body, symbol_names), len(symbol_names), 0, 0, 1, 0),
        (frame[2], 2, 0, 0, _put(body, symbols), len(symbols), _NAMES, 1, 8, 24),
        *code,
    ]
    table = _put(body, b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in sections))
    struct.pack_into("<QQ", body, 32, 0, table)  # no segments
    struct.pack_into("<HHHHH", body, 54, 56, 0, 64, len(sections), 1)
    return bytes(body)


def _named_at(names: bytearray, name: str) -> int:
    at = len(names)
    names += name.encode() + b"\0"
    return at


def _put(body: bytearray, data: bytes | bytearray, align: int = 8) -> int:
    body += bytes(-len(body) % align)
    at = len(body)
    body += data
    return at
