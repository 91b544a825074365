"""`sassan diff`: what changed between two builds."""

from collections.abc import Sequence
from dataclasses import replace

import typer

from sassan.app import documents
from sassan.app.builds import saved_results
from sassan.app.builds.changes import Change, changes
from sassan.app.builds.gates import Growth, grown, growth, refuse_experiments
from sassan.app.builds.saved_results import Result
from sassan.app.inputs import Inputs, Refused, matches, wanted
from sassan.cli.options.gates import FailOnGrowth, MaxGrowth
from sassan.cli.options.inputs import Json, New, Old
from sassan.cli.options.request import Asked, analysis
from sassan.cli.output import document
from sassan.cli.output.terminal import label, note, safe
from sassan.cli.reports import diff as diff_report
from sassan.errors import UsageError

GREW = 1
"""The status where something grew and that was asked for: that of a gate (docs/reference/commands.md)."""


@analysis
def diff(
    asked: Asked,
    old: Old,
    new: New,
    *,
    fail_on_growth: FailOnGrowth = False,
    max_growth: MaxGrowth = None,
    json: Json = False,
) -> None:
    """Show what changed between two builds.

    Numbers, strings, loops, gaps and assumptions that went are marked -, those that came +.

    Functions go by name and architecture; one that only has another name is found by its instructions. Either side may be what
    'sassan analyze --json' or 'sassan batch' wrote: then its numbers are those of that run, whatever the options say.

    \b
    Examples:
      sassan diff old.cubin new.cubin --loop-bound 10
      sassan diff old.sass new.sass -f '*saxpy*' --model table -W 16
      sassan diff results.jsonl new.cubin --fail-on-growth --max-growth 5%
      sassan diff old.json new.json --json
    """
    request = asked.request
    if request.recording is not None:
        raise UsageError("usage", "diff has no --launches", hint="sassan analyze, check, report and batch have it")

    if max_growth is not None and not fail_on_growth:
        raise UsageError("usage", "--max-growth has no effect without --fail-on-growth", hint="pass --fail-on-growth, too")
    if fail_on_growth and request.settings.experiment:
        raise UsageError("usage", "--paper-experiment and --ablate give no bounds that could grow", hint="omit them")
    if old == new == "-":
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
    allowed = growth(max_growth) if max_growth is not None else Growth()
    (before, missing), (after, lost) = _side(asked, old), _side(asked, new)
    _all_known(asked, (*before, *after), refused=bool(missing.refused or lost.refused))
    if fail_on_growth:
        refuse_experiments((*before, *after))
    changed = changes(before, after)
    refused = (*missing.refused, *lost.refused)
    if json:
        doubts = {remark.code: list(remark.names) for remark in diff_report.unknown(changed, growth=True)}
        rows = [diff_report.row(change) for change in changed]
        document.show(rows, refused, old=old, new=new, summary=diff_report.summary(changed), unknown=doubts)
    else:
        diff_report.show(changed, growth=fail_on_growth)
    status = max(missing.status, lost.status)
    if not status and fail_on_growth and _grew(changed, allowed):
        status = GREW
    if status:
        raise typer.Exit(status)


def _side(asked: Asked, path: str) -> tuple[tuple[Result, ...], Inputs]:
    """The functions of one side that are meant: saved results, or an analysis."""
    request, observer = asked.request, asked.observer
    if saved_results.is_results(path):
        saved = saved_results.load(path)
        refused = tuple(Refused(refusal.file, refusal.error) for refusal in saved.refused)
        for refusal in refused:
            observer.refused(replace(refusal, file=refusal.file or path))
        return tuple(result for result in saved.results if wanted(result.name, request.patterns)), Inputs((), refused)
    # A pattern may match functions of one side alone.
    inputs = replace(request, files=(path,), patterns=()).inputs(observer)
    chosen = tuple(selected for selected in inputs.selected if wanted(selected.function.name, request.patterns))
    results, inputs = request.results_of(replace(inputs, selected=chosen), observer, label=f"analyzing {path}")
    return tuple(saved_results.of(documents.analysis(result)) for result in results), inputs


def _all_known(asked: Asked, results: Sequence[Result], *, refused: bool) -> None:
    """Refuse a pattern that is for no function of either side, unless a side could not be read."""
    for pattern in () if refused else asked.request.patterns:
        if not any(matches(result.name, pattern) for result in results):
            raise UsageError("unknown-function", f"no function of either side matches '{pattern}'")


def _grew(changed: Sequence[Change], allowed: Growth) -> bool:
    """Say whether a number grew beyond what is allowed, and print which."""
    failed = False
    for change in changed:
        if change.old is not None and change.new is not None:
            for each in grown(change.old, change.new, allowed):
                failed = True
                note(f"{label(change.new.name)} ({safe(change.new.arch)}): {safe(each.message)}\n")
    return failed
