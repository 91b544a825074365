"""Makespans as plain data for a page: a schedule as runs of equal slots, and how the bounds moved while engines searched."""

from collections.abc import Sequence
from typing import TypedDict

from sassan.render.gantt import DONE, Chart, runs

LARGEST = 200_000
"""Cells of a chart that a browser still shows."""


class ChartRecord(TypedDict):
    """`rows[w]` are the runs of warp w: start (from 0), slots, and a letter or `.`, in order."""

    slots: int
    rows: list[list[list[int | str]]]


class EngineRecord(TypedDict):
    """The last word of one engine, in slots; None where it says nothing."""

    name: str
    lower: int | None
    upper: int | None
    seconds: float
    proof: str


class SearchRecord(TypedDict):
    """One question about a makespan; `trace` are seconds, lower and upper bound as they came; `why` says why there is no chart."""

    label: str
    string: str
    units: str
    verdict: str
    lower: int | None
    upper: int | None
    engines: list[EngineRecord]
    trace: list[list[float | int | None]]
    chart: ChartRecord | None
    why: str
    assumptions: list[str]


def chart_record(picture: Chart) -> ChartRecord:
    """Return a chart as plain data."""
    rows: list[list[list[int | str]]] = [
        [[run.start, run.count, run.mark] for run in runs(row) if run.mark != DONE] for row in picture.rows
    ]
    return {"slots": picture.slots, "rows": rows}


def trace(moves: Sequence[tuple[float, int | None, int | None]]) -> list[list[float | int | None]]:
    """Return the moments at which a bound moved, and the last one."""
    out: list[list[float | int | None]] = []
    for at, (seconds, lower, upper) in enumerate(moves):
        if at in {0, len(moves) - 1} or out[-1][1:] != [lower, upper]:
            out.append([round(seconds, 4), lower, upper])
    return out
