"""The report of `validate`: a row per launch, contradictions of measurements, and gaps."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.cli.output import table
from sassan.cli.output.terminal import label, out
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.validation.document import ValidatedFields
from sassan.validation.launches import LaunchValidation, summary

_LISTED = 20


def show(validations: Sequence[LaunchValidation], model: str, *, every: bool = False) -> None:
    """Print every launch, a summary, contradictions, assumptions (`every`: also those that are backed), and gaps."""
    table.show(table.of_fields(ValidatedFields, validations))
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


def _name(validation: LaunchValidation) -> str:
    return validation.launch.mangled or validation.launch.kernel
