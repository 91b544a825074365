"""`sassan validate`: recorded runs of a GPU against what sassan says of them."""

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Annotated

import typer

from sassan import frontend, recorded
from sassan.app import documents
from sassan.app.reading import read_program
from sassan.cli.inputs import architecture, wanted
from sassan.cli.options import settings
from sassan.cli.options.inputs import Functions, Json, NoCache, Quiet, Sm
from sassan.cli.options.launch import Bounds, LaunchesFile, LoopBound
from sassan.cli.options.models import Latencies, MachineFile, Model, ModelOption
from sassan.cli.output import validate_report
from sassan.cli.output.files import check as check_output
from sassan.cli.output.files import extension
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import note, out, safe
from sassan.errors import UsageError
from sassan.frontend.image import Image
from sassan.ir import Function
from sassan.measure.scatter import scatter
from sassan.recorded import Recording
from sassan.validation.document import document
from sassan.validation.launches import Hardware, LaunchValidation
from sassan.validation.launches import validate as validations_of

_REFUTED = 1
_MEGA = 1e6
_NOTES = 10

RecordingFile = Annotated[str, typer.Argument(metavar="RECORDING", help="An .ncu-rep, a CSV of ncu, or a table of times.")]
Code = Annotated[
    list[str] | None, typer.Argument(metavar="CODE…", help="Cubins or programs with the kernels that the recording does not hold.")
]
Clock = Annotated[
    float | None, typer.Option("--clock", metavar="MHZ", min=1, max=100_000, help="Clock of the SMs, where the recording has times only.")
]
DeviceSms = Annotated[int | None, typer.Option("--sms", metavar="N", min=1, max=10_000, help="SMs of the GPU that was measured.")]
Scatter = Annotated[str | None, typer.Option("-o", "--output", metavar="X.svg|X.png", help="Bounds over measurements as a picture.")]


def validate(
    recording: RecordingFile,
    code: Code = None,
    *,
    function: Functions = None,
    model: ModelOption = Model.CONTROL,
    launches: LaunchesFile = None,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    machine: MachineFile = None,
    latency: Latencies = None,
    sms: DeviceSms = None,
    clock: Clock = None,
    output: Scatter = None,
    no_cache: NoCache = False,
    sm: Sm = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hold the bounds of a recorded run to what the GPU measured.

    Of each launch: the measured cycles, the bound of the whole grid, and how often each instruction was executed against what the graph
    allows. A bound below a measurement, or an execution that the graph does not allow, is a defect of sassan or of an assumption: the
    status is 1 then. Reports of Nsight Compute hold the code; for others name the cubin or the program. Where loops or branches need the
    arguments of a launch, `sassan record` writes them down and --launches reads them.

    \b
    Examples:
      sassan validate report.ncu-rep
      sassan validate report.ncu-rep --model table -o bounds.svg
      sassan validate t.csv ./program --launches l.toml --sms 68 --clock 1710
      ncu --csv --page raw ./program > raw.csv
      sassan validate raw.csv ./program
    """
    if model is Model.UNIT:
        raise UsageError("usage", "the model 'unit' counts instructions, which no clock measures", hint="--model control, or table")
    if output is not None:
        extension(output, ("svg", "png"))
    found = recorded.read(recording)
    if not isinstance(found, recorded.Recording):
        message = f"'{recording}' holds the configurations of a tuning space: each is a program of its own, and the file has no code"
        raise UsageError("no-launches", message, hint="write the launches of the configurations that you compile into a table (CSV)")
    for text in found.notes[:_NOTES]:
        note(f"note: {recording}: {safe(text)}\n")
    chosen = settings.make(bounds=bounds, loop_bound=loop_bound, model=model, machine=machine, latency=latency)
    functions = _functions(found, code or [], architecture(sm), cached=not no_cache)
    several = [launch for launch in found.launches if wanted(launch.mangled or launch.kernel, function) or wanted(launch.kernel, function)]
    hardware = Hardware(sms, clock * _MEGA if clock is not None else None)
    every = track(
        validations_of(several, functions, chosen, hardware, settings.recording(launches)), "validating", quiet=quiet, total=len(several)
    )
    validations = tuple(every)
    if output is not None:
        check_output(output, ())
        _draw(output, validations, recording)
    if json:
        out(dumps({**documents.tool(), **document(validations)}, indent=2) + "\n")
    else:
        validate_report.show(validations, model.value)
    if any(one.refuted for one in validations):
        raise typer.Exit(_REFUTED)


def _functions(found: Recording, code: list[str], arch: str | None, *, cached: bool) -> Mapping[int | None, Sequence[Function]]:
    """Return the functions of each image that the recording holds, and under None those of the files that the user names.

    Raises InputError, MissingToolError.
    """
    used = sorted({launch.image for launch in found.launches if launch.image is not None})
    images: dict[int | None, Sequence[Function]] = {
        index: frontend.read(Image(f"{found.path} (image {index})", found.images[index]), cached=cached).functions for index in used
    }
    images[None] = [one for file in code for one in read_program(file, arch, cached=cached).functions]
    return images


def _draw(output: str, validations: Sequence[LaunchValidation], title: str) -> None:

    points = [(one.cycles, float(one.bound)) for one in validations if one.cycles and one.bound is not None]
    if not points:
        raise UsageError("no-points", "no launch has both a measurement and a bound: there is nothing to draw", hint="omit -o")
    scatter(output, {"bound": points}, title)
