"""A row per configuration or launch and cost model, and their summaries; as a table and as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from sassan.measure import agreement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sassan.measure.agreement import Pairs
    from sassan.validation.launches import LaunchValidation


class Row(NamedTuple):
    """A measurement and the bound of a model; '' and None: unknown.

    Units: cycles of an SM, us; `registers` per thread. `group` is '' or the name of a part of the source that is also summed up alone.
    `measured_cycles` are recorded, or the time at the boost clock of the product.
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

    @property
    def pair(self) -> tuple[float, float] | None:
        """Return bound and measurement, None if either is missing."""
        return (float(self.bound_cycles), self.measured_cycles) if self.bound_cycles and self.measured_cycles else None


class Summary(NamedTuple):
    """All rows of a source and a model. Ratios are bound over measured; `tau` and `regret_*` are of tuning spaces alone."""

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
    estimate_ratio_geomean: float | None
    estimate_mape: float | None
    estimate_within_2x: float | None
    tau: float | None
    regret_1: float | None
    regret_10: float | None
    estimate_tau: float | None
    estimate_regret_1: float | None
    estimate_regret_10: float | None
    roofline_mape: float | None
    roofline_tau: float | None
    counts_checked: int | None
    counts_equal: int | None
    counts_above: int | None


def shape_text(extents: Sequence[int] | None) -> str:
    """Return extents as 256x1x1, '' if unknown."""
    return "x".join(map(str, extents)) if extents is not None else ""


def summaries(rows: Sequence[Row], tuned: frozenset[str]) -> list[Summary]:
    """Return a summary per source and model, and one per group of a source; `tuned` are the sources that are tuning spaces."""
    sums: list[Summary] = []
    for source, model in dict.fromkeys((row.source, row.model) for row in rows):
        some = [row for row in rows if (row.source, row.model) == (source, model)]
        sums.append(_summary(source, model, some, tuned=source in tuned))
        sums += (
            _summary(f"{source}, {group}", model, [row for row in some if row.group == group], tuned=source in tuned)
            for group in dict.fromkeys(row.group for row in some if row.group)
        )
    return sums


def _summary(source: str, model: str, rows: Sequence[Row], *, tuned: bool) -> Summary:
    pairs: Pairs = [row.pair for row in rows if row.pair is not None]
    ratios = agreement.ratios(pairs)
    estimates: Pairs = [(row.estimate_cycles, row.measured_cycles) for row in rows if row.estimate_cycles and row.measured_cycles]
    rooflines: Pairs = [(row.roofline_cycles, row.measured_cycles) for row in rows if row.roofline_cycles and row.measured_cycles]
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
        agreement.geometric_mean(estimates),
        agreement.mape(estimates),
        agreement.within_twice(estimates),
        agreement.tau(pairs) if tuned else None,
        agreement.regret(pairs, 1) if tuned else None,
        agreement.regret(pairs, 10) if tuned else None,
        agreement.tau(estimates) if tuned else None,
        agreement.regret(estimates, 1) if tuned else None,
        agreement.regret(estimates, 10) if tuned else None,
        agreement.mape(rooflines),
        agreement.tau(rooflines) if tuned else None,
        sum(row.counts_checked or 0 for row in checked) if checked else None,
        sum(row.counts_equal or 0 for row in checked) if checked else None,
        sum(row.counts_above or 0 for row in checked) if checked else None,
    )


def show(sums: Sequence[Summary]) -> None:
    """Print the summaries."""
    table = Table("source", "model", "n", "bounded", "min", "median", "90 %", "max", "below", "tau", "regret@1", "@10", "gaps", box=None)
    for each in sums:
        ratios = (each.ratio_min, each.ratio_median, each.ratio_p90, each.ratio_max)
        cells = [*map(_figure, ratios), str(each.below), *map(_figure, (each.tau, each.regret_1, each.regret_10))]
        table.add_row(each.source, each.model, str(each.n), f"{each.bounded_share:.0%}", *cells, each.gaps or "-")
    console = Console(width=200, markup=False, highlight=False)
    console.print("bound over measured cycles; below: how many bounds silicon refutes; regret: best time of the first 1 or 10 by bound")
    console.print(table)
    console.print("\nestimates, beside instructions over issue rate (roofline)")
    console.print(_estimates(sums))


def _estimates(sums: Sequence[Summary]) -> Table:
    table = Table("source", "model", "mean ratio", "MAPE", "within 2x", "tau", "regret@1", "@10", "roofline MAPE", "tau", box=None)
    for each in sums:
        figures = (each.estimate_ratio_geomean, each.estimate_mape, each.estimate_within_2x, each.estimate_tau)
        more = (each.estimate_regret_1, each.estimate_regret_10, each.roofline_mape, each.roofline_tau)
        table.add_row(each.source, each.model, *map(_figure, (*figures, *more)))
    return table


def roofline(validation: LaunchValidation) -> float | None:
    """Return the cycles in which the SMs issue all instructions of a launch, where every warp takes the expected path; None: unknown."""
    known = validation.estimate.estimate if validation.estimate is not None else None
    return known.shares["issue"] * known.cycles if known is not None else None


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def write(rows: Sequence[NamedTuple], path: Path) -> None:
    """Write rows of one type as CSV: None as '', numbers with 6 digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if rows:
            writer.writerow(rows[0]._fields)
        writer.writerows(["" if value is None else f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows)
