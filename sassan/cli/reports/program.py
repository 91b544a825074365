"""The report of `estimate --launches`: the kernels of a program by time, its total, and why the first three take theirs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassan.app.estimating import EstimateResult, expected_time
from sassan.app.launches import LaunchResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports import estimate as report
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.fields import field as fields
from sassan.fields.field import NONE, Declare, Record, Value
from sassan.fields.kinds import COUNT, FIGURE, STRING, TEXT, microseconds

_EXPLAINED = 3
"""Kernels that are explained, by their longest launch."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All launches of one kernel: how many, how many with an estimate, and the microseconds of these; `longest` is one of them."""

    name: str
    launches: int
    estimated: int
    us: float
    longest: EstimateResult | None


_of = Declare[KernelTime]()


class KernelTimeFields(Record[KernelTime]):
    """A kernel of a program."""

    name = _of(STRING, "the kernel", key="kernel")
    launches = _of(COUNT, "how many there are of it")
    estimated = _of(COUNT, "how many of them have an estimate")
    us = _of(FIGURE, "of all of these", lambda each: each.us if each.longest is not None else None, unit="us")
    longest = _of(FIGURE, "of the longest of them", lambda each: expected_time(each.longest).us, unit="us", key="longest_us")
    bound_by = _of(TEXT, "what explains most of the time of that one", lambda each: expected_time(each.longest).bound_by)


def kernels(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None]) -> tuple[KernelTime, ...]:
    """Return the kernels of a program, those that take most time first."""
    by_name: dict[str, list[tuple[int, EstimateResult | None]]] = defaultdict(list)
    for launch, result in zip(launches, estimates, strict=True):
        by_name[launch.launch.kernel].append((launch.launch.count, result))
    return tuple(sorted((_kernel(name, several) for name, several in by_name.items()), key=lambda each: (-each.us, each.name)))


def _kernel(name: str, several: Sequence[tuple[int, EstimateResult | None]]) -> KernelTime:
    known = [(count, result, result.estimate.us) for count, result in several if result is not None and result.estimate is not None]
    longest = max(known, key=lambda each: each[2], default=None)
    return KernelTime(
        name,
        sum(count for count, _ in several),
        sum(count for count, _, _ in known),
        sum(count * us for count, _, us in known),
        longest[1] if longest is not None else None,
    )


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


def document(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None]) -> Mapping[str, Value]:
    """Return the kernels and the total of a program."""
    several = kernels(launches, estimates)
    return {"kernels": [fields.document(KernelTimeFields, each) for each in several], "us": sum(each.us for each in several)}
