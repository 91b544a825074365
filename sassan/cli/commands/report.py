"""`sassan report`: one page of HTML that shows everything."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sassan import recorded
from sassan.app import documents, sequence
from sassan.app.inputs import Inputs
from sassan.app.launches import different
from sassan.app.makespan.page import PageSearch
from sassan.app.page import records, with_sources
from sassan.app.result import AnalysisResult
from sassan.app.sequence import RecordedSequence
from sassan.cli.options.makespan import PageEngine, PageTimeLimit, Seed
from sassan.cli.options.models import ModelChoice
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.options.views import Deadline, PageFile, Recorded, Title
from sassan.cli.output.files import extension, save
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import label, note, out, safe
from sassan.cli.searching import watched_search
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.render.html.page import Page, html
from sassan.timing import Quantity, models
from sassan.timing.rates import Tables
from sassan.validation.document import ValidatedFields
from sassan.validation.launches import Hardware, validate

_STANDARD_OUTPUT = "-"
_FORMATS = ("html", "htm")
_SECONDS = 2.0


@analysis
def report(
    command: AnalysisCommand,
    *,
    output: PageFile,
    title: Title = None,
    recorded: Recorded = None,
    deadline_us: Deadline = None,
    engine: PageEngine = None,
    time_limit: PageTimeLimit = None,
    seed: Seed = None,
) -> None:
    """Write everything into one page of HTML.

    The page needs nothing else: no network, no other file. It lists the functions, and shows of each the gaps and the assumptions first,
    then its bounds, its graph with the worst path and the costs, the listing of every block, the loops, and, with -W or --block-dim, a
    schedule of the warps. With --gpu and --grid it shows what a launch waits for, and one SM over time; with --launches, every launch of
    a program, the sum of their times, what it rests on, and a deadline. Source text stands beside the
    machine code where line information (-lineinfo) names a file in the folder of the input. Names are shown as text, whatever they are.

    \b
    Examples:
      sassan report kernels.sass -o report.html
      sassan report kernels.cubin --loop-bound 10 -W 16 -o report.html
      sassan report *.sass --block-dim 256 --engine all -o report.html
      sassan report k.cubin --recorded run.ncu-rep -o report.html
      sassan report a.out --launches x.toml --gpu T4 --deadline-us 900 -o x.html
      cuobjdump -sass a.out | sassan report - -o - > report.html
    """
    if output != _STANDARD_OUTPUT:
        extension(output, _FORMATS)
    if (time_limit is not None or seed is not None) and engine is None:
        raise UsageError("usage", "--time-limit and --seed have no effect without --engine", hint="pass --engine all, too")
    how = PageSearch(
        engine, time_limit if time_limit is not None else _SECONDS, seed or 0, partial(watched_search, quiet=command.observer.quiet)
    )
    program, results, inputs = _results(command, deadline_us)
    measured = _measured(recorded, results, command) if recorded is not None else {}
    launches = sequence.names(program) if program is not None else ()
    functions, sources = with_sources(records(results, command.observer, how, measured, launches=launches), results)
    shown = Page(title or _title(command), documents.tool(), functions, _refused(inputs), sources, spell=label)
    text = html(replace(shown, sequence=sequence.document(program, functions)) if program is not None else shown)
    _write(output, text, quiet=command.observer.quiet)
    finish(inputs, results if command.request.patterns else [])


def _results(command: AnalysisCommand, deadline: float | None) -> tuple[RecordedSequence | None, tuple[AnalysisResult, ...], Inputs]:
    """Return the recorded launches, if there are any, the different results, and the inputs.

    Raises UsageError for a deadline that nothing can be compared with.
    """
    request, project = command.request, command.project
    if request.recording is None:
        if deadline is not None:
            message = "--deadline-us is a time for all launches of a program, and none are given"
            raise UsageError("usage", message, hint="pass --launches and --gpu")
        return None, *request.results(command.observer)
    if deadline is not None and request.settings.gpu is None:
        raise UsageError("usage", "--deadline-us is a time, and without a GPU bounds are in cycles", hint="pass --gpu")
    launches, inputs = request.sequence_of(request.inputs(command.observer), command.observer)
    limit = project.deadline if project is not None else None
    return (
        RecordedSequence(request.recording, launches, request.launches, limit if deadline is None else deadline),
        different(launches),
        inputs,
    )


def _title(command: AnalysisCommand) -> str:
    names = [Path(path).name if path != _STANDARD_OUTPUT else "standard input" for path in command.request.files]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _measured(path: str, results: tuple[AnalysisResult, ...], command: AnalysisCommand) -> Mapping[str, list[object]]:
    """Return the recorded launches of each function beside the bounds of their grids, in cycles: where the page counts instructions, too.

    Raises InputError for the recording, UsageError for one of a tuning space.
    """
    recording = recorded.read(path)
    if not isinstance(recording, recorded.Recording):
        message = f"'{path}' holds the configurations of a tuning space, and no launches"
        raise UsageError("no-launches", message, hint="pass a report of Nsight Compute or a table of times")
    for text in () if command.observer.quiet else recording.notes:
        note(f"note: {path}: {safe(text)}\n")
    settings = command.request.settings
    if settings.costs.quantity is Quantity.INSTRUCTIONS:
        settings = replace(settings, costs=models.model(ModelChoice.CONTROL.value, Tables(settings.machine)))
    functions = [result.function for result in results]
    measured: dict[str, list[object]] = {}
    for validation in validate(recording.launches, {None: functions}, settings, Hardware(gpu=settings.gpu), command.request.recording):
        if validation.analysis is not None:
            measured.setdefault(validation.analysis.function.name, []).append(document(ValidatedFields, validation))
    return measured


def _refused(inputs: Inputs) -> Sequence[Mapping[str, Any]]:
    return [document(documents.RefusedFields, refusal) for refusal in inputs.refused]


def _write(output: str, text: str, *, quiet: bool) -> None:
    if output == _STANDARD_OUTPUT:
        out(text)
        return
    save(output, text.encode(), quiet=quiet)
