"""Taking samples on a GPU with progress and interruption: samples measured before an interrupt are kept."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from sassan.cli.output.terminal import is_terminal
from sassan.cli.searching import interrupts
from sassan.errors import InputError, SassanError, UsageError
from sassan.frontend.load import load
from sassan.measure import cuda_source, gpu
from sassan.measure.cuda_source import CudaKernel
from sassan.measure.device import DATA_BYTES, Argument, Device, Dimensions, MeasureTask
from sassan.measure.runner import RUNS, Clock, MeasurePlan, about, groups
from sassan.measure.samples import Group, Samples
from sassan.measure.verdict import time as formatted
from sassan.source import Source

_GROUPS = 5
_SLICE = 0.05
"""Seconds between two checks for an interrupt during a delay."""


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The kernel to measure and how, as given on the command line."""

    file: str
    kernel: str | None = None
    block: str | None = None
    grid: str | None = None
    arguments: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    runs: int | None = None
    groups: int | None = None
    delays: str | None = None
    pause: float | None = None
    sweep: str | None = None
    cycles: bool = False
    gpu: int | None = None


@dataclass(frozen=True, slots=True)
class MeasureRun:
    """The samples of a measurement, and why it ended early, if it did."""

    samples: Samples
    interrupted: bool = False
    error: SassanError | None = None


def take_samples(request: MeasureRequest, *, quiet: bool) -> MeasureRun:
    """Take the samples of a request; after an interrupt or an error, return those taken before.

    Raises UsageError, InputError for a source or options that cannot be run, MissingToolError `no-gpu`, `missing-extra`.
    """
    plan = measure_plan(request)
    kernel = _kernel(request)
    arguments = values(kernel, request.arguments, plan.size)
    grid, block = dimensions(request.grid, "--grid", 1), dimensions(request.block, "--block-dim", 32)

    device = gpu.Gpu(request.gpu or 0)
    cubin = gpu.compile_cuda(kernel.source, request.file, device.arch, request.macros)
    return run(device, MeasureTask(cubin, kernel.name, grid, block, arguments, clocked=kernel.clocked), plan, quiet=quiet)


def run(device: Device, task: MeasureTask, plan: MeasurePlan, *, quiet: bool) -> MeasureRun:
    """Measure a task on a device until it is done, interrupted or in error."""
    measured: list[Group] = []
    failed: SassanError | None = None
    with interrupts() as watch, _progress(plan, quiet=quiet) as show:

        def sleep(seconds: float) -> None:
            end = time.monotonic() + seconds
            while not watch.seen and (left := end - time.monotonic()) > 0:
                time.sleep(min(left, _SLICE))

        clock = Clock(sleep=sleep, stop=lambda: watch.seen)
        try:
            for group in groups(device, task, plan, clock):
                measured.append(group)
                show(measured)
        except SassanError as error:
            failed = error
        return MeasureRun(Samples(tuple(measured), about(device, task, clock)), watch.seen, failed)


def measure_plan(request: MeasureRequest) -> MeasurePlan:
    """Return the plan of a request.

    Raises UsageError `bad-plan`.
    """
    size: str | None = None
    sizes: tuple[float, ...] = ()
    if request.sweep is not None:
        size, _, listed = request.sweep.partition("=")
        sizes = numbers(listed, "--sweep")
    return MeasurePlan(
        request.runs if request.runs is not None else RUNS,
        request.groups if request.groups is not None else _GROUPS,
        numbers(request.delays, "--delays") if request.delays is not None else (0.0,),
        request.pause or 0.0,
        size,
        sizes,
    )


def values(kernel: CudaKernel, assignments: tuple[str, ...], swept: str | None) -> tuple[Argument, ...]:
    """Return the arguments of a kernel: given values, and default memory for other pointers.

    Raises UsageError `no-argument`, `bad-number`.
    """
    known = {parameter.name for parameter in kernel.parameters}
    given: dict[str, float] = {}
    for text in assignments:
        name, _, value = text.partition("=")
        if name not in known:
            raise UsageError(
                "no-argument", f"the kernel has no parameter '{name}'", hint=f"parameters: {', '.join(sorted(known)) or 'none'}"
            )
        given[name] = numbers(value, f"--arg {name}")[0]
    missing = [
        parameter.name
        for parameter in kernel.parameters
        if parameter.kind != "pointer" and parameter.name not in given and parameter.name != swept
    ]
    if missing:
        raise UsageError("no-argument", f"parameter '{missing[0]}' has no value", hint=f"pass --arg {missing[0]}=V")
    return tuple(
        Argument(parameter.name, parameter.kind, given.get(parameter.name, DATA_BYTES if parameter.kind == "pointer" else 0))
        for parameter in kernel.parameters
    )


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Return the numbers of a list.

    Raises UsageError `bad-number`.
    """
    try:
        parsed = tuple(float(part) for part in text.split(","))
    except ValueError:
        parsed = ()
    if not parsed or any(not -1e18 < number < 1e18 for number in parsed):  # noqa: PLR2004 - neither infinite nor beyond 64 bits
        raise UsageError("bad-number", f"{option}: '{text}' is not a list of numbers")
    return parsed


def dimensions(text: str | None, option: str, default: int) -> Dimensions:
    """Return one to three positive sizes.

    Raises UsageError `bad-number`.
    """
    sizes = numbers(text, option) if text is not None else (float(default),)
    if len(sizes) > 3 or any(size != int(size) or size < 1 for size in sizes):  # noqa: PLR2004
        raise UsageError("bad-number", f"{option}: '{text}' is not a size: expected X, X,Y or X,Y,Z with positive integers")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    return x, y, z


def _kernel(request: MeasureRequest) -> CudaKernel:

    source = load(request.file)
    if not isinstance(source, Source):
        raise InputError("no-kernel", "the file is not CUDA source", source=Source(request.file, ""))
    name = request.kernel
    if name is None:
        names = cuda_source.kernels(source.text)
        if len(names) > 1:
            raise UsageError("several-kernels", f"{len(names)} kernels in the source: {', '.join(names)}", hint=f"pass --kernel {names[0]}")
        name = names[0] if names else ""
    return cuda_source.timed(source.text, name) if request.cycles else cuda_source.plain(source.text, name)


@contextmanager
def _progress(plan: MeasurePlan, *, quiet: bool) -> Generator[Callable[[list[Group]], None]]:
    """Show the number of finished groups and the shortest run so far, on a terminal."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda _: None
        return

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} groups"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        at = bar.add_task("measuring", total=plan.steps)

        def show(measured: list[Group]) -> None:
            shortest = min(value for group in measured for value in group.seconds)
            bar.update(at, completed=len(measured), description=f"shortest run {formatted(shortest)}")

        yield show
