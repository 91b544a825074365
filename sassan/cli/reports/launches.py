"""The report of `analyze --launches`: a row per recorded launch, what the numbers rest on, the gaps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sassan.app.estimating import EstimateResult, expected_time
from sassan.app.launches import LaunchResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import analysis as report
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.timing import Quantity

_GRID_HAS = "the grid has"
_ESTIMATE = "estimate us"
_COLUMNS = (
    Column("kernel", widest=24, names=True),
    Column("grid"),
    Column("block"),
    Column("shared", number=True),
    Column("count", number=True),
    Column("WCET", number=True),
    Column("grid bound", number=True),
    Column("us", number=True),
    Column(_ESTIMATE, number=True),
    Column(_GRID_HAS, widest=len(report.UNLIMITED)),
    Column("gaps"),
)


HEADS = (
    *("kernel", "file", "grid", "block", "shared", "count", "wcet", "bound_cycles", "bound_us"),
    *("estimate_cycles", "estimate_us", "bound_by", "gaps"),
)
"""The columns of CSV."""


def flat(launch_result: LaunchResult, expected: EstimateResult | None) -> Mapping[str, object]:
    """Return a launch with its estimate as a row of CSV."""
    launch, time = launch_result.launch, expected_time(expected)
    return {
        "kernel": launch.kernel,
        "file": launch_result.file,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared": launch.shared,
        "count": launch.count,
        "wcet": launch_result.wcet,
        "bound_cycles": launch_result.cycles,
        "bound_us": launch_result.us,
        "estimate_cycles": time.cycles,
        "estimate_us": time.us,
        "bound_by": time.bound_by,
        "gaps": [gap.code for gap in launch_result.gaps],
    }


def show(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None], *, cut: str, every: bool = False) -> None:
    """Print every launch with its estimate, where there is one; `cut` says why the recording ends early; `every`: all assumptions."""
    timed = any(launch_result.us is not None for launch_result in launches)
    settings = [launch_result.result.settings for launch_result in launches if launch_result.result is not None]
    limited = any(each.gpu is not None or each.costs.quantity is Quantity.INSTRUCTIONS for each in settings)
    omitted = {*(() if timed else ("us",)), *(() if any(estimates) else (_ESTIMATE,)), *((_GRID_HAS,) if limited else ())}
    kept = [place for place, column in enumerate(_COLUMNS) if column.title not in omitted]
    rows = [_row(*each) for each in zip(launches, estimates, strict=True)]
    table.show(Table(tuple(_COLUMNS[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in rows)))
    total = sum(launch_result.launch.count for launch_result in launches)
    bounded = sum(launch_result.launch.count for launch_result in launches if launch_result.cycles is not None)
    out(f"\n{total} launches, {bounded} of them bounded")
    whole = sum(launch_result.launch.count * launch_result.cycles for launch_result in launches if launch_result.cycles is not None)
    us = sum(launch_result.launch.count * launch_result.us for launch_result in launches if launch_result.us is not None)
    time = f" ({report.microseconds(us)} us)" if timed else ""
    out(f"; one after the other at most {whole} cycles{time}\n" if total == bounded and launches else "\n")
    if cut:
        out(f"the recording was cut off {safe(cut)}: later launches are missing\n")
    results = tuple(
        {id(launch_result.result): launch_result.result for launch_result in launches if launch_result.result is not None}.values()
    )
    further = [text for launch_result in launches if launch_result.wcet is not None for text in launch_result.assumptions]
    assumptions.of_results(results, further, every=every)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for launch_result in launches:
        gaps[launch_result.launch.kernel].update(dict.fromkeys(launch_result.gaps))
    list_gaps([(kernel, tuple(several)) for kernel, several in gaps.items()])


def _row(launch_result: LaunchResult, expected: EstimateResult | None) -> tuple[str, ...]:
    launch = launch_result.launch
    numbers = (report.NONE if number is None else str(number) for number in (launch_result.wcet, launch_result.cycles))
    codes = ", ".join(sorted({gap.code for gap in launch_result.gaps}))
    return (
        launch.kernel,
        report.extents(launch.grid),
        report.extents(launch.block),
        str(launch.shared),
        str(launch.count),
        *numbers,
        report.microseconds(launch_result.us),
        report.NONE if expected is None or expected.estimate is None else report.microseconds(expected.estimate.us),
        report.NONE if launch_result.cycles is None else report.UNLIMITED,
        codes,
    )
