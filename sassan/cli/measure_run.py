"""Taking samples on a GPU where a person may watch and stop it: what was measured until then is kept."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from sassan.cli.output.terminal import is_terminal
from sassan.cli.search import interrupts
from sassan.errors import InputError, SassanError, UsageError
from sassan.frontend.load import load
from sassan.measure import clock, gpu
from sassan.measure.clock import Kernel
from sassan.measure.device import DATA_BYTES, Argument, Device, Dimensions, Task
from sassan.measure.runner import RUNS, Clock, Plan, about, groups
from sassan.measure.samples import Group, Samples
from sassan.measure.verdict import time as spoken
from sassan.source import Source

_GROUPS = 5
_SLICE = 0.05
"""Seconds between two questions whether the user wants to stop, during a delay."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall run, as it was typed."""

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
class Taken:
    """What was measured, and why it ended early, if it did."""

    samples: Samples
    interrupted: bool = False
    error: SassanError | None = None


def taken(wish: Wish, *, quiet: bool) -> Taken:
    """Return the samples of a wish, or those that were taken before an interrupt or an error.

    Raises UsageError, InputError for a source or options that cannot be run, MissingToolError `no-gpu`, `missing-extra`.
    """
    plan = planned(wish)
    kernel = _kernel(wish)
    arguments = values(kernel, wish.arguments, plan.size)
    grid, block = dimensions(wish.grid, "--grid", 1), dimensions(wish.block, "--block-dim", 32)

    device = gpu.Gpu(wish.gpu or 0)
    cubin = gpu.compiled(kernel.source, wish.file, device.arch, wish.macros)
    return run(device, Task(cubin, kernel.name, grid, block, arguments, clocked=kernel.clocked), plan, quiet=quiet)


def run(device: Device, task: Task, plan: Plan, *, quiet: bool) -> Taken:
    """Return what a device measures of a task until it is done, interrupted or in error."""
    found: list[Group] = []
    failed: SassanError | None = None
    with interrupts() as watch, _progress(plan, quiet=quiet) as show:

        def sleep(seconds: float) -> None:
            end = time.monotonic() + seconds
            while not watch.seen and (left := end - time.monotonic()) > 0:
                time.sleep(min(left, _SLICE))

        clock = Clock(sleep=sleep, stop=lambda: watch.seen)
        try:
            for group in groups(device, task, plan, clock):
                found.append(group)
                show(found)
        except SassanError as error:
            failed = error
        return Taken(Samples(tuple(found), about(device, task, clock)), watch.seen, failed)


def planned(wish: Wish) -> Plan:
    """Return the plan of a wish.

    Raises UsageError `bad-plan`.
    """
    size: str | None = None
    sizes: tuple[float, ...] = ()
    if wish.sweep is not None:
        size, _, listed = wish.sweep.partition("=")
        sizes = numbers(listed, "--sweep")
    return Plan(
        wish.runs if wish.runs is not None else RUNS,
        wish.groups if wish.groups is not None else _GROUPS,
        numbers(wish.delays, "--delays") if wish.delays is not None else (0.0,),
        wish.pause or 0.0,
        size,
        sizes,
    )


def values(kernel: Kernel, told: tuple[str, ...], swept: str | None) -> tuple[Argument, ...]:
    """Return the arguments of a kernel: what was told, and memory behind pointers of which nothing was told.

    Raises UsageError `no-argument`, `bad-number`.
    """
    known = {one.name for one in kernel.parameters}
    given: dict[str, float] = {}
    for text in told:
        name, _, value = text.partition("=")
        if name not in known:
            raise UsageError(
                "no-argument", f"the kernel has no parameter '{name}'", hint=f"parameters: {', '.join(sorted(known)) or 'none'}"
            )
        given[name] = numbers(value, f"--arg {name}")[0]
    missing = [one.name for one in kernel.parameters if one.kind != "pointer" and one.name not in given and one.name != swept]
    if missing:
        raise UsageError("no-argument", f"parameter '{missing[0]}' has no value", hint=f"--arg {missing[0]}=V")
    return tuple(Argument(one.name, one.kind, given.get(one.name, DATA_BYTES if one.kind == "pointer" else 0)) for one in kernel.parameters)


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Return the numbers of a list.

    Raises UsageError `bad-number`.
    """
    try:
        found = tuple(float(one) for one in text.split(","))
    except ValueError:
        found = ()
    if not found or any(not -1e18 < one < 1e18 for one in found):  # noqa: PLR2004 - neither infinite nor beyond 64 bits
        raise UsageError("bad-number", f"{option}: '{text}' is no list of numbers")
    return found


def dimensions(text: str | None, option: str, default: int) -> Dimensions:
    """Return one to three positive sizes.

    Raises UsageError `bad-number`.
    """
    found = numbers(text, option) if text is not None else (float(default),)
    if len(found) > 3 or any(one != int(one) or one < 1 for one in found):  # noqa: PLR2004
        raise UsageError("bad-number", f"{option}: '{text}' is no size: X, X,Y or X,Y,Z")
    x, y, z = (*(int(one) for one in found), 1, 1)[:3]
    return x, y, z


def _kernel(wish: Wish) -> Kernel:

    source = load(wish.file)
    if not isinstance(source, Source):
        raise InputError("no-kernel", "this is no CUDA source", source=Source(wish.file, ""))
    name = wish.kernel
    if name is None:
        names = clock.kernels(source.text)
        if len(names) > 1:
            raise UsageError("several-kernels", f"{len(names)} kernels: {', '.join(names)}", hint=f"--kernel {names[0]}")
        name = names[0] if names else ""
    return clock.timed(source.text, name) if wish.cycles else clock.plain(source.text, name)


@contextmanager
def _progress(plan: Plan, *, quiet: bool) -> Generator[Callable[[list[Group]], None]]:
    """Show how many groups are done and the least run so far, where a person reads it."""
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

        def show(found: list[Group]) -> None:
            least = min(value for group in found for value in group.seconds)
            bar.update(at, completed=len(found), description=f"least run {spoken(least)}")

        yield show
