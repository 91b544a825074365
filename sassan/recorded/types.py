"""The contents of a recording of GPU runs by any tool: launches with times and counts, or a tuning space with its configurations.

A number that a file does not have is None, an empty mapping or an empty tuple, never zero. `notes` are warnings about a file (it is
truncated, two of its numbers contradict each other), in the order of the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

Size = tuple[int, int, int]
"""Blocks of a grid, or threads of a block, in x, y and z."""
Value = int | float | str | bool
"""A value of a metric or of a tuning parameter."""
OK = "ok"
"""The status of a configuration that ran with the correct result, if the tool checks it."""


class Metric(NamedTuple):
    """A metric of a launch; `unit` is '' if it is unknown."""

    value: Value
    unit: str


@dataclass(frozen=True, slots=True)
class RecordedDevice:
    """A GPU as a file describes it.

    Units: `clock_hz` is the highest clock of the SMs that the file gives for the product. '' and None: not recorded.
    """

    name: str = ""
    capability: tuple[int, int] | None = None
    sm_count: int | None = None
    clock_hz: float | None = None

    @property
    def arch(self) -> str:
        """Return the architecture, such as `sm_86`, '' where it is not recorded."""
        return f"sm_{self.capability[0]}{self.capability[1]}" if self.capability else ""


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """A launch of a kernel, or `count` launches summarized by a file, with its measurements.

    Units: `cycles` are elapsed SM cycles of the whole launch; `time_ns` is one run, or the median of several; `time_range_ns` is the
    shortest and the longest of several runs. `shared` is dynamic shared memory in bytes per block. `instructions` are executed warp
    instructions of the whole launch.
    `counts` maps the offset of an instruction within its function to how many warps executed it, `thread_counts` to how many threads did.
    `image` is an index into the images of the recording. `place` is the position of the launch in the file.
    """

    kernel: str
    mangled: str = ""
    grid: Size | None = None
    block: Size | None = None
    shared: int | None = None
    cycles: float | None = None
    time_ns: float | None = None
    time_range_ns: tuple[float, float] | None = None
    instructions: int | None = None
    counts: Mapping[int, int] = field(default_factory=dict[int, int])
    thread_counts: Mapping[int, int] = field(default_factory=dict[int, int])
    metrics: Mapping[str, Metric] = field(default_factory=dict[str, Metric])
    image: int | None = None
    count: int = 1
    place: str = ""
    device: RecordedDevice | None = None
    program: str = ""
    arguments: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Recording:
    """The launches recorded in a file, in its order, and the cubins of its images."""

    path: str
    format: str
    launches: tuple[RecordedLaunch, ...]
    images: tuple[bytes, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def device(self) -> RecordedDevice | None:
        """Return the device of all launches, None if it is not recorded or launches differ."""
        devices = {launch.device for launch in self.launches}
        return devices.pop() if len(devices) == 1 else None


@dataclass(frozen=True, slots=True)
class TuningConfiguration:
    """A configuration of a tuning space.

    Units: milliseconds. `values` follow the parameters of the space; `times_ms` are the runs in the order of the file, `recorded_ms` the
    time of the configuration as given by the tool (usually the mean). `status` is OK, or why there is no valid time.
    `grid` and `block` are those of the only kernel of the configuration, None where the file does not hold them.
    """

    values: tuple[Value, ...]
    times_ms: tuple[float, ...] = ()
    recorded_ms: float | None = None
    status: str = OK
    grid: Size | None = None
    block: Size | None = None
    place: str = ""

    @property
    def valid(self) -> bool:
        """Return whether the configuration ran and has a time."""
        return self.status == OK and self.time_ms is not None

    @property
    def time_ms(self) -> float | None:
        """Return the median of the runs, or the recorded time where there are no runs."""
        return median(self.times_ms) if self.times_ms else self.recorded_ms


@dataclass(frozen=True, slots=True)
class TuningSpace:
    """The configurations of a kernel measured by a tuner, in the order of the file.

    `problem` is the problem size given to the tuner, empty if not recorded; `domains` the possible values of each
    parameter, empty likewise.
    """

    path: str
    format: str
    kernel: str
    device: RecordedDevice | None
    parameters: tuple[str, ...]
    configurations: tuple[TuningConfiguration, ...]
    problem: tuple[Value, ...] = ()
    domains: Mapping[str, tuple[Value, ...]] = field(default_factory=dict[str, tuple[Value, ...]])
    notes: tuple[str, ...] = ()

    def values(self, configuration: TuningConfiguration) -> Mapping[str, Value]:
        """Return the values of a configuration by the names of the parameters."""
        return dict(zip(self.parameters, configuration.values, strict=True))
