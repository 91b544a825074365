"""Which runs are taken, in which order and with which delays: groups of runs, swept over sizes and delays (Fig. 6 and 7 of the paper)."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sassan.errors import UsageError
from sassan.measure.device import Device, Loaded, Task, Timing
from sassan.measure.samples import Group, Samples, duration

RUNS = 20
"""Of a group, as in the paper: a warm-up and 19 more."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How the runner waits, what day it is, and whether it shall end: tests and whoever may be interrupted put their own in."""

    sleep: Callable[[float], None] = time.sleep
    today: Callable[[], str] = lambda: datetime.now(tz=UTC).date().isoformat()
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: for each size, for each delay, `groups` groups of `runs` runs.

    Units: seconds. `pause` is waited before each group, or the delay where that is longer. `size` names the argument whose value is
    swept; without it there is one size, the arguments as they are.
    """

    runs: int = RUNS
    groups: int = 1
    delays: tuple[float, ...] = (0.0,)
    pause: float = 0.0
    size: str | None = None
    sizes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a plan that measures nothing.

        Raises UsageError `bad-plan`.
        """
        if self.runs < 1 or self.groups < 1 or not self.delays:
            raise UsageError("bad-plan", "a plan needs a run, a group and a delay")
        if any(not 0 <= one <= 3600 for one in (*self.delays, self.pause)):  # noqa: PLR2004 - an hour
            raise UsageError("bad-plan", "a delay is from 0 to 3600 seconds")
        if bool(self.sizes) != (self.size is not None):
            raise UsageError("bad-plan", "a sweep of sizes needs the name of an argument and its values")

    @property
    def steps(self) -> int:
        """Return how many groups are measured in all."""
        return self.groups * len(self.delays) * max(1, len(self.sizes))

    @property
    def waits(self) -> float:
        """Return the seconds that are waited in all: the measurement takes at least as long."""
        per_delay = sum(self.groups * (self.pause + one * (self.runs - 1)) for one in self.delays)
        return per_delay * max(1, len(self.sizes))


def groups(device: Device, task: Task, plan: Plan, clock: Clock | None = None) -> Iterator[Group]:
    """Yield each group when its last run is done. `clock.stop` is asked before each run: the group that it cuts short is the last.

    The delays of one size come in turn (all of the first round, then all of the second), so that a slow drift of the machine falls on
    all of them alike. Raises InputError `launch-failed`, UsageError `bad-plan`.
    """
    watch = clock if clock is not None else Clock()
    number = 0
    for size in plan.sizes or (None,):
        loaded = device.load(task if size is None else sized(task, plan.size or "", size))
        try:
            for _ in range(plan.groups):
                for delay in plan.delays:
                    made = _group(loaded, plan, Group(number, (), delay, max(plan.pause, delay), size), watch)
                    if made.seconds:
                        yield made
                    if watch.stop():
                        return
                    number += 1
        finally:
            loaded.close()


def about(device: Device, task: Task, clock: Clock | None = None) -> Mapping[str, str]:
    """Return what is written beside the samples: device, architecture, date, kernel, launch, and which clock."""
    today = (clock if clock is not None else Clock()).today()
    launch = f"{'x'.join(map(str, task.grid))} blocks of {'x'.join(map(str, task.block))}"
    clocks = "CUDA events" + (", clock64" if task.clocked else "")
    return {"device": device.name, "arch": device.arch, "date": today, "kernel": task.kernel, "launch": launch, "clock": clocks}


def measure(device: Device, task: Task, plan: Plan | None = None, clock: Clock | None = None) -> Samples:
    """Return all samples of a plan (default: one group of 20 runs).

    Raises as `groups`.
    """
    return Samples(tuple(groups(device, task, plan if plan is not None else Plan(), clock)), about(device, task, clock))


def sized(task: Task, name: str, value: float) -> Task:
    """Return the task with another value of one argument.

    Raises UsageError `bad-plan` where it has no such argument.
    """
    names = [one.name for one in task.arguments]
    if name not in names:
        known = ", ".join(names) or "none"
        raise UsageError("bad-plan", f"the kernel has no argument '{name}' (arguments: {known})")
    return replace(task, arguments=tuple(replace(one, value=value) if one.name == name else one for one in task.arguments))


def _group(loaded: Loaded, plan: Plan, empty: Group, clock: Clock) -> Group:
    timings: list[Timing] = []
    for index in range(plan.runs):
        wait = empty.delay if index else empty.pause
        if wait > 0:
            clock.sleep(wait)
        if clock.stop():
            break
        timings.append(loaded.run())
    cycles = tuple(one.cycles for one in timings if one.cycles is not None)
    return replace(empty, seconds=tuple(duration(one.seconds) for one in timings), cycles=cycles)
