"""`sassan check`: gates for CI."""

from dataclasses import replace

import typer

from sassan.app.builds.build import build_of
from sassan.app.builds.check_fields import CheckFields, FailureFields, places
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.checker import Checker, CheckRequest, gates_of
from sassan.app.builds.gates import GateRule, mix
from sassan.app.documents import HeadFields
from sassan.app.inputs import Inputs
from sassan.cli.options.gates import (
    AllowUnmatched,
    BaselineFile,
    Control,
    Gates,
    JUnit,
    MaxCodeGrowth,
    MaxDivergent,
    MaxGridCycles,
    MaxGrowth,
    MaxLocal,
    MaxMakespan,
    MaxMix,
    MaxRegisters,
    MaxShared,
    MaxSpills,
    MaxTotalUs,
    MaxUs,
    MaxWaste,
    MaxWcet,
    MinMix,
    MinOccupancy,
    NoGaps,
    RequireBounded,
    Sarif,
    Summary,
    UpdateBaseline,
)
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.files import check_writable, save
from sassan.cli.output.terminal import note, safe
from sassan.cli.reports import check as check_report
from sassan.cli.reports import junit as junit_report
from sassan.cli.reports import summary as summary_report
from sassan.errors import UsageError
from sassan.fields import field as fields

FAILED = 1
"""The status where a gate failed (docs/reference/commands.md)."""
_OUT = "-"


@analysis
def check(
    command: AnalysisCommand,
    *,
    max_wcet: MaxWcet = None,
    max_makespan: MaxMakespan = None,
    max_us: MaxUs = None,
    max_grid_cycles: MaxGridCycles = None,
    max_total_us: MaxTotalUs = None,
    max_registers: MaxRegisters = None,
    max_divergent: MaxDivergent = None,
    max_waste: MaxWaste = None,
    max_spills: MaxSpills = None,
    max_shared: MaxShared = None,
    max_local: MaxLocal = None,
    min_occupancy: MinOccupancy = None,
    max_mix: MaxMix = None,
    min_mix: MinMix = None,
    require_bounded: RequireBounded = False,
    no_gaps: NoGaps = False,
    control: Control = False,
    gates: Gates = None,
    allow_unmatched: AllowUnmatched = False,
    baseline: BaselineFile = None,
    max_growth: MaxGrowth = None,
    max_code_growth: MaxCodeGrowth = None,
    update_baseline: UpdateBaseline = False,
    sarif: Sarif = None,
    junit: JUnit = None,
    summary: Summary = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Check functions against limits: a gate for CI.

    Each failure is one line with its place, and of what grew with what explains it. A number that is not known (the function has gaps)
    fails every limit on it: unknown is not below N. A baseline is what 'sassan analyze --json' printed of an older build: bounds,
    registers, instructions, accesses, conflicts, divergent branches. The last line names what it, or any gate, does not hold.

    \b
    Examples:
      sassan check k.cubin --require-bounded --max-wcet 5000
      sassan check k.cubin -W 16 --max-makespan 20000 --max-registers 64
      sassan check k.cubin --block-dim 32,8 --param n=1024 --max-waste 0
      sassan check a.out --gpu T4 --launches launches.toml --max-total-us 5000
      sassan check k.cubin --max-mix D=0 --min-mix T=5
      sassan check k.cubin --gates gates.toml --sarif sassan.sarif
      sassan analyze old.cubin --json > old.json
      sassan check new.cubin --baseline old.json --max-growth 5%
      sassan check k.sass --control
      sassan check --update-baseline

    \b
    A file of gates has a table per pattern of function names:
      [function."*saxpy*"]
      max-wcet = 400
      no-gaps = true
    """
    sheet.exclude(csv=csv, json=json)
    request = command.request
    held = CheckRequest(
        gates=(
            *(mix(rule, text) for rule, texts in ((GateRule.MAX_MIX, max_mix), (GateRule.MIN_MIX, min_mix)) for text in texts or ()),
            *gates_of(
                {
                    GateRule.MAX_WCET: max_wcet,
                    GateRule.MAX_MAKESPAN: max_makespan,
                    GateRule.MAX_US: max_us,
                    GateRule.MAX_GRID_CYCLES: max_grid_cycles,
                    GateRule.MAX_TOTAL_US: max_total_us,
                    GateRule.MAX_REGISTERS: max_registers,
                    GateRule.MAX_DIVERGENT: max_divergent,
                    GateRule.MAX_WASTE: max_waste,
                    GateRule.MAX_SPILLS: max_spills,
                    GateRule.MAX_SHARED: max_shared,
                    GateRule.MAX_LOCAL: max_local,
                    GateRule.MIN_OCCUPANCY: min_occupancy,
                },
                {GateRule.REQUIRE_BOUNDED: require_bounded, GateRule.NO_GAPS: no_gaps},
            ),
        ),
        control=control,
        gates_file=gates,
        baseline=baseline,
        growth=max_growth,
        code_growth=max_code_growth,
        update=update_baseline,
        partial=allow_unmatched,
    )
    if command.project is not None:
        held = held.beside(command.project, whole=command.whole)
    if (json or csv) and sarif == _OUT:
        raise UsageError("usage", "--json or --csv and --sarif - print to standard output", hint="pass a file name to --sarif")
    facts = request.settings.facts
    for output in (sarif, junit, summary):
        check_writable(output, [*request.files, gates, held.baseline, facts.name if facts is not None else None])
    checker = Checker(request, held)
    checked, inputs = _checked(command, checker, partial=held.partial)
    _say(command, checker)
    remarks = checker.remarks(checked)
    if update_baseline and held.baseline is not None and not inputs.refused:
        save(held.baseline, document.text([entry.row for entry in checked], ()).encode(), quiet=command.observer.quiet)
    _write(checked, inputs, remarks, junit, summary, quiet=command.observer.quiet)
    if sarif is not None:
        check_report.write_sarif(checked, inputs, remarks, sarif, _status(checked, inputs), quiet=command.observer.quiet)
    if json:
        document.show([fields.document(CheckFields, entry) for entry in checked], inputs.refused, missing=checker.missing)
    elif csv:
        failures = ((entry.result, places(entry)) for entry in checked)
        sheet.of_parts(HeadFields, FailureFields, failures, alone=True)
    elif sarif != _OUT:
        check_report.show(checked, len(inputs.refused), remarks)
    if _status(checked, inputs):
        raise typer.Exit(_status(checked, inputs))


def _checked(command: AnalysisCommand, checker: Checker, *, partial: bool) -> tuple[list[CheckedFunction], Inputs]:
    """Return every function with what it fails, and the inputs with all that was refused, gates of no function, too."""
    build = build_of(
        command.request, command.observer, partial=partial, changed=checker.against_baseline or command.request.spare_parameters
    )
    checked = checker.checked(build)
    for refused in checker.refused:
        command.observer.refused(refused)
    return checked, replace(build.inputs, refused=(*build.inputs.refused, *checker.refused))


def _say(command: AnalysisCommand, checker: Checker) -> None:
    """Print what the checks take for granted, and which gates are for none of the functions."""
    for text in checker.assumptions:
        command.observer.assumed(text)
    for text in () if command.observer.quiet else checker.unmatched:
        note(f"note: {safe(text)}\n")


def _write(
    checked: list[CheckedFunction], inputs: Inputs, remarks: tuple[Remark, ...], junit: str | None, summary: str | None, *, quiet: bool
) -> None:
    """Write the files for CI systems and for reviewers."""
    if junit is not None:
        save(junit, junit_report.text(checked, inputs.refused).encode("utf-8", "backslashreplace"), quiet=quiet)
    if summary is not None:
        save(summary, summary_report.text(checked, len(inputs.refused), remarks).encode("utf-8", "backslashreplace"), quiet=quiet)


def _status(checked: list[CheckedFunction], inputs: Inputs) -> int:
    return inputs.status or (FAILED if any(entry.failures for entry in checked) else 0)
