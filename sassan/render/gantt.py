"""Gantt charts of schedules, as plain data: one row of cells per warp, and how each unit looks.

Slots count from 1 in every picture, as in the papers (Berezovskyi et al. 2011, Figure 2); warps count from 0, as in the JSON.
Colours are light tones of the Okabe-Ito set ("Color Universal Design", 2008): dark text in them has a contrast of at least 7:1, and they
stay apart in every common kind of colour blindness. Every cell also carries its letter, so that colour is never alone.
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
class Look:
    """How the instructions of one unit are drawn, and what the legend says."""

    fill: str
    line: str
    means: str


LOOKS: dict[str, Look] = {
    Letter.LOAD: Look("#a9d6f5", "#2b6f9e", "load/store"),
    Letter.COMPUTE: Look("#f8de8a", "#8a6d00", "compute"),
    Letter.SPECIAL: Look("#9fdcc4", "#00664a", "special function"),
    Letter.DOUBLE: Look("#f3bfd8", "#8f3568", "double precision"),
    WAITING: Look("#eeeeee", "#777777", "waits for a unit"),
}
"""In the order of the legend."""


@dataclass(frozen=True, slots=True)
class Run:
    """Equal neighbours in one row: `count` cells of `mark` from slot `start` (from 0)."""

    start: int
    count: int
    mark: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`rows[w]` spells what warp w does, one character per slot: a letter, WAITING or DONE. All rows are `slots` long.

    `title` and `facts` are untrusted text; the first is one line, the others one line each.
    """

    rows: tuple[str, ...]
    slots: int
    title: str = ""
    facts: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """Return what occurs, in the order of the legend."""
        present = set().union(*self.rows)
        return tuple(mark for mark in LOOKS if mark in present)


def chart(problem: Problem, schedule: Schedule, title: str = "", facts: tuple[str, ...] = ()) -> Chart:
    """Return the picture of a schedule; its letters are those of the instance with fractions and latencies removed."""
    slots = schedule.makespan
    rows = tuple(
        _row([one.value for one in string.expand()], row, slots) for string, row in zip(problem.strings, schedule.slots, strict=True)
    )
    return Chart(rows, slots, title, facts)


def _row(letters: list[str], row: tuple[int, ...], slots: int) -> str:
    cells = [WAITING] * (row[-1] + 1 if row else 0) + [DONE] * (slots - (row[-1] + 1 if row else 0))
    for letter, slot in zip(letters, row, strict=True):
        cells[slot] = letter
    return "".join(cells)


def runs(cells: str, start: int = 0) -> tuple[Run, ...]:
    """Return the runs of equal cells of one row, or of a piece of it that begins at slot `start`."""
    found: list[Run] = []
    for mark, some in groupby(cells):
        count = len(list(some))
        found.append(Run(start, count, mark))
        start += count
    return tuple(found)
