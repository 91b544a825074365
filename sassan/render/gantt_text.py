"""Gantt charts for a terminal: bands that fit its width, and what is too much cut from the middle, with a line that says so."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.render.gantt import LOOKS, WAITING, Chart

_TICK = 10
_LEAST_SLOTS = 10
"""A band shows so many slots, however narrow the terminal is."""


@dataclass(frozen=True, slots=True)
class Size:
    """Columns of the terminal, and how many warps and bands are shown at most."""

    width: int = 80
    warps: int = 32
    bands: int = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `head` is plain text, `cells` are marks of `gantt.LOOKS` and blanks."""

    head: str
    cells: str = ""

    def __str__(self) -> str:
        """Return the line as plain text."""
        return (self.head + self.cells).rstrip()


def lines(picture: Chart, size: Size, more: str = "") -> Iterator[Line]:
    """Yield the lines of a chart; where something is left out, a line says what, and `more` where all of it is."""
    label = len(f"w{len(picture.rows) - 1} ")
    per_band = max((size.width - label) // _TICK * _TICK, _LEAST_SLOTS)
    starts = list(range(0, picture.slots, per_band))
    shown = starts if len(starts) <= size.bands else [*starts[: size.bands - 1], starts[-1]]
    yield Line(legend(picture))
    after = 0
    for start in shown:
        if start > after:
            yield Line(f"… slots {after + 1} to {start} are left out{more}")
        after = min(start + per_band, picture.slots)
        yield Line(" " * label + ruler(start, after))
        for line in _rows(picture, size.warps, more):
            cells = line.cells[start:after]
            if cells.strip() or not line.cells:  # a warp that is done has no line any more
                yield Line(line.head.ljust(label), cells)


def legend(picture: Chart) -> str:
    """Return what the letters mean, of those that occur."""
    return ", ".join(f"{mark} {LOOKS[mark].means}" for mark in picture.marks)


def _rows(picture: Chart, most: int, more: str) -> Iterator[Line]:
    count = len(picture.rows)
    shown = list(range(count)) if count <= most else [*range(most - 1), count - 1]
    after = 0
    for warp in shown:
        if warp > after:
            yield Line(f"… warps {after} to {warp - 1} are left out{more}")
        after = warp + 1
        yield Line(f"w{warp}", picture.rows[warp])


def ruler(start: int, end: int) -> str:
    """Return the numbers above the slots `start` (from 0) to `end`: the last digit of a number stands above its slot, counted from 1."""
    cells = [" "] * (end - start)
    for number in [start + 1, *range(start - start % _TICK + _TICK, end + 1, _TICK)]:
        text = str(number)
        at = number - 1 - start
        first = max(at - len(text) + 1, 0)
        if all(one == " " for one in cells[max(first - 1, 0) : first + len(text)]):
            cells[first : first + len(text)] = text
    return "".join(cells[: end - start]).rstrip()


def style(mark: str) -> str:
    """Return how rich draws a mark: dark text on the colour of its unit."""
    return "dim" if mark == WAITING else f"#1a1a1a on {LOOKS[mark].fill}"
