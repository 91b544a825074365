"""Gantt charts of schedules, as plain data: one row of cells per warp, and the style of each unit.

Slots count from 1 in every picture, as in Berezovskyi et al. 2011, Figure 2; warps count from 0, as in the JSON.
Colours are light tones of the Okabe-Ito set ("Color Universal Design", 2008): dark text on them has a contrast of at least 7:1, and they
are distinguishable with every common kind of colour blindness. Every cell also has its letter, so that colour is never the only sign.
"""

from dataclasses import dataclass
from itertools import groupby

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule

WAITING = "."
"""A slot in which a warp waits for a unit."""
DONE = " "
"""A slot after the last instruction of a warp."""


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """The colours of one unit's instructions, and its entry in the legend."""

    fill: str
    line: str
    means: str


MARK_STYLES: dict[str, MarkStyle] = {
    Letter.LOAD: MarkStyle("#a9d6f5", "#2b6f9e", "load/store"),
    Letter.COMPUTE: MarkStyle("#f8de8a", "#8a6d00", "compute"),
    Letter.SPECIAL: MarkStyle("#9fdcc4", "#00664a", "special function"),
    Letter.DOUBLE: MarkStyle("#f3bfd8", "#8f3568", "double precision"),
    Letter.TENSOR: MarkStyle("#c9bdf2", "#5b4aa0", "matrix product"),
    WAITING: MarkStyle("#eeeeee", "#777777", "waits for a unit"),
}
"""In the order of the legend."""


@dataclass(frozen=True, slots=True)
class CellRun:
    """Equal neighbours in one row: `count` cells of `mark` from slot `start` (from 0)."""

    start: int
    count: int
    mark: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A Gantt chart. `rows[w]` describes warp w, one character per slot: a letter, WAITING or DONE. All rows have `slots` characters.

    `title` and `facts` are untrusted text, of one line each.
    """

    rows: tuple[str, ...]
    slots: int
    title: str = ""
    facts: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the marks that occur, in the order of the legend."""
        present = set().union(*self.rows)
        return tuple(mark for mark in MARK_STYLES if mark in present)


def chart(problem: Problem, schedule: Schedule, title: str = "", facts: tuple[str, ...] = ()) -> Chart:
    """Return the chart of a schedule; its letters are those of the instance without fractions and latencies."""
    slots = schedule.makespan
    rows = tuple(
        _row([letter.value for letter in string.expand()], row, slots) for string, row in zip(problem.strings, schedule.slots, strict=True)
    )
    return Chart(rows, slots, title, facts)


def _row(letters: list[str], row: tuple[int, ...], slots: int) -> str:
    cells = [WAITING] * (row[-1] + 1 if row else 0) + [DONE] * (slots - (row[-1] + 1 if row else 0))
    for letter, slot in zip(letters, row, strict=True):
        cells[slot] = letter
    return "".join(cells)


def runs(cells: str, start: int = 0) -> tuple[CellRun, ...]:
    """Return the runs of equal cells of one row, or of a piece of it that begins at slot `start`."""
    out: list[CellRun] = []
    for mark, cells_of_run in groupby(cells):
        count = len(list(cells_of_run))
        out.append(CellRun(start, count, mark))
        start += count
    return tuple(out)
