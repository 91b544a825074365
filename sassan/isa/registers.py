"""Sets of registers as bits of one Python int: the currency between `isa/` and the agreement domain.

RZ, PT, URZ and UPT are constants and have no bit.
"""

from collections.abc import Iterator

_FIRST = {"R": 0, "P": 256, "UR": 272, "UP": 528, "CC": 536, "B": 544}
_SIZE = {"R": 256, "P": 16, "UR": 256, "UP": 8, "CC": 8, "B": 16}

EVERY = -1
"""All registers, as many as there may be: what threads agree on at the start of nothing, and what the empty group agrees on."""


def bit(file: str, index: int | None) -> int:
    """Return the set that holds this one register, or the empty set for RZ, PT, URZ, UPT and scoreboards."""
    if index is None or file not in _FIRST:
        return 0
    return 1 << (_FIRST[file] + index)


def span(file: str, index: int | None, count: int) -> int:
    """Return the set of `count` registers from `index` on: `span("R", 4, 2)` is R4 and R5."""
    if index is None or file not in _FIRST:
        return 0
    return ((1 << count) - 1) << (_FIRST[file] + index)


ONE_PER_WARP = span("UR", 0, _SIZE["UR"]) | span("UP", 0, _SIZE["UP"])
"""Registers of which a warp has one, whatever threads run: these agree on it from the start."""


def names(registers: int) -> Iterator[str]:
    """Yield the printed names of a set, in the fixed order of the bits."""
    for file, first in _FIRST.items():
        part = (registers >> first) & ((1 << _SIZE[file]) - 1)
        while part:
            low = part & -part
            index = low.bit_length() - 1
            yield "CC" if file == "CC" else f"{file}{index}"
            part ^= low
