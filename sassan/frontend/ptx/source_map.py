"""The text of PTX by function, with the source line of every line of it: what a reader sees beside machine code.

It follows `.loc` and `.file` ("PTX ISA", "Debugging Directives"), and is not a parser: text of an unknown form has no functions.
"""

import re
from dataclasses import dataclass

_FUNCTION = re.compile(r"^(?=\S).*?\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_END = "}"


@dataclass(frozen=True, slots=True)
class PtxLine:
    """A line of PTX; `file` and `line` are the place in the source that it was compiled from, '' and 0 for an unknown one."""

    text: str
    file: str = ""
    line: int = 0


def functions_of(text: str) -> dict[str, tuple[PtxLine, ...]]:
    """Return the lines of each function that has a body, by its mangled name, without `.loc` and blank lines."""
    files = {int(number): name for number, name in _FILE.findall(text)}
    functions: dict[str, tuple[PtxLine, ...]] = {}
    name, lines, place, inside = "", [PtxLine("")], ("", 0), False
    for line in text.splitlines():
        head = _FUNCTION.match(line)
        if head is not None:
            name, lines, place, inside = head[1], [], ("", 0), False
        if not name:
            continue
        moved = _PLACE.match(line)
        if moved is not None:
            place = files.get(int(moved[1]), ""), int(moved[2])
        elif line.strip():
            inside = inside or line.startswith("{")
            lines.append(PtxLine(line.expandtabs(4), *(place if _instruction(line) else ("", 0))))
        if line.startswith(_END) and inside:
            functions[name] = tuple(lines)
            name = ""
    return functions


def _instruction(line: str) -> bool:
    """Say whether a line is an instruction, and no label, directive or comment."""
    words = line.strip()
    return words.endswith(";") and not words.startswith((".", "//"))
