"""A row per configuration or launch and cost model, and their summaries; as a table and as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from _lib import calibration
from _lib.written import written
from rich.console import Console
from rich.table import Table

from sassan.access.access import AccessPattern
from sassan.access.opcodes import MemorySpace
from sassan.measure import agreement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sassan.measure.agreement import Pairs
    from sassan.validation.launches import LaunchValidation


class Row(NamedTuple):
    """A measurement and the bound of a model; '' and None: unknown.

    Units: cycles of an SM, us; `registers` per thread. `group` is '' or the name of a part of the source that is also summed up alone.
    `measured_cycles` are recorded, or the time at the clock at which the GPU ran. `chain` to `launch` are the parts of the bound, over
    measured. `slopes` are those of the estimate (calibration.py), `held_back_cycles` what it is with figures fitted to all other programs.
    """

    source: str
    model: str
    name: str
    block: str
    grid: str
    registers: int | None
    measured_us: float | None
    measured_cycles: float | None
    bound_cycles: int | None
    estimate_cycles: float | None
    roofline_cycles: float | None
    gaps: str
    counts_checked: int | None = None
    counts_equal: int | None = None
    counts_above: int | None = None
    counts_consistent: bool | None = None
    group: str = ""
    chain: float | None = None
    sm: float | None = None
    drain: float | None = None
    memory: float | None = None
    launch: float | None = None
    slopes: tuple[float, ...] = ()
    held_back_cycles: float | None = None

    @property
    def program(self) -> str:
        """Return what is held back together: a program, or a source."""
        program, colon, _ = self.name.partition(":")
        return program if colon and " " not in program else self.source

    @property
    def pair(self) -> tuple[float, float] | None:
        """Return bound and measurement, None if either is missing."""
        return (float(self.bound_cycles), self.measured_cycles) if self.bound_cycles and self.measured_cycles else None


class Summary(NamedTuple):
    """All rows of a source and a model. Ratios are bound over measured."""

    source: str
    model: str
    n: int
    bounded_share: float
    gaps: str
    ratio_min: float | None
    ratio_median: float | None
    ratio_p90: float | None
    ratio_max: float | None
    below: int
    counts_checked: int | None
    counts_equal: int | None
    counts_above: int | None


def shape_text(extents: Sequence[int] | None) -> str:
    """Return extents as 256x1x1, '' if unknown."""
    return "x".join(map(str, extents)) if extents is not None else ""


class Judgement(NamedTuple):
    """What one way of predicting says of the rows of a source and a model; `regret_*` are of tuning spaces alone."""

    source: str
    model: str
    method: str
    n: int
    mape: float | None
    geometric_mean: float | None
    within_2x: float | None
    tau: float | None
    regret_1: float | None
    regret_10: float | None


_ANYWHERE = frozenset({AccessPattern.SCATTERED, AccessPattern.ROWS, AccessPattern.UNKNOWN})
"""Of accesses whose lanes, or rows of lanes, may lie anywhere to each other."""
METHODS = {"estimate": "estimate_cycles", "cross-validated": "held_back_cycles", "roofline": "roofline_cycles", "bound": "bound_cycles"}
"""Ways of predicting a time, and the column of each."""


def parts(rows: Sequence[Row]) -> list[tuple[str, str, str, list[Row]]]:
    """Return source, its name with that of a group, model and rows of all that is summed up: each source, and each group of one."""
    out: list[tuple[str, str, str, list[Row]]] = []
    for source, model in dict.fromkeys((row.source, row.model) for row in rows):
        some = [row for row in rows if (row.source, row.model) == (source, model)]
        out.append((source, source, model, some))
        groups = dict.fromkeys(row.group for row in some if row.group)
        out += ((source, f"{source}, {group}", model, [row for row in some if row.group == group]) for group in groups)
    return out


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """Return a summary per source and model, and one per group of a source."""
    return [_summary(name, model, some) for _, name, model, some in parts(rows)]


def judgements(rows: Sequence[Row], tuned: frozenset[str]) -> list[Judgement]:
    """Return how each way of predicting does, for all that is summed up; `tuned` are the sources that are tuning spaces."""
    return [_judgement(name, model, method, some, tuned=source in tuned) for source, name, model, some in parts(rows) for method in METHODS]


def _judgement(source: str, model: str, method: str, rows: Sequence[Row], *, tuned: bool) -> Judgement:
    both = [(getattr(row, METHODS[method]), row.measured_cycles) for row in rows]
    pairs: Pairs = [(float(predicted), measured) for predicted, measured in both if predicted and measured]
    return Judgement(
        source,
        model,
        method,
        len(pairs),
        agreement.mape(pairs),
        agreement.geometric_mean(pairs),
        agreement.within_twice(pairs),
        agreement.tau(pairs),
        agreement.regret(pairs, 1) if tuned else None,
        agreement.regret(pairs, 10) if tuned else None,
    )


def _summary(source: str, model: str, rows: Sequence[Row]) -> Summary:
    pairs: Pairs = [row.pair for row in rows if row.pair is not None]
    ratios = agreement.ratios(pairs)
    codes = Counter(code for row in rows for code in row.gaps.split())
    checked = [row for row in rows if row.counts_checked is not None]
    return Summary(
        source,
        model,
        len(rows),
        len(pairs) / len(rows),
        " ".join(f"{code}:{count}" for code, count in sorted(codes.items())),
        ratios.least if ratios else None,
        ratios.median if ratios else None,
        ratios.high if ratios else None,
        ratios.most if ratios else None,
        ratios.below if ratios else 0,
        sum(row.counts_checked or 0 for row in checked) if checked else None,
        sum(row.counts_equal or 0 for row in checked) if checked else None,
        sum(row.counts_above or 0 for row in checked) if checked else None,
    )


def show(sums: Sequence[Summary], predictions: Sequence[Judgement]) -> None:
    """Print the summaries, and how each way of predicting does."""
    table = Table("source", "model", "n", "bounded", "min", "median", "90 %", "max", "below", "gaps", box=None)
    for each in sums:
        ratios = (each.ratio_min, each.ratio_median, each.ratio_p90, each.ratio_max)
        table.add_row(
            each.source, each.model, str(each.n), f"{each.bounded_share:.0%}", *map(_figure, ratios), str(each.below), each.gaps or "-"
        )
    console = Console(width=200, markup=False, highlight=False)
    console.print("bound over measured cycles; below: how many bounds silicon refutes")
    console.print(table)
    console.print("\nestimate, roofline and bound as predictions; mean: geometric mean of predicted over measured;")
    console.print("regret: time of the best of the first 1 or 10 by that order, over the best time")
    methods = Table("source", "model", "method", "n", "MAPE", "mean", "within 2x", "tau", "regret@1", "@10", box=None)
    for one in predictions:
        figures = (one.mape, one.geometric_mean, one.within_2x, one.tau, one.regret_1, one.regret_10)
        methods.add_row(one.source, one.model, one.method, str(one.n), *map(_figure, figures))
    console.print(methods)


def apart(validation: LaunchValidation | None) -> str:
    """Return why the bound of a launch charges its memory the worst; '' where it does not."""
    accesses = validation.analysis.accesses if validation is not None and validation.analysis is not None else None
    accesses = [access for access in accesses or () if access.space in {MemorySpace.GLOBAL, MemorySpace.GENERIC}]
    if any(access.opcode.startswith(("ATOM", "RED")) and access.collisions != 1 for access in accesses):
        return "atomics that may collide"
    if any(access.pattern in _ANYWHERE for access in accesses):
        return "addresses not known"
    return ""


def terms(validation: LaunchValidation | None) -> dict[str, float]:
    """Return the parts of the bound over the measured time, by column; nothing where they are unknown."""
    makespan = validation.analysis.makespan if validation is not None and validation.analysis is not None else None
    if validation is None or makespan is None or makespan.terms is None or not validation.cycles:
        return {}
    return {name: float(part) / validation.cycles for name, part in asdict(makespan.terms).items()}


def slopes(validation: LaunchValidation | None) -> tuple[float, ...]:
    """Return by which power figures of the hardware change the estimate of a launch, nothing where there is none."""
    made = validation.estimate.prepared if validation is not None and validation.estimate is not None else None
    return calibration.slopes(made) if made is not None else ()


def points(rows: Sequence[Row]) -> list[calibration.Point]:
    """Return the rows with a measurement and an estimate as points of the calibration."""
    return [
        calibration.Point(row.source, row.program, row.measured_cycles, row.estimate_cycles, row.slopes)
        for row in rows
        if row.slopes and row.measured_cycles and row.estimate_cycles
    ]


def crossed(rows: Sequence[Row]) -> list[Row]:
    """Return rows with estimates whose figures are fitted to the launches of all other programs, for each model."""
    out = list(rows)
    for model in dict.fromkeys(row.model for row in rows):
        places = [index for index, row in enumerate(rows) if row.model == model and row.slopes and row.measured_cycles]
        for index, cycles in zip(places, calibration.held_back(points([rows[index] for index in places])), strict=True):
            out[index] = rows[index]._replace(held_back_cycles=cycles)
    return out


def roofline(validation: LaunchValidation) -> float | None:
    """Return the cycles of all instructions at the issue rate, or of all bytes at the bandwidth of DRAM, if that is more; None: unknown.

    Every warp takes the expected path.
    """
    known = validation.estimate.estimate if validation.estimate is not None else None
    return max(known.shares["issue"], known.shares["dram"]) * known.cycles if known is not None else None


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def write(rows: Sequence[NamedTuple], path: Path) -> None:
    """Write rows of one type as CSV: None as '', numbers with 6 digits."""
    with written(path) as file:
        writer = csv.writer(file)
        if rows:
            writer.writerow(rows[0]._fields)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(f"{each:.6g}" for each in value)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value
