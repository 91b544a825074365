"""Cubins for the tests: the shipped ones, damaged ones, and a disassembler that plays back the shipped listings.

Listings are recorded output of nvdisasm 12.8, so the whole way of a cubin is tested on machines without any tool of NVIDIA's, and
for sm_50 to sm_72 too, which today's disassemblers no longer read. Where a real tool is installed the same tests run with it.
"""

import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samples import SAMPLES

RECORDED = """\
#!/bin/sh
PATH=/usr/bin:/bin
case "$1" in
--version) echo "Cuda compilation tools, release 12.8, V12.8.55"; exit ;;
--help)
  echo "--binary <SMxy>  (-b)"
  echo "        Allowed values: 'SM52','SM61','SM70','SM75','SM80','SM90','SM90a','SM100','SM120'."
  echo "--other"
  exit ;;
esac
here="${0%/*}"
printf x >>"$here/calls"
for last; do :; done
set -- $(cksum <"$last")
if [ -f "$here/$1-$2" ]; then exec cat "$here/$1-$2"; fi
echo "nvdisasm fatal   : this cubin was never disassembled" >&2
exit 1
"""
"""A shell starts in a tenth of the time that Python takes."""


def script(folder: Path, name: str, text: str) -> Path:
    """Write an executable Python script into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\n{text}")
    path.chmod(0o755)
    return path


def recorder(folder: Path, *samples: str) -> Path:
    """Write an nvdisasm that plays back the listings of samples (`sm_61/saxpy`) into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "nvdisasm"
    program.write_text(RECORDED)
    program.chmod(0o755)
    for sample, name in _checksums(samples).items():
        (folder / name).write_text((SAMPLES / f"{sample}.nvdisasm.sass").read_text())
    return folder


@cache
def _checksums(samples: tuple[str, ...]) -> dict[str, str]:
    """Return for each sample the name by which the recorder finds its listing."""
    command = ["cksum", *(SAMPLES / f"{sample}.cubin" for sample in samples)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {sample: "-".join(line.split()[:2]) for sample, line in zip(samples, lines, strict=True)}


def recorded(folder: Path) -> list[Path]:
    """Return the listings that a recorder plays back."""
    return [path for path in folder.iterdir() if path.name not in {"nvdisasm", "calls"}]


def calls(folder: Path) -> int:
    """Return the number of disassemblies by the recorder."""
    log = folder / "calls"
    return len(log.read_text()) if log.exists() else 0


def cubin(sample: str) -> bytes:
    """Return the bytes of a sample: `sm_61/saxpy`."""
    return (SAMPLES / f"{sample}.cubin").read_bytes()


@dataclass(frozen=True)
class Layout:
    """The positions of the headers of a cubin."""

    sections: int
    section_count: int
    segments: int
    segment_count: int

    @property
    def header_bytes(self) -> list[int]:
        """Return the offset of every byte of the file header, of the program headers and of the section headers."""
        return [
            *range(64),
            *range(self.segments, self.segments + 56 * self.segment_count),
            *range(self.sections, self.sections + 64 * self.section_count),
        ]

    def section(self, index: int, field: str) -> tuple[int, str]:
        """Return the offset and the format of a field of a section header."""
        at, form = _SECTION[field]
        return self.sections + 64 * index + at, form


_SECTION = {
    "name": (0, "I"),
    "type": (4, "I"),
    "flags": (8, "Q"),
    "offset": (24, "Q"),
    "size": (32, "Q"),
    "link": (40, "I"),
    "info": (44, "I"),
    "align": (48, "Q"),
    "entry": (56, "Q"),
}


def layout(data: bytes) -> Layout:
    """Return the positions of the headers of a cubin."""
    segments, sections = struct.unpack_from("<QQ", data, 32)
    segment_count, _, section_count = struct.unpack_from("<HHH", data, 56)
    return Layout(sections, section_count, segments, segment_count)


def section_names(data: bytes) -> list[str]:
    """Return the names of the sections."""
    where = layout(data)
    index = struct.unpack_from("<H", data, 62)[0]
    start = _get(data, *where.section(index, "offset"))
    names = [start + _get(data, *where.section(index, "name")) for index in range(where.section_count)]
    return [data[name : data.index(b"\0", name)].decode() for name in names]


def section_index(data: bytes, name: str) -> int:
    """Return the index of a section."""
    return section_names(data).index(name)


def with_field(data: bytes, section: str, field: str, value: int) -> bytes:
    """Return a cubin with one field of a section header changed."""
    return _put(data, section_index(data, section), field, value)


def with_contents(data: bytes, section: str, contents: bytes) -> bytes:
    """Return a cubin whose section has other contents, appended to the file."""
    index = section_index(data, section)
    moved = _put(data, index, "offset", len(data))
    return _put(moved, index, "size", len(contents)) + contents


def _put(data: bytes, index: int, field: str, value: int) -> bytes:
    at, form = layout(data).section(index, field)
    return data[:at] + struct.pack(f"<{form}", value) + data[at + struct.calcsize(form) :]


def flipped(data: bytes, at: int, mask: int) -> bytes:
    """Return a cubin with bits of one byte flipped."""
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def fatbin(*images: tuple[int, bytes]) -> bytes:
    """Return a fatbin of (SM number, cubin): a header, then each image after its own header, as written by fatbinary."""
    body = b""
    for sm, image in images:
        data = image + bytes(-len(image) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(data), 0, 0, 0, 0, sm, 0, 0, 0x11, 0, 0) + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def host(section: str, contents: bytes) -> bytes:
    """Return a relocatable x86-64 ELF file with one section and the table of names."""
    names = b"\0.shstrtab\0" + section.encode() + b"\0"
    start = 64
    table = start + len(names) + len(contents)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 1)
    null = bytes(64)
    first = struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, start, len(names), 0, 0, 1, 0)
    second = struct.pack("<IIQQQQIIQQ", 11, 1, 2, 0, start + len(names), len(contents), 0, 0, 1, 0)
    return header + names + contents + null + first + second


def _get(data: bytes, at: int, form: str) -> int:
    return struct.unpack_from(f"<{form}", data, at)[0]
