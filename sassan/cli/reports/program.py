"""The report of `estimate --launches`: the kernels of a program by time, its total, and why the first three take theirs."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
from sassan.app.program_times import KernelTime, kernels
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports import estimate as report
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.fields.field import NONE
from sassan.fields.kinds import microseconds

_EXPLAINED = 3
"""Kernels that are explained, by their longest launch."""


def show(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None], *, cut: str) -> None:
    """Print the kernels, the total, and what the first three are bound by; `cut` says why the recording ends early."""
    several = kernels(launches, estimates)
    total = sum(each.us for each in several)
    columns = (
        Column("kernel", widest=40, names=True),
        Column("launches", number=True),
        Column("us", number=True),
        Column("share", number=True),
        Column("longest us", number=True),
        Column("bound by"),
    )
    table.show(Table(columns, tuple(_row(each, total) for each in several)))
    count, known = sum(each.launches for each in several), sum(each.estimated for each in several)
    out(f"\n{count} launches, {known} of them with an estimate: {microseconds(total)} us one after the other\n")
    if cut:
        out(f"the recording was cut off {safe(cut)}: later launches are missing\n")
    out("\n")
    explained = [each.longest for each in several[:_EXPLAINED] if each.longest is not None]
    for longest in explained:
        report.details(longest)
    assumptions.show(list(dict.fromkeys(text for result in explained for text in result.assumptions)), every=True)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for launch, result in zip(launches, estimates, strict=True):
        gaps[launch.launch.kernel].update(dict.fromkeys((*launch.missing, *(result.gaps if result is not None else ()))))
    list_gaps([(kernel, tuple(several_gaps)) for kernel, several_gaps in gaps.items()])


def _row(each: KernelTime, total: float) -> tuple[str, ...]:
    known = each.longest.estimate if each.longest is not None else None
    if known is None:
        return (each.name, str(each.launches), NONE, NONE, NONE, NONE)
    return (each.name, str(each.launches), microseconds(each.us), f"{each.us / total:.0%}", microseconds(known.us), known.bound_by)
