"""The ELF frame of a cubin: every offset, size and count is checked before anything is read through it.

pyelftools decodes the headers; it never follows a reference. The two generations of cubins differ in EI_OSABI: 51 up to CUDA 12,
with the SM number in the low byte of e_flags, and 65 since, with it in bits 8 to 15.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from sassan.errors import InputError
from sassan.frontend.image import Image
from sassan.ir import FunctionPointer
from sassan.source import Source

_HEADER, _SECTION, _SEGMENT, _SYMBOL = 64, 64, 56, 24
"""Bytes of the headers and of a symbol in 64-bit ELF."""
_EI_CLASS, _EI_DATA, _EI_VERSION, _EI_OSABI = 4, 5, 6, 7
_FLAGS_32 = 36
_MACHINE_CUDA = 190
_OLD_ABI, _NEW_ABI = 51, 65
_LAST_SECTION = 0xFEFF
"""Larger counts are stored elsewhere in ELF, and are refused: the headers alone would take seconds."""
_LAST_SEGMENT = 4096
_OBJECT, _FUNCTION, _SECTION_SYMBOL = 1, 2, 3
"""STT_OBJECT: the symbol of a variable; STT_FUNC: that of a function; STT_SECTION: that of a section."""
_ADDRESS = 2
"""R_CUDA_64: the address of a symbol, of 64 bits."""
_NULL, _PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOBITS, _REL = 0, 1, 2, 3, 4, 8, 9
_EXECUTABLE, _ALLOC_EXEC = 0x4, 0x6
_COMPRESSED = 0x800
_INFO_LINK = 0x40
"""SHF_INFO_LINK: the section belongs to the one whose index is in sh_info."""
_OWNED = (".nv.info.", ".nv.constant", ".nv.shared.", ".nv.local.", ".rel.", ".rela.")
_RELOCATIONS = ((".rel.", _REL), (".rela.", _RELA))
_ENTRIES = {_REL: 16, _RELA: 24}
"""Bytes of a relocation."""
_LONGEST_CHAIN = 4
"""`.rela.nv.constant2.k` belongs to `.nv.constant2.k`, which belongs to `.text.k`."""
_TEXT = ".text."
_NAMES_LIMIT = 64 * 1024 * 1024
"""Limit on the bytes of all section names together; names may share their ends."""
_CONTROL_CHARACTERS = re.compile(rb"[\x01-\x1f\x7f]")

# The names of pyelftools for the section types that are used; unknown types stay numbers.
_TYPES = {
    "SHT_NULL": _NULL,
    "SHT_PROGBITS": _PROGBITS,
    "SHT_SYMTAB": _SYMTAB,
    "SHT_STRTAB": _STRTAB,
    "SHT_RELA": _RELA,
    "SHT_NOBITS": _NOBITS,
    "SHT_REL": _REL,
}


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A checked section header; `type` is -1 for the types that are not used here."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int

    @property
    def is_code(self) -> bool:
        """Say whether the section is a function's text."""
        return self.name.startswith(_TEXT)


class Elf:
    """An ELF file with consistent headers; of a host program only the headers that lead to its sections are checked."""

    def __init__(self, image: Image) -> None:
        """Check all headers; raises InputError malformed-elf, unsupported-elf or too-large."""
        # Imported here because only cubins need it, and `sassan --help` needs neither.
        from elftools.common.exceptions import ELFParseError  # noqa: PLC0415
        from elftools.common.utils import struct_parse  # noqa: PLC0415
        from elftools.elf.structs import ELFStructs  # noqa: PLC0415

        self._image = image
        self._data = image.data
        _check_class(image)
        self._stream = BytesIO(self._data)
        self._structs = ELFStructs(little_endian=True, elfclass=64)
        self._structs.create_basic_structs()
        self._structs.create_advanced_structs()
        self._parse = struct_parse
        self._truncated = ELFParseError
        self._header = self._decode("Elf_Ehdr", 0, _HEADER)
        self._check_segments()
        self.sections = self._read_sections()
        if self.is_cubin:
            self._check_owners()

    @property
    def is_cubin(self) -> bool:
        """Say whether the file is for a GPU."""
        return self._header["e_machine"] in ("EM_CUDA", _MACHINE_CUDA)

    @property
    def sm(self) -> int:
        """Return the number of the SM architecture; raises InputError unsupported-elf for a file of an unknown generation."""
        return sm_of(self._image)

    @cached_property
    def by_name(self) -> dict[str, ElfSection]:
        """Return the sections by name, the first of each name; raises InputError as `copies` does."""
        copies = self.copies
        sections: dict[str, ElfSection] = {}
        for number, section in enumerate(self.sections):
            if number not in copies:
                sections.setdefault(section.name, section)
        return sections

    @cached_property
    def copies(self) -> frozenset[int]:
        """Return the places of sections of code that repeat one before of the same name: nvlink keeps the local functions of each object.

        Raises InputError where they differ, or could by their relocations: no name would tell them apart.
        """
        first: dict[str, int] = {}
        copies: set[int] = set()
        for number, section in enumerate(self.sections):
            if section.is_code and section.name in first:
                copies |= {first[section.name], number}
                if self.bytes_of(section) != self.bytes_of(self.sections[first[section.name]]):
                    raise malformed(self._image, f"two sections of different code are called '{section.name}'")
            elif section.is_code:
                first[section.name] = number
        for section in self.sections:
            if section.type in {_REL, _RELA} and section.info in copies:
                raise malformed(self._image, f"two sections are called '{self.sections[section.info].name}', and one has relocations")
        return frozenset(copies - set(first.values()))

    @cached_property
    def code(self) -> tuple[ElfSection, ...]:
        """Return the text sections in the order of the file, without copies.

        Raises InputError if other sections are code, or these are not.
        """
        for section in self.sections:
            if section.type == _PROGBITS and section.flags & _EXECUTABLE and not section.is_code:
                raise malformed(self._image, f"the section '{section.name}' is marked as code, but is not the text of a function")
        sections = tuple((number, section) for number, section in enumerate(self.sections) if section.is_code and section.size)
        for _, section in sections:
            if section.type != _PROGBITS or section.flags & _ALLOC_EXEC != _ALLOC_EXEC:
                raise malformed(self._image, f"the section '{section.name}' is not marked as code")
        end, before = 0, ""
        for _, section in sorted(sections, key=lambda each: each[1].offset):
            if section.offset < end:
                raise malformed(self._image, f"the sections '{before}' and '{section.name}' overlap")
            end, before = section.offset + section.size, section.name
        return tuple(section for number, section in sections if number not in self.copies)

    def bytes_of(self, section: ElfSection) -> bytes:
        """Return the contents of a section, b'' if it has none in the file."""
        if section.type in (_NULL, _NOBITS):
            return b""
        return self._data[section.offset : section.offset + section.size]

    def symbol_name(self, index: int) -> str:
        """Return the name of a symbol; raises InputError when there is none."""
        table, names = self._symbol_table
        if not 0 <= index < len(table) // _SYMBOL:
            raise malformed(self._image, f"there is no symbol {index}")
        return _name_at(self._image, names, int.from_bytes(table[index * _SYMBOL : index * _SYMBOL + 4], "little"))

    @cached_property
    def _symbol_table(self) -> tuple[bytes, bytes]:
        """Return the bytes of the symbols and those of their names."""
        tables = [section for section in self.sections if section.type == _SYMTAB]
        if len(tables) != 1:
            raise malformed(self._image, f"expected one symbol table, found {len(tables)}")
        table = tables[0]
        if table.size % _SYMBOL or self.sections[table.link].type != _STRTAB:
            raise malformed(self._image, "the symbol table has incomplete entries, or no names")
        names = self.bytes_of(self.sections[table.link])
        self._check_names(names)
        return self.bytes_of(table), names

    def function_pointers(self, name: str) -> tuple[FunctionPointer, ...]:
        """Return the addresses of functions that relocations put into a section, in order of offsets.

        Raises InputError where a relocation is incomplete, or its symbol is missing.
        """
        section = self.by_name.get(name)
        contents = b"" if section is None else self.bytes_of(section)
        out: set[FunctionPointer] = set()
        for prefix, kind in _RELOCATIONS:
            relocations = self.by_name.get(f"{prefix[:-1]}{name}")
            for place, how, symbol, addend in self._relocations(relocations, kind) if relocations is not None else ():
                function = self._function_symbol(symbol)
                addend_in_place = int.from_bytes(contents[place : place + 8], "little") if kind == _REL else addend
                if function is not None and how == _ADDRESS and not addend_in_place:
                    out.add(FunctionPointer(place, *function))
        return tuple(sorted(out))

    def _relocations(self, section: ElfSection, kind: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the place, the type, the symbol and the addend of each relocation."""
        size, contents = _ENTRIES[kind], self.bytes_of(section)
        if len(contents) % size:
            raise malformed(self._image, f"the section '{section.name}' has an incomplete relocation")
        for at in range(0, len(contents), size):
            place, how, symbol = (int.from_bytes(contents[at + a : at + b], "little") for a, b in ((0, 8), (8, 12), (12, 16)))
            yield place, how, symbol, int.from_bytes(contents[at + 16 : at + size], "little")

    def _function_symbol(self, index: int) -> tuple[str, bool] | None:
        """Return the name of a symbol and whether it is defined elsewhere, None where it is not a function."""
        name, (table, _) = self.symbol_name(index), self._symbol_table
        kind, section = table[index * _SYMBOL + 4], table[index * _SYMBOL + 6 : index * _SYMBOL + 8]
        return (name, not any(section)) if kind & 0xF == _FUNCTION else None

    def variables(self) -> dict[str, int]:
        """Return the size in bytes of every variable in the symbol table; raises InputError when there is no table."""
        table, names = self._symbol_table
        sizes: dict[str, int] = {}
        for at in range(0, len(table), _SYMBOL):
            name, kind, size = (int.from_bytes(table[at + first : at + last], "little") for first, last in ((0, 4), (4, 5), (16, 24)))
            if kind & 0xF == _OBJECT and size:
                sizes[_name_at(self._image, names, name)] = size
        return sizes

    def inner_symbols(self) -> int:
        """Return how many symbols name places in code other than the start of a function; raises InputError when there is no table."""
        table, names = self._symbol_table
        count = 0
        for at in range(0, len(table), _SYMBOL):
            name, kind, place, value = (
                int.from_bytes(table[at + first : at + last], "little") for first, last in ((0, 4), (4, 5), (6, 8), (8, 16))
            )
            section = self.sections[place] if place < len(self.sections) else None
            if section is not None and section.is_code and kind & 0xF != _SECTION_SYMBOL:
                count += value != 0 or _TEXT + _name_at(self._image, names, name) != section.name
        return count

    def check_symbols(self) -> None:
        """Raise InputError unless there is one symbol table, with names."""
        _ = self._symbol_table

    def _check_names(self, names: bytes) -> None:
        # A name with a line end in it could imitate lines of the disassembly.
        if not names.endswith(b"\0") or _CONTROL_CHARACTERS.search(names):
            raise malformed(self._image, "a table of names is not terminated, or contains control characters")

    def _decode(self, struct: str, offset: int, size: int) -> Any:  # noqa: ANN401 - pyelftools has no types
        if offset + size > len(self._data):
            raise malformed(self._image, f"it ends at byte {len(self._data)}; expected a header at byte {offset}")
        try:
            return self._parse(getattr(self._structs, struct), self._stream, offset)
        except self._truncated:
            raise malformed(self._image, f"the header at byte {offset} cannot be decoded") from None

    def _check_segments(self) -> None:
        offset, count, size = (self._header[key] for key in ("e_phoff", "e_phnum", "e_phentsize"))
        if not count:
            return
        if size != _SEGMENT or count > _LAST_SEGMENT or offset + count * size > len(self._data):
            raise malformed(self._image, f"{count} program headers of {size} bytes at byte {offset} are not in the file")
        for index in range(count):
            header = self._decode("Elf_Phdr", offset + index * size, size)
            if header["p_offset"] + header["p_filesz"] > len(self._data):
                raise malformed(self._image, f"segment {index} is not in the file")

    def _read_sections(self) -> tuple[ElfSection, ...]:
        offset, count, size = (self._header[key] for key in ("e_shoff", "e_shnum", "e_shentsize"))
        if not offset or not count or count > _LAST_SECTION:
            raise malformed(self._image, f"it claims {count} sections at byte {offset}")
        if size != _SECTION or offset + count * size > len(self._data):
            raise malformed(self._image, f"{count} section headers of {size} bytes at byte {offset} are not in the file")
        headers = [self._decode("Elf_Shdr", offset + index * size, size) for index in range(count)]
        index = self._header["e_shstrndx"]
        if not isinstance(index, int) or index >= count or headers[index]["sh_type"] != "SHT_STRTAB":
            raise malformed(self._image, "it has no table of section names")
        for number, header in enumerate(headers):
            self._check_section(number, header, count)
        names = self._data[headers[index]["sh_offset"] : headers[index]["sh_offset"] + headers[index]["sh_size"]]
        self._check_names(names)
        return self._named(headers, names)

    def _check_section(self, number: int, header: Any, count: int) -> None:  # noqa: ANN401 - as above
        kind, align = header["sh_type"], header["sh_addralign"]
        if kind not in ("SHT_NULL", "SHT_NOBITS") and header["sh_offset"] + header["sh_size"] > len(self._data):
            raise malformed(self._image, f"section {number} is not in the file: {header['sh_size']} bytes at byte {header['sh_offset']}")
        if self.is_cubin and (header["sh_link"] >= count or align & (align - 1) or header["sh_flags"] & _COMPRESSED):
            raise malformed(self._image, f"section {number} has a link, an alignment or flags that no cubin has")

    def _check_owners(self) -> None:
        """Refuse sections whose owner contradicts their name, or that own each other: nvdisasm would follow such links for ever."""
        for section in self.sections:
            owner, steps = section, 0
            while owner.flags & _INFO_LINK:
                if owner.info >= len(self.sections) or steps == _LONGEST_CHAIN:
                    raise malformed(self._image, f"the section '{section.name}' has no valid owner")
                owner, steps = self.sections[owner.info], steps + 1
            direct = self.sections[section.info] if section.flags & _INFO_LINK else section
            if section.name.startswith(_OWNED) and not section.name.endswith(direct.name.removeprefix(".text")):
                raise malformed(self._image, f"the section '{section.name}' belongs to '{direct.name}'")
            # With relocations that nvdisasm ignores, calls would lack their targets.
            if any(section.name.startswith(prefix) and section.type != kind for prefix, kind in _RELOCATIONS):
                raise malformed(self._image, f"the section '{section.name}' contains no relocations")

    def _named(self, headers: list[Any], names: bytes) -> tuple[ElfSection, ...]:
        out: list[ElfSection] = []
        total = 0
        for header in headers:
            name = _name_at(self._image, names, header["sh_name"])
            total += len(name)
            if total > _NAMES_LIMIT:
                raise malformed(self._image, "the names of its sections are too long")
            kind = _TYPES.get(header["sh_type"], -1)
            out.append(
                ElfSection(name, kind, header["sh_flags"], header["sh_offset"], header["sh_size"], header["sh_link"], header["sh_info"])
            )
        return tuple(out)


def sm_of(image: Image) -> int:
    """Return the SM number in the header of a cubin, 64-bit or 32-bit.

    Raises InputError unsupported-elf for a file of an unknown generation.
    """
    data = image.data
    at = 48 if data[_EI_CLASS] == 2 else _FLAGS_32  # noqa: PLR2004 - ELFCLASS64
    flags = int.from_bytes(data[at : at + 4], "little")
    abi = data[_EI_OSABI]
    if abi == _OLD_ABI:
        return flags & 0xFF
    if abi == _NEW_ABI:
        return flags >> 8 & 0xFF
    message = f"the cubin has the OS/ABI {abi}; expected {_OLD_ABI} (up to CUDA 12) or {_NEW_ABI} (since)"
    raise InputError("unsupported-elf", message, source=Source(image.name, ""))


def machine_of(image: Image) -> int:
    """Return e_machine of an ELF header, -1 if it is truncated."""
    return int.from_bytes(image.data[18:20], "little") if len(image.data) >= _HEADER else -1


def is_gpu(image: Image) -> bool:
    """Say whether an ELF file is a cubin."""
    return machine_of(image) == _MACHINE_CUDA


def malformed(image: Image, reason: str) -> InputError:
    """Return the error for an ELF file that contradicts itself."""
    hint = "the file is damaged or truncated: create it again"
    return InputError("malformed-elf", f"the ELF file is damaged: {reason}", source=Source(image.name, ""), hint=hint)


def _check_class(image: Image) -> None:
    data = image.data
    if len(data) < _HEADER:
        raise malformed(image, f"it has {len(data)} bytes, less than a header")
    if (data[_EI_CLASS], data[_EI_DATA], data[_EI_VERSION]) != (2, 1, 1):
        message = "the ELF file is not 64-bit, little-endian, version 1, as cubins are"
        raise InputError("unsupported-elf", message, source=Source(image.name, ""))


def _name_at(image: Image, names: bytes, offset: int) -> str:
    if not 0 <= offset < len(names):
        raise malformed(image, f"a name lies outside its table, at byte {offset}")
    return names[offset : names.index(b"\0", offset)].decode("utf-8", "replace")
