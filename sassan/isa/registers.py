"""Sets of registers as bits of one Python int: the currency between `isa/` and the agreement domain.

RZ, PT, URZ and UPT are constants and have no bit.
"""

from collections.abc import Iterator

STACK = "STACK"
"""The file of the words of a thread's stack, which an analysis may take for registers (`isa/stack.py`)."""
_FIRST = {"R": 0, "P": 256, "UR": 272, "UP": 528, "CC": 536, "B": 544, STACK: 1024}
_SIZE = {"R": 256, "P": 16, "UR": 256, "UP": 8, "CC": 8, "B": 16}
_BYTES = 4
_DEEPEST = 1 << 14
"""So many bytes on either side of where the stack of a function starts have words with numbers."""

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


def file_of(number: int) -> tuple[str, int]:
    """Return the file of a register by its bit number, and its number there."""
    file = max((file for file, first in _FIRST.items() if first <= number), key=_FIRST.__getitem__)
    return file, number - _FIRST[file]


def stack_word(distance: int) -> int | None:
    """Return the bit number of the word of the stack so many bytes above where it starts; None: it has none."""
    if distance % _BYTES or not -_DEEPEST <= distance < _DEEPEST:
        return None
    # The stack grows downwards: the words near its start have the smallest numbers.
    return _FIRST[STACK] + (2 * (distance // _BYTES) if distance >= 0 else -2 * (distance // _BYTES) - 1)


def stack_distance(number: int) -> int | None:
    """Return how many bytes above the start of the stack a word is, by its bit number; None: it is another register."""
    place, odd = divmod(number - _FIRST[STACK], 2)
    return None if number < _FIRST[STACK] else -_BYTES * (place + 1) if odd else _BYTES * place


ONE_PER_WARP = span("UR", 0, _SIZE["UR"]) | span("UP", 0, _SIZE["UP"])
"""Registers of which a warp has one, whatever threads run: these agree on it from the start."""


def names(registers: int) -> Iterator[str]:
    """Yield the printed names of a set, in the fixed order of the bits; words of the stack are printed nowhere."""
    for file, size in _SIZE.items():
        part = (registers >> _FIRST[file]) & ((1 << size) - 1)
        while part:
            low = part & -part
            index = low.bit_length() - 1
            yield "CC" if file == "CC" else f"{file}{index}"
            part ^= low
