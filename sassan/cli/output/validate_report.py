"""The report of `validate`: a row per launch, what contradicts silicon, the gaps."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.cli.inputs import Result
from sassan.cli.output import analysis_report as report
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.errors import Gap
from sassan.validation.counts import CountCheck
from sassan.validation.launches import LaunchValidation, summary

_COLUMNS = (
    Column("kernel", widest=32),
    Column("grid"),
    Column("block"),
    Column("measured", number=True),
    Column("bound", number=True),
    Column("ratio", number=True),
    Column("executions"),
    Column("gaps"),
)
_LISTED = 20


def show(validations: Sequence[LaunchValidation], model: str) -> None:
    """Print every launch, a summary, what silicon refutes, what the bounds rest on, and the gaps."""
    table.show(Table(_COLUMNS, tuple(_row(one) for one in validations)))
    figures = summary(validations)
    noun = "launch" if len(validations) == 1 else "launches"
    out(f"\n{len(validations)} {noun}, {figures.count} of them with a bound ({model} model) and a measurement, in cycles")
    if figures.ratio_median is not None:
        out(f"; bound over measurement: median {figures.ratio_median:.2f}, {figures.below} below 1")
    if figures.tau is not None:
        out(f"; Kendall's tau {figures.tau:.2f}")
    out("\n")
    _refuted(validations)
    results = tuple({id(one.analysis): Result("", one.analysis) for one in validations if one.analysis is not None}.values())
    report.assumptions(results)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for one in validations:
        gaps[_name(one)].update(dict.fromkeys(one.gaps))
    report.list_gaps([(kernel, tuple(several)) for kernel, several in gaps.items()])


def _refuted(validations: Sequence[LaunchValidation]) -> None:
    lines = [line for one in validations for line in _contradictions(one)]
    if lines:
        out("\nrefuted by silicon (a defect of sassan, or of an assumption below):\n")
        out("".join(f"  - {line}\n" for line in lines[:_LISTED]))
        if len(lines) > _LISTED:
            out(f"  … and {len(lines) - _LISTED} more\n")


def _contradictions(one: LaunchValidation) -> Sequence[str]:
    name = safe(_name(one))
    lines = [
        f"{name} 0x{excess.address:04x}: executed {excess.recorded} times by warps, and the graph allows {excess.most}"
        for excess in one.counts.above
    ]
    if not one.counts.consistent and not one.counts.above:
        lines.append(f"{name}: no execution of the graph has the recorded counts together")
    if one.ratio is not None and one.ratio < 1:
        lines.append(f"{name}: measured {one.cycles:.0f} cycles, above the bound {one.bound}")
    return lines


def _row(one: LaunchValidation) -> tuple[str, ...]:
    launch = one.launch
    return (
        _name(one),
        _shape(launch.grid),
        _shape(launch.block),
        report.NONE if one.cycles is None else f"{one.cycles:.0f}",
        report.NONE if one.bound is None else str(one.bound),
        report.NONE if one.ratio is None else f"{one.ratio:.2f}",
        _executions(one.counts),
        ", ".join(sorted({gap.code for gap in one.gaps})),
    )


def _executions(counts: CountCheck) -> str:
    """Return how the executions fit: as many as on the worst path, possible on another, or impossible."""
    if not counts.checked:
        return report.NONE
    if not counts.consistent:
        return f"{len(counts.above) or counts.checked} of {counts.checked} impossible"
    if counts.equal == counts.checked:
        return f"{counts.checked} equal"
    return f"{counts.equal} equal, {counts.checked - counts.equal} possible"


def _name(one: LaunchValidation) -> str:
    return one.launch.mangled or one.launch.kernel


def _shape(shape: tuple[int, int, int] | None) -> str:
    return report.NONE if shape is None else "x".join(map(str, shape))
