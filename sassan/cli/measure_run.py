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
from sassan.errors import SassanError
from sassan.measure.samples import SampleGroup, Samples
from sassan.measure.sampling.device import Device, MeasureTask
from sassan.measure.sampling.request import MeasureRequest, prepared
from sassan.measure.sampling.runner import Clock, MeasurePlan, about, groups
from sassan.measure.verdict import time as formatted

_SLICE = 0.05
"""Seconds between two checks for an interrupt during a delay."""


@dataclass(frozen=True, slots=True)
class MeasureRun:
    """The samples of a measurement, and why it ended early, if it did."""

    samples: Samples
    interrupted: bool = False
    error: SassanError | None = None


def take_samples(request: MeasureRequest, *, quiet: bool) -> MeasureRun:
    """Take the samples of a request; after an interrupt or an error, return those taken before.

    Raises what `prepared` raises.
    """
    device, task, plan = prepared(request)
    return run(device, task, plan, quiet=quiet)


def run(device: Device, task: MeasureTask, plan: MeasurePlan, *, quiet: bool) -> MeasureRun:
    """Measure a task on a device until it is done, interrupted or in error."""
    measured: list[SampleGroup] = []
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


@contextmanager
def _progress(plan: MeasurePlan, *, quiet: bool) -> Generator[Callable[[list[SampleGroup]], None]]:
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

        def show(measured: list[SampleGroup]) -> None:
            shortest = min(value for group in measured for value in group.seconds)
            bar.update(at, completed=len(measured), description=f"shortest run {formatted(shortest)}")

        yield show
