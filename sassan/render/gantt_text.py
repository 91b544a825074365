"""Gantt charts for a terminal: in bands that fit its width; of large charts the middle is omitted, with a note."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.render.gantt import IDLE, MARK_STYLES, Chart

_TICK = 10
_LEAST_SLOTS = 10
"""The smallest number of slots of a band, even on a narrow terminal."""


@dataclass(frozen=True, slots=True)
class ChartSize:
    """The columns of the terminal, and the largest numbers of warps and bands shown."""

    width: int = 80
    warps: int = 32
    bands: int = 8


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line: `head` is plain text, `cells` are marks of `gantt.MARK_STYLES` and blanks."""

    head: str
    cells: str = ""

    def __str__(self) -> str:
        """Return the line as plain text."""
        return (self.head + self.cells).rstrip()


def lines(picture: Chart, size: ChartSize, more: str = "") -> Iterator[ChartLine]:
    """Yield the lines of a chart; a line notes what is omitted, followed by `more`, a pointer to the whole."""
    label = len(f"w{len(picture.rows) - 1} ")
    per_band = max((size.width - label) // _TICK * _TICK, _LEAST_SLOTS)
    starts = list(range(0, picture.slots, per_band))
    shown = starts if len(starts) <= size.bands else [*starts[: size.bands - 1], starts[-1]]
    yield ChartLine(legend(picture))
    after = 0
    for start in shown:
        if start > after:
            yield ChartLine(f"… slots {after + 1} to {start} are omitted{more}")
        after = min(start + per_band, picture.slots)
        yield ChartLine(" " * label + ruler(start, after))
        for line in _rows(picture, size.warps, more):
            cells = line.cells[start:after]
            if cells.strip() or not line.cells:  # a finished warp has no line
                yield ChartLine(line.head.ljust(label), cells)


def legend(picture: Chart) -> str:
    """Return the meaning of the letters that occur."""
    return ", ".join(f"{mark} {MARK_STYLES[mark].means}" for mark in picture.marks)


def _rows(picture: Chart, most: int, more: str) -> Iterator[ChartLine]:
    count = len(picture.rows)
    shown = list(range(count)) if count <= most else [*range(most - 1), count - 1]
    after = 0
    for warp in shown:
        if warp > after:
            yield ChartLine(f"… warps {after} to {warp - 1} are omitted{more}")
        after = warp + 1
        yield ChartLine(f"w{warp}", picture.rows[warp])


def ruler(start: int, end: int) -> str:
    """Return the numbers above the slots `start` (from 0) to `end`: the last digit of a number is above its slot, counted from 1."""
    cells = [" "] * (end - start)
    for number in [start + 1, *range(start - start % _TICK + _TICK, end + 1, _TICK)]:
        text = str(number)
        at = number - 1 - start
        first = max(at - len(text) + 1, 0)
        if all(cell == " " for cell in cells[max(first - 1, 0) : first + len(text)]):
            cells[first : first + len(text)] = text
    return "".join(cells[: end - start]).rstrip()


def style(mark: str) -> str:
    """Return the rich style of a mark: dark text on the colour of its unit."""
    return "dim" if mark in IDLE else f"#1a1a1a on {MARK_STYLES[mark].fill}"
