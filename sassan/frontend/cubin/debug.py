"""The check of debug sections: each is a sequence of units after their lengths; if these do not add up, nvdisasm may loop for ever."""

from sassan.frontend.cubin.elf import Elf, malformed
from sassan.frontend.image import Image

_ROWS = (".debug_frame", ".debug_line", ".nv_debug_line_sass", ".debug_info")
_LONG = 0xFFFFFFFF
"""This length means that the actual length follows in 8 bytes (DWARF 5, section 7.4)."""


def check_debug(image: Image, elf: Elf) -> None:
    """Raise InputError malformed-elf unless the units of every debug section end where it ends."""
    for section in elf.sections:
        if section.name in _ROWS and not _adds_up(elf.bytes_of(section)):
            raise malformed(image, f"the units of '{section.name}' do not end where it ends")


def _adds_up(data: bytes) -> bool:
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "little")
        at += 4
        if length == _LONG:
            length = int.from_bytes(data[at : at + 8], "little")
            at += 8
        at += length
    return at == len(data)
