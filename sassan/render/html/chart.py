"""Makespans as plain data for a page: a schedule as runs of equal slots, and the convergence of the bounds during the search."""

from collections.abc import Sequence
from typing import TypedDict

from sassan.render.gantt import DONE, CellRun, Chart, runs

MOST_CELLS = 5_000_000
"""Limit on the cells of a chart that is drawn in part."""
_MOST_RUNS = 20_000
"""Limit on the runs of equal cells of one chart, in a page of many functions."""
_STEP = 10


class ChartRecord(TypedDict):
    """`rows[w]` are the runs of warp w: start (from 0), slots, and a letter or `.`, in order; of a large chart the first `shown` slots."""

    slots: int
    shown: int
    rows: list[list[list[int | str]]]


class EngineRecord(TypedDict):
    """The final result of an engine, in slots; None where it has no bound."""

    name: str
    lower: int | None
    upper: int | None
    seconds: float
    proof: str


class SearchRecord(TypedDict):
    """The search for one makespan; `trace` lists seconds, lower and upper bound over time; `why` is the reason for a missing chart."""

    label: str
    string: str
    units: str
    verdict: str
    cycles: str
    """What the warps take in cycles, '' where cycles are not counted."""
    lower: int | None
    upper: int | None
    engines: list[EngineRecord]
    trace: list[list[float | int | None]]
    chart: ChartRecord | None
    why: str
    assumptions: list[str]
    assumption_kinds: list[str]


def chart_record(picture: Chart, most: int = _MOST_RUNS) -> ChartRecord:
    """Return a chart as plain data: all of it, or its first slots with at most `most` runs."""
    rows = [runs(row) for row in picture.rows]
    starts = sorted(run.start for row in rows for run in row)
    shown = picture.slots if len(starts) <= most else max(starts[most] // _STEP * _STEP, _STEP)
    return {"slots": picture.slots, "shown": shown, "rows": [_cut(row, shown) for row in rows]}


def _cut(row: Sequence[CellRun], end: int) -> list[list[int | str]]:
    return [[run.start, min(run.count, end - run.start), run.mark] for run in row if run.mark != DONE and run.start < end]


def trace(moves: Sequence[tuple[float, int | None, int | None]]) -> list[list[float | int | None]]:
    """Return the moments at which a bound moved, and the last one."""
    out: list[list[float | int | None]] = []
    for at, (seconds, lower, upper) in enumerate(moves):
        if at in {0, len(moves) - 1} or out[-1][1:] != [lower, upper]:
            out.append([round(seconds, 4), lower, upper])
    return out
