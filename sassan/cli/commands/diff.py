"""`sassan diff`: what changed between two builds."""

from collections.abc import Sequence

import typer

from sassan.app import documents, saved_results
from sassan.app.analysis import analyze
from sassan.app.changes import Change, changes
from sassan.app.gates import Growth, grown, growth, refuse_experiments
from sassan.app.saved_results import Result
from sassan.cli import inputs
from sassan.cli.inputs import Inputs, Refused
from sassan.cli.options.gates import FailOnGrowth, MaxGrowth
from sassan.cli.options.inputs import Json, New, Old
from sassan.cli.options.request import Asked, analysis
from sassan.cli.output import diff_report, document, failure
from sassan.cli.output.terminal import note, safe
from sassan.errors import UsageError

GREW = 1
"""The status where something grew and that was asked for: that of a gate (cli.md)."""


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
    if asked.recording is not None:
        raise UsageError("usage", "diff has no --launches", hint="sassan analyze, check, report and batch have it")

    if max_growth is not None and not fail_on_growth:
        raise UsageError("usage", "--max-growth says what fails", hint="give --fail-on-growth, too")
    if fail_on_growth and (asked.settings.setup.paper or asked.settings.exploration.ablate):
        raise UsageError("usage", "--paper-experiment and --ablate give no bounds that could grow", hint="leave them away")
    if old == new == "-":
        raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
    allowed = growth(max_growth) if max_growth is not None else Growth()
    (before, missing), (after, lost) = _side(asked, old), _side(asked, new)
    _all_known(asked, (*before, *after), refused=bool(missing.refused or lost.refused))
    if fail_on_growth:
        refuse_experiments((*before, *after))
    found = changes(before, after)
    refused = (*missing.refused, *lost.refused)
    if json:
        doubts = {one.code: list(one.names) for one in diff_report.unknown(found, growth=True)}
        rows = [diff_report.row(one) for one in found]
        document.show(rows, refused, old=old, new=new, summary=diff_report.summary(found), unknown=doubts)
    else:
        diff_report.show(found, growth=fail_on_growth)
    status = max(missing.status, lost.status)
    if not status and fail_on_growth and _grew(found, allowed):
        status = GREW
    if status:
        raise typer.Exit(status)


def _side(asked: Asked, path: str) -> tuple[tuple[Result, ...], Inputs]:
    """Return the functions of one side that were asked for: saved results, or an analysis."""
    wanted = asked.functions
    if saved_results.is_results(path):
        saved = saved_results.load(path)
        refused = tuple(Refused(one.file, one.error) for one in saved.refused)
        for one in refused:
            failure.show(one.error, one.file or path)
        return tuple(one for one in saved.results if inputs.wanted(one.name, wanted)), Inputs((), refused)
    chosen = asked.settings
    read = inputs.read([path], arch=asked.sm, cached=asked.cached, facts=chosen.facts, launch=chosen.launch)
    some = Inputs(tuple(one for one in read.selected if inputs.wanted(one.function.name, wanted)), read.refused)
    found, some = inputs.analyses(some, lambda one: analyze(one, chosen), f"analyzing {path}", quiet=asked.quiet)
    return tuple(saved_results.of(documents.analysis(one.file, one.analysis)) for one in found), some


def _all_known(asked: Asked, found: Sequence[Result], *, refused: bool) -> None:
    """Refuse a pattern that is for no function of either side, unless a side could not be read."""
    for pattern in () if refused else asked.functions or ():
        if not any(inputs.wanted(one.name, [pattern]) for one in found):
            raise UsageError("unknown-function", f"no function of either side matches '{pattern}'")


def _grew(found: Sequence[Change], allowed: Growth) -> bool:
    """Say whether a number grew beyond what is allowed, and print which."""
    failed = False
    for one in found:
        if one.old is not None and one.new is not None:
            for each in grown(one.old, one.new, allowed):
                failed = True
                note(f"{safe(one.new.name)} ({safe(one.new.arch)}): {safe(each.message)}\n")
    return failed
