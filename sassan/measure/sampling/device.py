"""The interface between the runner, which schedules runs, and a GPU, which executes and times them."""

from dataclasses import dataclass
from typing import Protocol

from sassan.machine.launch import Shape

DATA_BYTES = 16 << 20
"""Default size of the memory behind a pointer argument, in bytes."""
DATA_LARGEST = 60
"""Largest integer in that memory. It holds integers from 1 to this, usable as data, as indices and as loop bounds."""


@dataclass(frozen=True, slots=True)
class MeasureArgument:
    """A kernel argument: `kind` is `int`, `long`, `float`, `double`, or memory of `value` bytes.

    The memory of a `pointer` holds small integers, that of `floats` small 32-bit floats.
    """

    name: str
    kind: str
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class MeasureTask:
    """A kernel of a cubin with its launch configuration and its arguments.

    `clocked`: the last parameter, which is not in `arguments`, points to a `long long` per thread, where the kernel stores its cycles.
    """

    cubin: bytes
    kernel: str
    grid: Shape = (1, 1, 1)
    block: Shape = (1, 1, 1)
    arguments: tuple[MeasureArgument, ...] = ()
    shared: int = 0
    clocked: bool = False

    @property
    def threads(self) -> int:
        """Return the number of launched threads."""
        (gx, gy, gz), (bx, by, bz) = self.grid, self.block
        return gx * gy * gz * bx * by * bz


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of a run. Units: seconds between two events around the launch; cycles of the longest thread, None where not counted."""

    seconds: float
    cycles: int | None = None


class LoadedKernel(Protocol):
    """A loaded kernel with its arguments, ready to run."""

    def run(self) -> Timing:
        """Run the kernel once and wait for it.

        Raises InputError `launch-failed`.
        """
        ...

    def results(self) -> tuple[bytes, ...]:
        """Run the kernel once and return the contents of its memory afterwards, in the order of the arguments.

        Raises InputError `launch-failed`.
        """
        ...

    def close(self) -> None:
        """Free its memory."""
        ...


class Device(Protocol):
    """A GPU, real or simulated."""

    @property
    def name(self) -> str:
        """Return the name of the GPU."""
        ...

    @property
    def arch(self) -> str:
        """Return the architecture, such as `sm_61`."""
        ...

    def load(self, task: MeasureTask) -> LoadedKernel:
        """Load the kernel of a task and fill its memory.

        Raises InputError `launch-failed`.
        """
        ...
