"""Source lines of a cubin with line information, from the comments of `nvdisasm -g` between the instructions."""

import re

from sassan.arch import Architecture
from sassan.ir import SourceLine

_SECTION = re.compile(r"[ \t]*\.section[ \t]+(?:\.text\.(.*))?")
_LINE = re.compile(r'[ \t]*//## File "(.*)", line ([0-9]{1,9})[ \t]*')
_CODE = re.compile(r"[ \t]*/\*([0-9a-f]{4,16})\*/")


def source_lines(text: str, arch: Architecture) -> dict[str, tuple[SourceLine, ...]]:
    """Return the source lines of every text section by its name; of inlined code, the line of the inlined function."""
    by_section: dict[str, list[SourceLine]] = {}
    current: list[SourceLine] | None = None
    pending: tuple[str, int] | None = None
    for line in text.split("\n"):
        if section := _SECTION.match(line):
            name = (section[1] or "").rpartition(',"')[0]
            current, pending = (by_section.setdefault(name, []) if name else None), None
        elif place := _LINE.fullmatch(line):
            pending = place[1], int(place[2])
        elif pending is not None and current is not None and (code := _CODE.match(line)):
            current.append(SourceLine(arch.normalise(int(code[1], 16)), *pending))
            pending = None
    return {name: tuple(lines) for name, lines in by_section.items() if lines}
