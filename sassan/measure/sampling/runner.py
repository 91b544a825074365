"""The order of runs and their delays: groups of runs, swept over sizes and delays (Fig. 6 and 7 of the paper)."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sassan.errors import UsageError
from sassan.measure.samples import SampleGroup, Samples, duration
from sassan.measure.sampling.device import Device, LoadedKernel, MeasureTask, Timing

RUNS = 20
"""Default number of runs per group, as in the paper: a warm-up and 19 more."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How the runner waits, its date, and its stop request; replaced by tests and by callers that may be interrupted."""

    sleep: Callable[[float], None] = time.sleep
    today: Callable[[], str] = lambda: datetime.now(tz=UTC).date().isoformat()
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """What to measure: for each size and each delay, `groups` groups of `runs` runs.

    Units: seconds. `pause`, or the delay if longer, is waited before each group. `size` names the argument whose value is swept; without
    it the arguments are used as they are.
    """

    runs: int = RUNS
    groups: int = 1
    delays: tuple[float, ...] = (0.0,)
    pause: float = 0.0
    size: str | None = None
    sizes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises UsageError `bad-plan`.
        """
        if self.runs < 1 or self.groups < 1 or not self.delays:
            raise UsageError("bad-plan", "at least one run, one group and one delay are needed")
        if any(not 0 <= seconds <= 3600 for seconds in (*self.delays, self.pause)):  # noqa: PLR2004 - an hour
            raise UsageError("bad-plan", "a delay must be from 0 to 3600 seconds")
        if bool(self.sizes) != (self.size is not None):
            raise UsageError("bad-plan", "a sweep needs the name of an argument and its values")

    @property
    def steps(self) -> int:
        """Return the total number of groups."""
        return self.groups * len(self.delays) * max(1, len(self.sizes))

    @property
    def waits(self) -> float:
        """Return the total waiting time in seconds, a lower limit of the duration of the measurement."""
        per_delay = sum(self.groups * (self.pause + delay * (self.runs - 1)) for delay in self.delays)
        return per_delay * max(1, len(self.sizes))


def groups(device: Device, task: MeasureTask, plan: MeasurePlan, clock: Clock | None = None) -> Iterator[SampleGroup]:
    """Yield each group when its last run is done. `clock.stop` is called before each run; after a stop the incomplete group is the last.

    The delays of a size are interleaved (first group of each delay, then second group of each), so that a slow drift of the machine affects
    all of them equally. Raises InputError `launch-failed`, UsageError `bad-plan`.
    """
    watch = clock if clock is not None else Clock()
    number = 0
    for size in plan.sizes or (None,):
        loaded = device.load(task if size is None else with_argument(task, plan.size or "", size))
        try:
            for _ in range(plan.groups):
                for delay in plan.delays:
                    group = _group(loaded, plan, SampleGroup(number, (), delay, max(plan.pause, delay), size), watch)
                    if group.seconds:
                        yield group
                    if watch.stop():
                        return
                    number += 1
        finally:
            loaded.close()


def about(device: Device, task: MeasureTask, clock: Clock | None = None) -> Mapping[str, str]:
    """Return the metadata of samples: device, architecture, date, kernel, launch and clocks."""
    today = (clock if clock is not None else Clock()).today()
    launch = f"{'x'.join(map(str, task.grid))} blocks of {'x'.join(map(str, task.block))}"
    clocks = "CUDA events" + (", clock64" if task.clocked else "")
    return {"device": device.name, "arch": device.arch, "date": today, "kernel": task.kernel, "launch": launch, "clock": clocks}


def measure(device: Device, task: MeasureTask, plan: MeasurePlan | None = None, clock: Clock | None = None) -> Samples:
    """Take all samples of a plan (default: one group of 20 runs).

    Raises as `groups`.
    """
    return Samples(tuple(groups(device, task, plan if plan is not None else MeasurePlan(), clock)), about(device, task, clock))


def with_argument(task: MeasureTask, name: str, value: float) -> MeasureTask:
    """Return the task with `value` for the argument `name`.

    Raises UsageError `bad-plan` for an unknown argument.
    """
    names = [argument.name for argument in task.arguments]
    if name not in names:
        known = ", ".join(names) or "none"
        raise UsageError("bad-plan", f"the kernel has no argument '{name}' (arguments: {known})")
    return replace(
        task, arguments=tuple(replace(argument, value=value) if argument.name == name else argument for argument in task.arguments)
    )


def _group(loaded: LoadedKernel, plan: MeasurePlan, empty: SampleGroup, clock: Clock) -> SampleGroup:
    timings: list[Timing] = []
    for index in range(plan.runs):
        wait = empty.delay if index else empty.pause
        if wait > 0:
            clock.sleep(wait)
        if clock.stop():
            break
        timings.append(loaded.run())
    cycles = tuple(timing.cycles for timing in timings if timing.cycles is not None)
    return replace(empty, seconds=tuple(duration(timing.seconds) for timing in timings), cycles=cycles)
