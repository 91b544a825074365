"""The report of `validate`: a row per launch, contradictions of measurements, and gaps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out
from sassan.cli.reports import analysis as report
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.validation.counts import CountCheck
from sassan.validation.document import measured_us
from sassan.validation.launches import LaunchValidation, summary

_COLUMNS = (
    Column("kernel", widest=32, names=True),
    Column("grid"),
    Column("block"),
    Column("measured", number=True),
    Column("bound", number=True),
    Column("ratio", number=True),
    Column("estimate", number=True),
    Column("executions"),
    Column("gaps"),
)
_LISTED = 20


HEADS = (
    *("kernel", "grid", "block", "count", "measured_cycles", "measured_us", "instructions", "bound_cycles", "bound_us", "ratio"),
    *("estimate_cycles", "estimate_us", "bound_by", "checked", "equal", "above", "consistent", "gaps"),
)
"""The columns of CSV."""


def flat(validation: LaunchValidation) -> Mapping[str, object]:
    """Return a launch as a row of CSV."""
    launch, counts = validation.launch, validation.counts
    known = validation.estimate.estimate if validation.estimate is not None else None
    return {
        "kernel": _name(validation),
        "grid": list(launch.grid or ()),
        "block": list(launch.block or ()),
        "count": launch.count,
        "measured_cycles": validation.cycles,
        "measured_us": measured_us(validation),
        "instructions": launch.instructions,
        "bound_cycles": validation.bound,
        "bound_us": validation.us(validation.bound),
        "ratio": validation.ratio,
        "estimate_cycles": validation.estimated,
        "estimate_us": validation.us(validation.estimated),
        "bound_by": known.bound_by if known is not None else None,
        "checked": counts.checked,
        "equal": counts.equal,
        "above": len(counts.above),
        "consistent": counts.consistent,
        "gaps": [gap.code for gap in validation.gaps],
    }


def show(validations: Sequence[LaunchValidation], model: str, *, every: bool = False) -> None:
    """Print every launch, a summary, contradictions, assumptions (`every`: also those that are backed), and gaps."""
    table.show(Table(_COLUMNS, tuple(_row(validation) for validation in validations)))
    figures = summary(validations)
    noun = "launch" if len(validations) == 1 else "launches"
    out(f"\n{len(validations)} {noun}, {figures.count} of them with a bound ({model} model) and a measurement, in cycles")
    if figures.ratio_median is not None:
        out(f"; bound over measurement: median {figures.ratio_median:.2f}, {figures.below} below 1")
    if figures.tau is not None:
        out(f"; Kendall's tau {figures.tau:.2f}")
    if figures.estimate_mape is not None:
        out(f"; estimates are off by {figures.estimate_mape:.0%} on average")
    out("\n")
    _refuted(validations)
    results = tuple(
        {id(validation.analysis): validation.analysis for validation in validations if validation.analysis is not None}.values()
    )
    assumptions.of_results(results, every=every)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for validation in validations:
        gaps[_name(validation)].update(dict.fromkeys(validation.gaps))
    list_gaps([(kernel, tuple(kernel_gaps)) for kernel, kernel_gaps in gaps.items()])


def _refuted(validations: Sequence[LaunchValidation]) -> None:
    lines = [line for validation in validations for line in _contradictions(validation)]
    if lines:
        out("\nrefuted by measurements (a defect of sassan, or of an assumption below):\n")
        out("".join(f"  - {line}\n" for line in lines[:_LISTED]))
        if len(lines) > _LISTED:
            out(f"  … and {len(lines) - _LISTED} more\n")


def _contradictions(validation: LaunchValidation) -> Sequence[str]:
    name = label(_name(validation))
    lines = [
        f"{name} 0x{excess.address:04x}: executed {excess.recorded} times by warps, but the graph allows {excess.most}"
        for excess in validation.counts.above
    ]
    if not validation.counts.consistent and not validation.counts.above:
        lines.append(f"{name}: the recorded counts together contradict the graph")
    if validation.ratio is not None and validation.ratio < 1:
        lines.append(f"{name}: measured {validation.cycles:.0f} cycles, above the bound of {validation.bound} cycles")
    return lines


def _row(validation: LaunchValidation) -> tuple[str, ...]:
    launch = validation.launch
    return (
        _name(validation),
        _shape(launch.grid),
        _shape(launch.block),
        report.NONE if validation.cycles is None else f"{validation.cycles:.0f}",
        report.NONE if validation.bound is None else str(validation.bound),
        report.NONE if validation.ratio is None else f"{validation.ratio:.2f}",
        report.NONE if validation.estimated is None else f"{validation.estimated:.0f}",
        _executions(validation.counts),
        ", ".join(sorted({gap.code for gap in validation.gaps})),
    )


def _executions(counts: CountCheck) -> str:
    """Return the result of the check: executions as on the worst path, possible on another path, or impossible."""
    if not counts.checked:
        return report.NONE
    if not counts.consistent:
        return f"{len(counts.above) or counts.checked} of {counts.checked} impossible"
    if counts.equal == counts.checked:
        return f"{counts.checked} equal"
    return f"{counts.equal} equal, {counts.checked - counts.equal} possible"


def _name(validation: LaunchValidation) -> str:
    return validation.launch.mangled or validation.launch.kernel


def _shape(shape: tuple[int, int, int] | None) -> str:
    return report.NONE if shape is None else "x".join(map(str, shape))
