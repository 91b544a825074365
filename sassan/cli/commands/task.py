"""`sassan task`: the response time of a recorded sequence of launches, against its deadline."""

import json as text
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import typer

from sassan.app.estimating import estimated_launches
from sassan.app.inputs import Inputs
from sassan.app.task.definition import TaskDefinition, definition
from sassan.app.task.fields import AssessedTask, TaskFields, TaskLaunchFields, rows
from sassan.app.task.overlap import among_others
from sassan.app.task.response import TaskResponse, TaskRun, overlaps, response
from sassan.app.task.sensitivity import terms
from sassan.cli.options.inputs import AllAssumptions, Csv, Json
from sassan.cli.options.request import AnalysisCommand, other_task, task_analysis
from sassan.cli.options.task import Certificate, Gantt, Tornado
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, failure
from sassan.cli.output.files import check_writable, extension, save
from sassan.cli.output.finish import finish
from sassan.cli.reports import task as report
from sassan.errors import InputError, SelfCheckError, UsageError
from sassan.fields import field as fields
from sassan.launches import DataFile
from sassan.timing import Quantity

MISSED = 1
"""The status where the deadline may be missed (docs/reference/commands.md)."""


@task_analysis
def task(
    command: AnalysisCommand,
    *,
    output: Tornado = None,
    gantt: Gantt = None,
    certificate: Certificate = None,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Bound the response time of a sequence of launches.

    The launches of a recording (sassan record) run one after the other, with nothing else on the GPU. The bound of each, the time between
    them, copies, and what earlier work leaves in L2 to be written back add up to a response time, which is compared with a deadline
    (--deadline, or [task.NAME] of sassan.toml). Status 1: it may be missed; 3: there is no bound, and gaps say why. On an integrated GPU,
    the CPU has the same DRAM: --dram-share or --co-runners charge what it takes. The figures on which the bound rests are listed by how
    far it moves when each is 10 % worse; -o draws them.

    \b
    Examples:
      sassan task ./pipeline --launches l.toml --gpu T4 --deadline 5ms
      sassan task ./pipeline --launches l.toml --gpu Orin --co-runners 20GB/s
      sassan task --task camera --certificate camera.json
      sassan task --task camera --json
    """
    sheet.exclude(csv=csv, json=json)
    request, observer = command.request, command.observer
    of_task = command.of_task
    defined = definition(of_task.get("task", ""), of_task.get("deadline"), of_task.get("period"), of_task.get("copies"))
    _check(command, (output, gantt), certificate)
    _check_periods(command, defined)
    gpu, recording = request.settings.gpu, request.recording
    assert gpu is not None
    assert recording is not None
    inputs = request.inputs(observer)
    launches = tuple(request.launch_results(inputs, observer))
    others = [(other, *_run(other)) for other in (other_task(command, name) for name in command.beside)]
    runs = [TaskRun(defined, recording, launches, estimated_launches(launches)), *(run for _, _, run in others)]
    if overlaps([run.recording for run in runs]):
        among = among_others([run.launches for run in runs])
        runs = [replace(run, among=results) for run, results in zip(runs, among, strict=True)]
    known = response(gpu, runs[0], runs[1:])
    assessed = AssessedTask(known, terms(known, lambda changes: observer.steps(changes, "changing figures", len(changes))))
    if output is not None:
        save(output, report.picture(assessed).encode(), quiet=observer.quiet)
    if gantt is not None:
        save(gantt, report.gantt(known).encode(), quiet=observer.quiet)
    if certificate is not None and known.bound is not None:
        _certify(command, assessed, certificate)
    if json:
        document.show([], inputs.refused, task=fields.document(TaskFields, assessed))
    elif csv:
        sheet.of_fields(TaskLaunchFields, rows(known))
    else:
        report.show(assessed, every=assumptions)
    for read in (inputs, *(of_other for _, of_other, _ in others)):
        if read.status:
            finish(read)
    _end(known)


def _run(command: AnalysisCommand) -> tuple[Inputs, TaskRun]:
    """Return the inputs of another task, and its launches as they are alone."""
    request, of_task = command.request, command.of_task
    defined = definition(of_task.get("task", ""), of_task.get("deadline"), of_task.get("period"), of_task.get("copies"))
    _check(command, (), None)
    assert request.recording is not None
    inputs = request.inputs(command.observer)
    launches = tuple(request.launch_results(inputs, command.observer))
    return inputs, TaskRun(defined, request.recording, launches, [None] * len(launches))


def _check(command: AnalysisCommand, pictures: Iterable[str | None], certificate: str | None) -> None:
    """Refuse what is not a task.

    Raises UsageError.
    """
    request, settings = command.request, command.request.settings
    if settings.gpu is None:
        raise UsageError("usage", "a response time needs a GPU", hint="pass --gpu NAME; sassan gpus lists them")
    if request.recording is None:
        raise UsageError("usage", "a task needs its launches", hint="pass --launches X.toml; sassan record -o X.toml -- PROGRAM writes it")
    if request.patterns:
        raise UsageError("usage", "a task is all launches of a recording", hint="omit -f")
    if settings.costs.quantity is not Quantity.CYCLES or settings.experiment or not settings.solve:
        raise UsageError("usage", "a response time is a bound in cycles", hint="omit --model, or pass --model control or table")
    for picture in pictures:
        if picture is not None:
            extension(picture, ("svg",))
    if certificate is not None:
        extension(certificate, ("json",))
        check_writable(certificate, (*request.files, request.launches))
        if Path(certificate).exists() and not Path(certificate).is_file():
            hint = "name a file: a certificate is checked again after it was written"
            raise UsageError("unwritable-output", f"'{certificate}' is not a plain file", hint=hint)


def _check_periods(command: AnalysisCommand, defined: TaskDefinition) -> None:
    """Refuse tasks that share a GPU where one has no period, or is named twice.

    Raises UsageError.
    """
    names, project = command.beside, command.project
    if not names:
        return
    first = defined.name
    if len({first, *names}) <= len(names) or not first:
        hint = "--task NAME names the first, --beside NAME each other"
        raise UsageError("usage", "each task that shares the GPU is named once", hint=hint)
    tasks = project.tasks if project is not None else {}
    without = [name for name in names if name in tasks and "period" not in tasks[name].options]
    if defined.period is None:
        without.insert(0, first)
    if without:
        hint = "how often another task runs meanwhile follows from its period"
        raise UsageError("usage", f"tasks that share a GPU need a period: {', '.join(without)}", hint=hint)


def _certify(command: AnalysisCommand, assessed: AssessedTask, path: str) -> None:
    """Write the certificate and the page beside it, and check what was written as anybody would.

    Raises SelfCheckError where it does not hold.
    """
    from sassan import verifier  # noqa: PLC0415 - start-up: only for a certificate
    from sassan.app.task.certificate import certificate  # noqa: PLC0415 - the same
    from sassan.render.certificate import html  # noqa: PLC0415 - the same

    file = Path(path)
    try:
        made = certificate(assessed, tuple(_inputs(command)), file.parent)
    except OSError as error:
        raise InputError("cannot-read", f"an input cannot be read: {error}") from None
    save(path, text.dumps(made, indent=1).encode() + b"\n", quiet=command.observer.quiet)
    save(
        file.with_suffix(".html"), html(made, report.gantt(assessed.task), report.picture(assessed)).encode(), quiet=command.observer.quiet
    )
    try:
        verifier.verify(file)
    except verifier.Refused as error:
        raise SelfCheckError("certificate", f"the certificate that was written does not hold: {error}") from None


def _inputs(command: AnalysisCommand) -> Iterator[tuple[str, str]]:
    """Yield the files that the bound depends on, each with its role."""
    request, options, project = command.request, command.options, command.project
    yield from (("program", name) for name in request.files)
    yield "launches", request.launches
    for task_name in command.beside:
        other = other_task(command, task_name).request
        yield from ((f"program of {task_name}", file) for file in other.files)
        yield f"launches of {task_name}", other.launches
    if request.recording is not None and isinstance(request.recording.data, DataFile) and request.recording.data.path.is_file():
        yield "data", str(request.recording.data.path)
    if project is not None and project.path != request.launches:
        yield "project", project.path
    for role, name in (
        ("flow facts", options.facts),
        ("machine", options.machine),
        ("GPU", options.gpu),
        ("measurements", options.measurements),
    ):
        if name is not None and Path(name).is_file():
            yield role, name


def _end(task: TaskResponse) -> None:
    """End the command by what is known of the deadline."""
    if task.bound is None:
        codes = ", ".join(sorted({gap.code for gap in task.every_gap})) or "no bound was proved"
        error = InputError("gaps", f"no bound of the response time ({codes})")
        failure.show(error)
        raise typer.Exit(error.status)
    if task.missed:
        raise typer.Exit(MISSED)
