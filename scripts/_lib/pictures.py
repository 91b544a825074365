"""Pictures of experiments: curves by matplotlib, schedules as Gantt charts, and the numbers of each as CSV."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from _lib.written import written

from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.render.gantt import chart
from sassan.render.gantt_svg import svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sassan.makespan.problem import Problem
    from sassan.makespan.schedule import Schedule

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0527c", "#6f5600", "#56b4e9", "#777777", "#b8860b")
"""Okabe and Ito's set, darker where it meets white; every curve also has its own marker or dashes."""
LEVEL = "#333333"
"""Horizontal lines, distinguished by dashes."""


@dataclass(frozen=True)
class Curve:
    """Points in order; `step` draws stairs, `dashes` a line style of matplotlib, `right` puts it on the second axis."""

    label: str
    points: Sequence[tuple[float, float]]
    dashes: str = "-"
    step: bool = False
    marker: str = ""
    right: bool = False
    colour: str = ""


@dataclass(frozen=True)
class Axes:
    """The labels of the axes."""

    title: str
    x: str
    y: str
    right: str = ""
    log_y: bool = False
    log_right: bool = False
    low: float | None = None
    high: float | None = None


def plot(path: Path, axes: Axes, curves: Sequence[Curve], levels: Sequence[tuple[str, float, str]] = ()) -> None:
    """Write curves as SVG and PNG; `levels` are horizontal lines: label, value, dashes.

    Raises MissingToolError without matplotlib.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra
        from matplotlib import rcParams  # noqa: PLC0415
    except ImportError as error:
        raise MissingToolError("no-matplotlib", "curves need matplotlib", hint=install("plots")) from error
    rcParams["svg.hashsalt"] = "sassan"  # the same bytes every time
    figure, left = plt.subplots(figsize=(9, 5.2), layout="constrained")
    right = left.twinx() if any(curve.right for curve in curves) else None
    for number, curve in enumerate(curves):
        _draw(right if curve.right and right is not None else left, curve, curve.colour or COLOURS[number % len(COLOURS)])
    for label, value, dashes in levels:
        left.axhline(value, color=LEVEL, linestyle=dashes, linewidth=1.0, label=f"{label}: {value:g}")
    left.set(title=axes.title, xlabel=axes.x, ylabel=axes.y, yscale="log" if axes.log_y else "linear")
    left.set_ylim(axes.low, axes.high)
    left.grid(visible=True, color="#dddddd", linewidth=0.6)
    handles, labels = left.get_legend_handles_labels()
    if right is not None:
        right.set(ylabel=axes.right, yscale="log" if axes.log_right else "linear")
        more = right.get_legend_handles_labels()
        handles, labels = [*handles, *more[0]], [*labels, *more[1]]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    for form in ("svg", "png"):
        figure.savefig(path.with_suffix(f".{form}"), dpi=110, metadata={"Date": None} if form == "svg" else None)
    plt.close(figure)


def _draw(axes: object, curve: Curve, colour: str) -> None:
    x, y = zip(*curve.points, strict=True) if curve.points else ((), ())
    style = {"drawstyle": "steps-post"} if curve.step else {}
    axes.plot(x, y, label=curve.label, color=colour, linestyle=curve.dashes, marker=curve.marker, markersize=4, linewidth=1.4, **style)  # type: ignore[attr-defined]


def gantt(path: Path, problem: Problem, schedule: Schedule, title: str, facts: tuple[str, ...] = ()) -> None:
    """Write a schedule as SVG and as CSV (slot from 1, warp from 0, unit)."""
    path.with_suffix(".svg").write_text(svg(chart(problem, schedule, title, facts)), encoding="utf-8")
    cells = (
        (slot + 1, warp, letter.value)
        for warp, (string, row) in enumerate(zip(problem.strings, schedule.slots, strict=True))
        for letter, slot in zip(string.expand(), row, strict=True)
    )
    table(path, ("slot", "warp", "unit"), sorted(cells))


def table(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV."""
    with written(path.with_suffix(".csv")) as out:
        writer = csv.writer(out)
        writer.writerow(head)
        writer.writerows(rows)
