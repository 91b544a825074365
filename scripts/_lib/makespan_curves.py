"""The curves of the two papers, with the corrected ones beside them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from _lib.makespan_cases import Case, voronoi
from _lib.makespan_schedules import best
from _lib.pictures import Axes, Curve, plot, table

from sassan.makespan.anneal.engine import PUBLISHED, Anneal, envelope
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.engine import Budget, Engine
from sassan.makespan.engines import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sassan.makespan.anneal.engine import Annealed, Improvement


SOLVED, CUT = "solved", "time limit"
"""The status of a row of a table."""
TIMED = "2011-figure-7"
"""The figure that also shows the time of each exact value."""


@dataclass(frozen=True)
class Exact:
    """An exact makespan of y warps, and its computing time in seconds."""

    warps: int
    makespan: int
    seconds: float


def exact_values(case: Case, most: int, seconds: float) -> list[Exact]:
    """Return T(1), T(2), … up to `most` warps, or until the time limit."""
    engine = load("exact")
    end = time.monotonic() + seconds
    values: list[Exact] = []
    for warps in range(1, most + 1):
        begin = time.monotonic()
        known = best(replace(case, warps=warps), engine, Budget(deadline=end))
        if known.exact is None:
            break
        values.append(Exact(warps, known.exact, time.monotonic() - begin))
    return values


def convergence(path: Path, case: Case, values: Sequence[Exact], *, most: int, seconds: float) -> None:
    """Write T(W, x) = ceil(W/x) T(x) against x (2011, Equations 40 and 41) with the safe bounds and a schedule that exists.

    Where a limit of time ended the values before `most`, the last row says so.
    """
    pessimistic = sum(
        ceil(case.warps / float(case.problem.capacity[letter])) * count
        for letter, count in case.problem.strings[0].counts().items()
        if count
    )
    safe = waiting_slots(case.problem)
    tight = best(case, load("bounds"), Budget(deadline=time.monotonic() + seconds)).upper or safe
    lower = best(case, load("beam"), Budget(deadline=time.monotonic() + seconds)).lower or 0
    estimate: list[tuple[int, int]] = []
    running: list[tuple[int, int]] = []
    for value in values:
        estimate.append((value.warps, ceil(case.warps / value.warps) * value.makespan))
        running.append((value.warps, min(value for _, value in estimate)))
    head = (
        "x",
        "T(x) exact",
        "seconds",
        "T(W,x) Eq. 41",
        "min Eq. 40",
        "schedule that exists",
        "safe bound",
        "safe bound, waiting slots",
        "pessimistic Eq. 5",
        "status",
    )
    rows: list[tuple[object, ...]] = [
        (value.warps, value.makespan, f"{value.seconds:.4f}", two[1], least[1], lower, tight, safe, pessimistic, SOLVED)
        for value, two, least in zip(values, estimate, running, strict=True)
    ]
    if len(values) < most:
        rows.append((len(values) + 1, "", "", "", "", lower, tight, safe, pessimistic, CUT))
    table(path, head, rows)
    curves = [
        Curve("T(W,x), Eq. 41: an estimate, no bound", estimate, "-", marker="o"),
        Curve("its minimum, Eq. 40: an estimate, no bound", running, "--", step=True),
    ]
    if path.name == TIMED:
        curves.append(Curve("time of T(x)", [(value.warps, value.seconds) for value in values], ":", marker="x", right=True))
    levels = (
        ("pessimistic T, Eq. 5", pessimistic, (0, (6, 3))),
        ("safe bound, waiting slots", safe, "-."),
        ("best safe bound", tight, "-"),
        ("a schedule that exists", lower, ":"),
    )
    title = f"{path.name}: {case.string}, W = {case.warps}, {case.cap}"
    plot(path, Axes(title, "x (warps of the exact value)", "slots", "seconds", log_right=True), curves, levels)


def row_forms(folder: Path, case: Case, most: int, seconds: float, engine: Callable[[str], Engine]) -> None:
    """Write the time to solve the integer program with short and with long work-conserving rows (2011, Figure 5)."""
    rows: list[tuple[object, ...]] = []
    curves: list[Curve] = []
    for number, kind in enumerate(("short", "long")):
        points: list[tuple[float, float]] = []
        for warps in range(1, most + 1):
            begin = time.monotonic()
            known = best(replace(case, warps=warps), engine(kind), Budget(deadline=begin + seconds))
            took = time.monotonic() - begin
            rows.append((kind, warps, f"{took:.3f}", known.lower, known.upper, SOLVED if known.exact is not None else CUT))
            if known.exact is None:
                break
            points.append((warps, took))
        curves.append(Curve(f"{kind} rows", points, ("-", "--")[number], marker="os"[number]))
    direct = [(value.warps, max(value.seconds, 1e-4)) for value in exact_values(case, most, seconds)]
    curves.append(Curve("no integer program: engine exact", direct, ":", marker="^"))
    rows.extend(("exact engine", warps, f"{took:.4f}", "", "", SOLVED) for warps, took in direct)
    table(folder / "2011-figure-5", ("rows", "W", "seconds", "lower", "upper", "status"), rows)
    axes = Axes(f"2011-figure-5: time to the exact makespan of {case.string}, {case.cap}", "W", "seconds", log_y=True)
    plot(folder / "2011-figure-5", axes, curves)


def annealing(folder: Path, seconds: float, warps: int = 16) -> None:
    """Write the improvements of eight chains over time and their envelope (2013, Figure 12): the published plan, and ours."""
    case = voronoi(warps)
    known = best(case, load("beam"), Budget(deadline=time.monotonic() + seconds))
    upper = best(case, load("bounds"), Budget(deadline=time.monotonic() + seconds)).upper or 0
    # The first run loads the compiler, which is not what the figure shows.
    Anneal(plan=replace(PUBLISHED, iterations=20_000)).search(case.problem, Budget(), lambda _: None)
    rows: list[tuple[object, ...]] = []
    for name, engine in (("published", Anneal(plan=PUBLISHED)), ("ours", Anneal())):
        done = engine.search(case.problem, Budget(deadline=time.monotonic() + seconds), lambda _: None)
        # The plan of ours is made for the time that there is; the published one has a number of candidates.
        cut = {chain.number for chain in done.chains if name == "published" and chain.iteration < PUBLISHED.iterations}
        rows.extend(
            (
                name,
                improvement.chain,
                improvement.start,
                improvement.iteration,
                f"{improvement.seconds:.4f}",
                improvement.makespan,
                CUT if improvement.chain in cut else SOLVED,
            )
            for improvement in done.improvements
        )
        _annealing_plot(folder / f"2013-figure-12-{name}", name, done, known.lower or 0, upper)
    table(folder / "2013-figure-12", ("moves", "chain", "start", "iteration", "seconds", "makespan", "status"), rows)


def _annealing_plot(path: Path, name: str, done: Annealed, lower: int, upper: int) -> None:
    end = done.result.seconds
    starts = {chain.number: chain.start for chain in done.chains}
    curves = [
        Curve(
            f"chain {number}: {kind}",
            _stairs([improvement for improvement in done.improvements if improvement.chain == number], end),
            ("-", "--", ":", "-.")[number % 4],
            step=True,
        )
        for number, kind in sorted(starts.items())
    ]
    best_of_all = _stairs(list(envelope(done.improvements)), end)
    curves.append(Curve("envelope", best_of_all, "-", step=True, marker=".", colour="#000000"))
    moves = "swaps, the published plan" if name == "published" else "whole warps, swaps and insertions"
    least, most = min(chain.iteration for chain in done.chains), max(chain.iteration for chain in done.chains)
    candidates = f"{most:,} candidates each" if least == most else f"{least:,} to {most:,} candidates each"
    axes = Axes(f"2013-figure-12: eight annealing chains on the case study, W = 16\n({moves}; {candidates})", "seconds", "slots", low=120)
    levels = (
        ("2013: what annealing reached", 160, ":"),
        ("2013: its upper bound, exceeded", 176, "--"),
        ("a schedule that exists", lower, "-"),
        ("safe bound", upper, "-."),
    )
    plot(path, axes, curves, levels)


def _stairs(improvements: Sequence[Improvement], end: float) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = [(improvement.seconds, improvement.makespan) for improvement in improvements]
    return [*points, (end, points[-1][1])] if points else []
