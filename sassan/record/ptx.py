"""The kernels of a PTX text and the offsets of their parameters: in order, each at the next multiple of its alignment (PTX ISA, .param)."""

import re
from collections.abc import Iterator

_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^)]*)\))?", re.ASCII)
_TARGET = re.compile(r"^\s*\.target\s+sm_([0-9]{2,3})", re.MULTILINE | re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>[0-9]{1,4})\s+)?\.(?P<type>[a-z]+[0-9]+)\s*(?:\.ptr\b[^,]*?)?\s*[\w$%]+\s*"
    r"(?:\[(?P<count>[0-9]{1,6})\])?\s*$",
    re.ASCII,
)
_SIZES = re.compile("[a-z]+([0-9]+)", re.ASCII)


def entries(text: str) -> tuple[int, dict[str, tuple[tuple[int, int], ...]]]:
    """Return the SM number of the target (0 without one), and the (offset, size) of every parameter by kernel, if it can be parsed."""
    plain = _COMMENT.sub(" ", text)
    target = _TARGET.search(plain)
    kernels: dict[str, tuple[tuple[int, int], ...]] = {}
    for entry in _ENTRY.finditer(plain):
        try:
            kernels[entry[1]] = tuple(_layout(entry[2] or ""))
        except ValueError:
            continue
    return int(target[1]) if target is not None else 0, kernels


def _layout(head: str) -> Iterator[tuple[int, int]]:
    end = 0
    for part in head.split(",") if head.strip() else ():
        match = _PARAMETER.fullmatch(part.strip())
        if match is None:
            raise ValueError(part)
        bits = _SIZES.fullmatch(match["type"])
        element = int(bits[1]) // 8 if bits is not None else 0
        if element not in (1, 2, 4, 8, 16):
            raise ValueError(part)
        align = int(match["align"] or 0) or element
        offset = -(-end // align) * align
        size = element * int(match["count"] or 1)
        yield offset, size
        end = offset + size
