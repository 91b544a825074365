"""Gantt charts of schedules, as plain data: one row of cells per warp, and the style of each unit.

Slots count from 1 in every picture, as in Berezovskyi et al. 2011, Figure 2; warps count from 0, as in the JSON.
Colours are light tones of the Okabe-Ito set ("Color Universal Design", 2008): dark text on them has a contrast of at least 7:1, and they
are distinguishable with every common kind of colour blindness. Every cell also has its letter, so that colour is never the only sign.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.makespan.timed.validator import readiness

WAITING = "."
"""A slot in which a warp waits for a unit."""
RESULT = "~"
"""A slot in which a warp waits for the result of its last instruction, which has left its unit."""
TOGETHER = "|"
"""A slot in which a warp waits for others of its block."""
DONE = " "
"""A slot after the last instruction of a warp."""
IDLE = frozenset({WAITING, RESULT, TOGETHER, DONE})
"""The slots in which a warp is on no unit."""


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
    RESULT: MarkStyle("#fafafa", "#999999", "waits for its result"),
    TOGETHER: MarkStyle("#dddddd", "#555555", "waits at a barrier"),
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
    """A Gantt chart. `rows[w]` describes warp w, one character per slot: a letter, WAITING, RESULT, TOGETHER or DONE.

    A letter stands in each slot in which the warp holds the unit. All rows have `slots` characters.

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
    """Return the chart of a schedule; its letters are those of the transformed instance."""
    slots = schedule.makespan
    ready, _ = readiness(problem, schedule.slots) if not problem.one_slot else ([(0,) * len(row) for row in schedule.slots], 0)
    rows = tuple(
        _row(problem, list(string.expand()), row, since, slots)
        for string, row, since in zip(problem.strings, schedule.slots, ready, strict=True)
    )
    return Chart(rows, slots, title, facts)


def _row(problem: Problem, letters: Sequence[Letter], row: Sequence[int], ready: Sequence[int], slots: int) -> str:
    cells = ""
    for letter, slot, since in zip(letters, row, ready, strict=True):
        held, latency = problem.interval.get(letter, 1), problem.latency.get(letter, 1)
        cells = cells.ljust(since, TOGETHER).ljust(slot, WAITING) + letter.value * held + RESULT * (latency - held)
    return cells.ljust(slots, DONE)


def runs(cells: str, start: int = 0) -> tuple[CellRun, ...]:
    """Return the runs of equal cells of one row, or of a piece of it that begins at slot `start`."""
    out: list[CellRun] = []
    for mark, cells_of_run in groupby(cells):
        count = len(list(cells_of_run))
        out.append(CellRun(start, count, mark))
        start += count
    return tuple(out)
