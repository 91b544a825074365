"""`sassan validate`: recorded GPU runs compared with bounds and instruction counts."""

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Annotated

import typer

from sassan import frontend, recorded
from sassan.app import documents
from sassan.app.inputs import wanted
from sassan.app.options import AnalysisOptions
from sassan.app.project import Project
from sassan.app.reading import architecture, read_program
from sassan.cli.options.inputs import AllAssumptions, Csv, Functions, Json, NoCache, ProjectFile, Quiet, Sm
from sassan.cli.options.launch import Bounds, Gpu, LaunchesFile, LoopBound
from sassan.cli.options.models import Latencies, MachineFile, ModelChoice
from sassan.cli.options.project import completed, project_of
from sassan.cli.output import csv as sheet
from sassan.cli.output.files import check as check_output
from sassan.cli.output.files import extension
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import note, out, safe
from sassan.cli.reports import validate as validate_report
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.frontend.image import Image
from sassan.ir import Function
from sassan.measure.scatter import scatter
from sassan.recorded import Recording
from sassan.validation.document import ValidatedFields, ValidationFields
from sassan.validation.launches import Hardware, LaunchValidation
from sassan.validation.launches import validate as validations_of

_REFUTED = 1
_MEGA = 1e6
_NOTES = 10

RecordingFile = Annotated[str, typer.Argument(metavar="RECORDING", help="An .ncu-rep, a CSV of ncu, or a table of times.")]
Code = Annotated[list[str] | None, typer.Argument(metavar="CODE…", help="Cubins or programs with the kernels, if not in the recording.")]
Clock = Annotated[
    float | None, typer.Option("--clock", metavar="MHZ", min=1, max=100_000, help="Clock of the SMs, if the recording has times only.")
]
CycleModel = Annotated[
    ModelChoice | None,
    typer.Option("--model", help="Cost of a block: table adds latencies, control follows control codes.", show_default="control"),
]
DeviceSms = Annotated[int | None, typer.Option("--sms", metavar="N", min=1, max=10_000, help="SMs of the GPU that was measured.")]
Scatter = Annotated[str | None, typer.Option("-o", "--output", metavar="X.svg|X.png", help="Bounds over measurements as a picture.")]


def validate(
    recording: RecordingFile,
    code: Code = None,
    *,
    function: Functions = None,
    model: CycleModel = None,
    launches: LaunchesFile = None,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    machine: MachineFile = None,
    latency: Latencies = None,
    sms: DeviceSms = None,
    gpu: Gpu = None,
    clock: Clock = None,
    output: Scatter = None,
    no_cache: NoCache = False,
    sm: Sm = None,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
    quiet: Quiet = False,
    project: ProjectFile = None,
) -> None:
    """Compare bounds with measured launches.

    For each launch: the measured cycles, the bound of the grid, and a check of the executions of each instruction against the graph. A
    bound below a measurement, or executions that the graph does not allow, are a defect of sassan or of an assumption, and give status 1.
    Reports of Nsight Compute contain the code; for other recordings pass the cubin or the program. If loops or branches depend on the
    arguments of a launch, record these with `sassan record` and pass them with --launches. Options of the project count, and its files are
    the code of a recording that has none.

    \b
    Examples:
      sassan validate report.ncu-rep
      sassan validate report.ncu-rep --model table -o bounds.svg
      sassan validate t.csv ./program --launches l.toml --gpu "RTX 3080"
      sassan validate t.csv ./program --launches l.toml --sms 68 --clock 1710
      ncu --csv --page raw ./program > raw.csv
      sassan validate raw.csv ./program
    """
    if model is ModelChoice.UNIT:
        raise UsageError("usage", "the model 'unit' counts instructions, not cycles", hint="pass --model control or table")
    sheet.exclude(csv=csv, json=json)
    if gpu is not None and sms is not None:
        raise UsageError("usage", "--gpu and --sms exclude each other", hint="a product has a number of SMs")
    if output is not None:
        extension(output, ("svg", "png"))
    record_file = recorded.read(recording)
    if not isinstance(record_file, recorded.Recording):
        message = f"'{recording}' is a tuning space without code: each configuration is a separate program"
        raise UsageError("no-launches", message, hint="compile configurations and pass their launches as a table (CSV)")
    for text in () if quiet else record_file.notes[:_NOTES]:
        note(f"note: {recording}: {safe(text)}\n")
    file = project_of(project, (recording,))
    given = {
        "launches": launches,
        "bounds": bounds,
        "loop-bound": loop_bound,
        "machine": machine,
        "latency": latency,
        "gpu": gpu,
        "sms": sms,
    }
    values = completed(file, given if _counts(file, model) else {**given, "model": model}, quiet=quiet)
    options = AnalysisOptions(
        facts=values["bounds"],
        loop_bound=values["loop-bound"],
        model=values.get("model") or ModelChoice.CONTROL.value,
        machine=values["machine"],
        latency=tuple(values["latency"] or ()),
        launches=values["launches"],
        gpu=values["gpu"],
        occupancy=False,
    )
    settings = options.settings()
    known_launches = file.recording if file is not None and values["launches"] == file.path else options.recording()
    code = code or ([*file.files] if file is not None and not record_file.images else [])
    functions = _functions(record_file, code, architecture(sm), cached=not no_cache)
    patterns = tuple(function or ())
    selected = [
        launch for launch in record_file.launches if wanted(launch.mangled or launch.kernel, patterns) or wanted(launch.kernel, patterns)
    ]
    hardware = Hardware(values["sms"], clock * _MEGA if clock is not None else None, settings.gpu)
    tracked = track(validations_of(selected, functions, settings, hardware, known_launches), "validating", quiet=quiet, total=len(selected))
    validations = tuple(tracked)
    if output is not None:
        check_output(output, ())
        _draw(output, validations, recording)
    if json:
        out(dumps({**documents.tool(), **document(ValidationFields, validations)}, indent=2) + "\n")
    elif csv:
        sheet.of_fields(ValidatedFields, validations)
    else:
        validate_report.show(validations, str(options.model), every=assumptions)
    if any(validation.refuted for validation in validations):
        raise typer.Exit(_REFUTED)


def _counts(file: Project | None, model: ModelChoice | None) -> bool:
    """Whether the model of a project, where it decides, is one that has no latencies of its own to validate."""
    return model is None and file is not None and (file.options or {}).get("model") in (ModelChoice.UNIT, ModelChoice.MEASURED)


def _functions(record_file: Recording, code: list[str], arch: str | None, *, cached: bool) -> Mapping[int | None, Sequence[Function]]:
    """Return the functions of each image in the recording, and under None those of the given files.

    Raises InputError, MissingToolError.
    """
    used = sorted({launch.image for launch in record_file.launches if launch.image is not None})
    images: dict[int | None, Sequence[Function]] = {
        index: frontend.read(Image(f"{record_file.path} (image {index})", record_file.images[index]), cached=cached).functions
        for index in used
    }
    images[None] = [function for file in code for function in read_program(file, arch, cached=cached).functions]
    return images


def _draw(output: str, validations: Sequence[LaunchValidation], title: str) -> None:

    points = [
        (validation.cycles, float(validation.bound)) for validation in validations if validation.cycles and validation.bound is not None
    ]
    if not points:
        raise UsageError("no-points", "no launch has both a measurement and a bound: nothing to draw", hint="omit -o")
    scatter(output, {"bound": points}, title)
