"""The ELF frame of a cubin: every offset, size and count is checked before anything is read through it.

pyelftools decodes the headers; it is never asked to follow a reference. Both generations of cubins are told
by EI_OSABI (sass.md): 51 up to CUDA 12, with the SM number in the low byte of e_flags, and 65 since, with it in bits 8 to 15.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from sassan.errors import InputError
from sassan.frontend.image import Image
from sassan.source import Source

_HEADER, _SECTION, _SEGMENT, _SYMBOL = 64, 64, 56, 24
"""Bytes of a header and of a symbol, as 64-bit ELF has them."""
_EI_CLASS, _EI_DATA, _EI_VERSION, _EI_OSABI = 4, 5, 6, 7
_FLAGS_32 = 36
_MACHINE_CUDA = 190
_OLD_ABI, _NEW_ABI = 51, 65
_LAST_SECTION = 0xFEFF
"""More sections are counted elsewhere, and are refused: their headers alone would take seconds."""
_LAST_SEGMENT = 4096
_OBJECT = 1
"""STT_OBJECT: the symbol of a variable."""
_NULL, _PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOBITS, _REL = 0, 1, 2, 3, 4, 8, 9
_EXECUTABLE, _ALLOC_EXEC = 0x4, 0x6
_COMPRESSED = 0x800
_INFO_LINK = 0x40
"""SHF_INFO_LINK: the section belongs to the one whose index is in sh_info."""
_OWNED = (".nv.info.", ".nv.constant", ".nv.shared.", ".nv.local.", ".rel.", ".rela.")
_RELOCATIONS = ((".rel.", _REL), (".rela.", _RELA))
_LONGEST_CHAIN = 4
"""`.rela.nv.constant2.k` belongs to `.nv.constant2.k`, which belongs to `.text.k`."""
_TEXT = ".text."
_NAMES_LIMIT = 64 * 1024 * 1024
"""Bytes of all section names together: names may share their ends, but not to any length."""
_STEERING = re.compile(rb"[\x01-\x1f\x7f]")

# The names that pyelftools gives to the section types that are asked for; it leaves unknown ones numbers.
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
class Section:
    """One section header, checked; `type` is -1 for the types that nothing here reads."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int

    @property
    def is_code(self) -> bool:
        """Return whether the section is a function's text."""
        return self.name.startswith(_TEXT)


class Elf:
    """An ELF file whose headers hold together; of a host program only what leads to its sections is checked."""

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
        """Return whether the file is for a GPU."""
        return self._header["e_machine"] in ("EM_CUDA", _MACHINE_CUDA)

    @property
    def sm(self) -> int:
        """Return the number of the SM architecture; raises InputError unsupported-elf when the file is of no known generation."""
        return sm_of(self._image)

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """Return the sections by name; raises InputError when two sections of code have one name."""
        found: dict[str, Section] = {}
        for one in self.sections:
            if one.is_code and one.name in found:
                raise malformed(self._image, f"two sections are called '{one.name}'")
            found.setdefault(one.name, one)
        return found

    @cached_property
    def code(self) -> tuple[Section, ...]:
        """Return the text sections in the order of the file; raises InputError where they and the code are not the same."""
        for one in self.sections:
            if one.type == _PROGBITS and one.flags & _EXECUTABLE and not one.is_code:
                raise malformed(self._image, f"the section '{one.name}' is marked as code, and no function has that name")
        found = tuple(one for one in self.sections if one.is_code and one.size)
        for one in found:
            if one.type != _PROGBITS or one.flags & _ALLOC_EXEC != _ALLOC_EXEC:
                raise malformed(self._image, f"the section '{one.name}' is not marked as code")
        end, before = 0, ""
        for one in sorted(found, key=lambda section: section.offset):
            if one.offset < end:
                raise malformed(self._image, f"the sections '{before}' and '{one.name}' overlap")
            end, before = one.offset + one.size, one.name
        return found

    def bytes_of(self, section: Section) -> bytes:
        """Return the contents of a section, b'' where the file holds none."""
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
        tables = [one for one in self.sections if one.type == _SYMTAB]
        if len(tables) != 1:
            raise malformed(self._image, f"expected one symbol table, found {len(tables)}")
        table = tables[0]
        if table.size % _SYMBOL or self.sections[table.link].type != _STRTAB:
            raise malformed(self._image, "the symbol table has no whole entries, or no names")
        names = self.bytes_of(self.sections[table.link])
        self._check_names(names)
        return self.bytes_of(table), names

    def variables(self) -> dict[str, int]:
        """Return the size in bytes of every variable that the symbol table names; raises InputError when there is no table."""
        table, names = self._symbol_table
        found: dict[str, int] = {}
        for at in range(0, len(table), _SYMBOL):
            name, kind, size = (int.from_bytes(table[at + first : at + last], "little") for first, last in ((0, 4), (4, 5), (16, 24)))
            if kind & 0xF == _OBJECT and size:
                found[_name_at(self._image, names, name)] = size
        return found

    def check_symbols(self) -> None:
        """Raise InputError unless there is one symbol table, with names."""
        _ = self._symbol_table

    def _check_names(self, names: bytes) -> None:
        # A name with a line end in it could pass for lines of the disassembly.
        if not names.endswith(b"\0") or _STEERING.search(names):
            raise malformed(self._image, "a table of names does not end, or holds control characters")

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
            one = self._decode("Elf_Phdr", offset + index * size, size)
            if one["p_offset"] + one["p_filesz"] > len(self._data):
                raise malformed(self._image, f"segment {index} is not in the file")

    def _read_sections(self) -> tuple[Section, ...]:
        offset, count, size = (self._header[key] for key in ("e_shoff", "e_shnum", "e_shentsize"))
        if not offset or not count or count > _LAST_SECTION:
            raise malformed(self._image, f"it has {count} sections, at byte {offset}")
        if size != _SECTION or offset + count * size > len(self._data):
            raise malformed(self._image, f"{count} section headers of {size} bytes at byte {offset} are not in the file")
        headers = [self._decode("Elf_Shdr", offset + index * size, size) for index in range(count)]
        index = self._header["e_shstrndx"]
        if not isinstance(index, int) or index >= count or headers[index]["sh_type"] != "SHT_STRTAB":
            raise malformed(self._image, "it has no table of section names")
        for number, one in enumerate(headers):
            self._check_section(number, one, count)
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
        """Refuse sections that belong to another one than their name says, or to each other: nvdisasm would follow such links for ever."""
        for one in self.sections:
            owner, steps = one, 0
            while owner.flags & _INFO_LINK:
                if owner.info >= len(self.sections) or steps == _LONGEST_CHAIN:
                    raise malformed(self._image, f"the section '{one.name}' belongs to no other one")
                owner, steps = self.sections[owner.info], steps + 1
            direct = self.sections[one.info] if one.flags & _INFO_LINK else one
            if one.name.startswith(_OWNED) and not one.name.endswith(direct.name.removeprefix(".text")):
                raise malformed(self._image, f"the section '{one.name}' belongs to '{direct.name}'")
            # Relocations that nvdisasm overlooks would leave calls without their targets.
            if any(one.name.startswith(prefix) and one.type != kind for prefix, kind in _RELOCATIONS):
                raise malformed(self._image, f"the section '{one.name}' holds no relocations")

    def _named(self, headers: list[Any], names: bytes) -> tuple[Section, ...]:
        out: list[Section] = []
        total = 0
        for one in headers:
            name = _name_at(self._image, names, one["sh_name"])
            total += len(name)
            if total > _NAMES_LIMIT:
                raise malformed(self._image, "the names of its sections are too long")
            kind = _TYPES.get(one["sh_type"], -1)
            out.append(Section(name, kind, one["sh_flags"], one["sh_offset"], one["sh_size"], one["sh_link"], one["sh_info"]))
        return tuple(out)


def sm_of(image: Image) -> int:
    """Return the SM number that the header of a cubin names, of 32-bit ones too.

    Raises InputError unsupported-elf when the file is of no known generation.
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
    """Return e_machine of an ELF header, -1 when it is cut off."""
    return int.from_bytes(image.data[18:20], "little") if len(image.data) >= _HEADER else -1


def is_gpu(image: Image) -> bool:
    """Return whether an ELF file is a cubin."""
    return machine_of(image) == _MACHINE_CUDA


def malformed(image: Image, what: str) -> InputError:
    """Return the error for an ELF file that contradicts itself."""
    hint = "the file is damaged or was cut off: make it again"
    return InputError("malformed-elf", f"the ELF file is damaged: {what}", source=Source(image.name, ""), hint=hint)


def _check_class(image: Image) -> None:
    data = image.data
    if len(data) < _HEADER:
        raise malformed(image, f"it has {len(data)} bytes, less than a header")
    if (data[_EI_CLASS], data[_EI_DATA], data[_EI_VERSION]) != (2, 1, 1):
        message = "the ELF file is not 64-bit, little-endian, version 1, as cubins are"
        raise InputError("unsupported-elf", message, source=Source(image.name, ""))


def _name_at(image: Image, names: bytes, offset: int) -> str:
    if not 0 <= offset < len(names):
        raise malformed(image, f"a name stands outside its table, at {offset}")
    return names[offset : names.index(b"\0", offset)].decode("utf-8", "replace")
