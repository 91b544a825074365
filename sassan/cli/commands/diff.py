"""`sassan diff`: what changed between two builds."""

from collections.abc import Sequence
from dataclasses import replace

import typer

from sassan.app.analysis_fields import AnalysisFields
from sassan.app.builds import saved_results
from sassan.app.builds.change_fields import ChangeFields, NumberFields, summary, unknown
from sassan.app.builds.changes import FunctionChange, changes
from sassan.app.builds.code import compared
from sassan.app.builds.growth import NONE, Allowed, Growth, grown, growth, refuse_experiments
from sassan.app.builds.numbers import requested_bounds
from sassan.app.builds.saved_results import SavedResult
from sassan.app.inputs import Inputs, RefusedInput, SelectedFunction, matches, wanted
from sassan.app.settings import Settings
from sassan.cli.options.gates import FailOnGrowth, MaxGrowth
from sassan.cli.options.inputs import Csv, Json, New, Old
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.options.views import CodePage, MachineCode
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.files import extension, save
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import label, note, safe
from sassan.cli.reports import code as code_report
from sassan.cli.reports import diff as diff_report
from sassan.errors import UsageError
from sassan.fields.field import document as document_of
from sassan.launches import Launches

GREW = 1
"""The status where something grew and that was asked for: that of a gate (docs/reference/commands.md)."""


@analysis
def diff(
    command: AnalysisCommand,
    old: Old,
    new: New,
    *,
    fail_on_growth: FailOnGrowth = False,
    max_growth: MaxGrowth = None,
    sass: MachineCode = False,
    output: CodePage = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show what changed between two builds.

    Numbers, strings, loops, gaps and assumptions that went are marked -, those that came +.

    Functions go by name and architecture; one that only has another name is found by its instructions. With --launches, each is compared
    for every launch that both builds can have, by its arguments. Either side may be what
    'sassan analyze --json' or 'sassan batch' wrote: then its numbers are those of that run, whatever the options say.

    With --sass, machine code is compared, and nothing is analyzed: blocks are paired, and those that differ in addresses, control codes,
    branch targets or the numbers of registers alone are the same.

    \b
    Examples:
      sassan diff old.cubin new.cubin --loop-bound 10
      sassan diff old.sass new.sass -f '*saxpy*' --model table -W 16
      sassan diff results.jsonl new.cubin --fail-on-growth --max-growth 5%
      sassan diff old.json new.json --json
      sassan diff old.cubin new.cubin --sass -o code.html
    """
    sheet.exclude(csv=csv, json=json)
    if sass:
        if csv:
            raise UsageError("usage", "--csv has the numbers of functions, and --sass compares none", hint="pass --json with --sass")
        _code(command, old, new, output, json=json)
        return
    _check(command, (old, new), output, max_growth, fail=fail_on_growth)
    allowed = growth(max_growth) if max_growth is not None else NONE
    (before, missing), (after, lost) = _side(command, old), _side(command, new)
    _all_known(command, (*before, *after), refused=bool(missing.refused or lost.refused))
    if fail_on_growth:
        refuse_experiments((*before, *after))
    changed = changes(before, after)
    refused = (*missing.refused, *lost.refused)
    if json:
        doubts = {remark.code: list(remark.names) for remark in unknown(changed, growth=True)}
        rows = [document_of(ChangeFields, change) for change in changed]
        document.show(rows, refused, old=old, new=new, summary=summary(changed), unknown=doubts)
    elif csv:
        numbers = ((change, change.numbers) for change in changed)
        sheet.of_parts(ChangeFields, NumberFields, numbers, alone=True)
    else:
        diff_report.show(changed, growth=fail_on_growth)
    status = max(missing.status, lost.status)
    if not status and fail_on_growth and _grew(changed, allowed):
        status = GREW
    if status:
        raise typer.Exit(status)


def _check(command: AnalysisCommand, sides: tuple[str, str], output: str | None, growth: str | None, *, fail: bool) -> None:
    """Refuse options that contradict each other or have no effect; raises UsageError."""
    if output is not None:
        raise UsageError("usage", "-o has no effect without --sass", hint="pass --sass, too")
    if growth is not None and not fail:
        raise UsageError("usage", "--max-growth has no effect without --fail-on-growth", hint="pass --fail-on-growth, too")
    if fail and command.request.settings.experiment:
        raise UsageError("usage", "--paper-experiment and --ablate give no bounds that could grow", hint="omit them")
    if sides == ("-", "-"):
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")


def _code(command: AnalysisCommand, old: str, new: str, output: str | None, *, json: bool) -> None:
    """Print or write how the machine code of the two sides differs."""
    if output is not None:
        extension(output, ("html",))
    if old == new == "-":
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
    request = command.request
    sides = [
        replace(request, files=(path,), patterns=(), settings=Settings(), target=request.compiled_for).inputs(command.observer)
        for path in (old, new)
    ]
    chosen = [[each.function for each in side.selected if wanted(each.function.name, request.patterns)] for side in sides]
    refused = [*sides[0].refused, *sides[1].refused]
    for pattern in () if refused else request.patterns:
        if not any(matches(function.name, pattern) for side in chosen for function in side):
            raise UsageError("unknown-function", f"no function of either side matches '{pattern}'")
    pairs = compared(*chosen)
    if output is not None:
        save(output, code_report.page(pairs, old, new).encode("utf-8", "backslashreplace"), quiet=command.observer.quiet)
    if json:
        document.show([document_of(code_report.CodeFields, pair) for pair in pairs], refused, old=old, new=new)
    elif output is None:
        code_report.show(pairs)
    for side in sides:
        finish(side)


def _side(command: AnalysisCommand, path: str) -> tuple[tuple[SavedResult, ...], Inputs]:
    """The functions of one side that are meant: saved results, or an analysis."""
    with saved_results.is_results(path) as saved:
        return _saved(command, path) if saved else _analyzed(command, path)


def _saved(command: AnalysisCommand, path: str) -> tuple[tuple[SavedResult, ...], Inputs]:
    saved = saved_results.load(path)
    refused = tuple(RefusedInput(refusal.file, refusal.error) for refusal in saved.refused)
    for refusal in refused:
        command.observer.refused(replace(refusal, file=refusal.file or path))
    return tuple(result for result in saved.results if wanted(result.name, command.request.patterns)), Inputs((), refused)


def _analyzed(command: AnalysisCommand, path: str) -> tuple[tuple[SavedResult, ...], Inputs]:
    request, observer = command.request, command.observer
    # A pattern may match functions of one side alone.
    inputs = replace(request, files=(path,), patterns=()).inputs(observer)
    chosen = tuple(selected for selected in inputs.selected if wanted(selected.function.name, request.patterns))
    request = replace(request, recording=_of_this_build(request.recording, chosen), whole=True)
    results, inputs = request.results_of(replace(inputs, selected=chosen), observer, label=f"analyzing {path}")
    return tuple(saved_results.of(document_of(AnalysisFields, result)) for result in results), inputs


def _of_this_build(recording: Launches | None, chosen: Sequence[SelectedFunction]) -> Launches | None:
    """A recording whose launches go by the names of kernels where this build has not the code that was launched."""
    if recording is None:
        return None
    images = {selected.function.image for selected in chosen}
    launches = (launch if launch.code in images else replace(launch, code=None) for launch in recording.launches)
    return replace(recording, launches=tuple(launches))


def _all_known(command: AnalysisCommand, results: Sequence[SavedResult], *, refused: bool) -> None:
    """Refuse a pattern that is for no function of either side, unless a side could not be read."""
    for pattern in () if refused else command.request.patterns:
        if not any(matches(result.name, pattern) for result in results):
            raise UsageError("unknown-function", f"no function of either side matches '{pattern}'")


def _grew(changed: Sequence[FunctionChange], allowed: Growth) -> bool:
    """Say whether a number grew beyond what is allowed, and print which.

    Raises UsageError where the two sides count in different units.
    """
    failed = False
    for change in changed:
        if change.old is not None and change.new is not None:
            if change.old.model != change.new.model:
                models = f"'{change.old.model}' and '{change.new.model}'"
                raise UsageError(
                    "usage", f"'{change.new.name}': no number grows between the cost models {models}", hint="pass the same --model"
                )
            for each in grown(change.old, change.new, Allowed(allowed), requested_bounds(change.new)):
                failed = True
                note(f"{label(change.new.name)} ({safe(change.new.arch)}): {safe(each.message)}\n")
    return failed
