"""Measured durations of a kernel: consecutive runs in groups; the first run of each group is its warm-up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from sassan.errors import InputError

HINT = "'sassan measure --help' describes the files"
SHORTEST, LONGEST = 1e-12, 1e9
"""Seconds. No clock resolves less than a picosecond; more than thirty years is a wrong unit."""


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Consecutive runs of a kernel under the same conditions, in the order in which they were taken.

    Units: `seconds` of each run; `delay` is waited before each run but the first, `pause` before the first; `cycles` of the longest thread
    by `clock64`, empty where not counted. `size` is the quantity that the duration depends on, such as a loop count; None if unknown.
    """

    number: int
    seconds: tuple[float, ...]
    delay: float = 0.0
    pause: float = 0.0
    size: float | None = None
    cycles: tuple[int, ...] = ()

    @property
    def warm(self) -> tuple[float, ...]:
        """Return the durations without the warm-up: T_2 to T_N."""
        return self.seconds[1:]


@dataclass(frozen=True, slots=True)
class Samples:
    """Groups in the order in which they were taken, and metadata (`device`, `date`, `kernel`, `clock`, …)."""

    groups: tuple[SampleGroup, ...]
    about: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return sum(len(group.seconds) for group in self.groups)

    @property
    def warm(self) -> tuple[float, ...]:
        """Return the durations of all groups without their warm-ups, in the order in which they were taken."""
        return tuple(value for group in self.groups for value in group.warm)

    @property
    def delays(self) -> tuple[float, ...]:
        """Return the distinct delays in ascending order."""
        return tuple(sorted({group.delay for group in self.groups}))

    def by_size(self) -> Mapping[float | None, tuple[SampleGroup, ...]]:
        """Return the groups of each size in ascending order; None, the unknown size, comes first."""
        sizes = sorted({group.size for group in self.groups}, key=lambda size: (size is not None, size or 0.0))
        return {size: tuple(group for group in self.groups if group.size == size) for size in sizes}


class TimedRun(NamedTuple):
    """A run as given by a line of a file; units as in `SampleGroup`, `position` from 0 within its group."""

    group: int
    position: int
    seconds: float
    delay: float = 0.0
    size: float | None = None
    cycles: int | None = None


def grouped(runs: Iterable[TimedRun], about: Mapping[str, str] | None = None) -> Samples:
    """Combine runs into groups: the runs of a group are consecutive and numbered from 0.

    Raises InputError `bad-samples` if they are not, or if runs of a group differ in delay or size.
    """
    groups = tuple(_group(group_runs) for group_runs in _adjacent(runs))
    seen: set[int] = set()
    for group in groups:
        if group.number in seen:
            raise bad(f"the runs of group {group.number} are not consecutive")
        seen.add(group.number)
    return Samples(groups, dict(about or {}))


def duration(seconds: float) -> float:
    """Return a duration after a check of its range.

    Raises InputError `bad-samples`.
    """
    if not isfinite(seconds) or not SHORTEST <= seconds <= LONGEST:
        raise bad(f"{seconds:g} is not a duration in seconds (from {SHORTEST:g} to {LONGEST:g})")
    return seconds


def bad(message: str) -> InputError:
    """Return the error for invalid samples."""
    return InputError("bad-samples", message, hint=HINT)


def _adjacent(runs: Iterable[TimedRun]) -> Iterator[list[TimedRun]]:
    together: list[TimedRun] = []
    for run in runs:
        if together and run.group != together[0].group:
            yield together
            together = []
        if run.position != len(together):
            raise bad(f"group {run.group}: run {run.position} found, expected run {len(together)}")
        together.append(run)
    if together:
        yield together


def _group(runs: Sequence[TimedRun]) -> SampleGroup:
    first, rest = runs[0], runs[1:]
    delays, sizes = {run.delay for run in rest}, {run.size for run in runs}
    if len(delays) > 1 or len(sizes) > 1:
        differing = "delays after the warm-up" if len(delays) > 1 else "sizes"
        raise bad(f"group {first.group} has different {differing}")
    cycles = tuple(run.cycles for run in runs if run.cycles is not None)
    if cycles and len(cycles) != len(runs):
        raise bad(f"group {first.group} has cycles for {len(cycles)} of {len(runs)} runs")
    delay = delays.pop() if delays else first.delay
    return SampleGroup(first.group, tuple(run.seconds for run in runs), delay, first.delay, first.size, cycles)
