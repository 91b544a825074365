"""The contract between the runner, which decides what runs when, and a GPU, which runs it once and tells how long it took."""

from dataclasses import dataclass
from typing import Protocol

Dimensions = tuple[int, int, int]
DATA_BYTES = 16 << 20
"""Bytes behind every pointer, unless told otherwise."""
DATA_LARGEST = 60
"""They hold integers from 1 to this: they serve as data, as indices and as bounds of loops."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel: `kind` is `int`, `long`, `float`, `double`, or memory of `value` bytes.

    That of a `pointer` holds small integers, that of `floats` small floats of 32 bits.
    """

    name: str
    kind: str
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Task:
    """A kernel of a cubin with its launch and its arguments.

    `clocked`: its last parameter, which is not in `arguments`, points to a `long long` per thread, where the kernel stores its cycles.
    """

    cubin: bytes
    kernel: str
    grid: Dimensions = (1, 1, 1)
    block: Dimensions = (1, 1, 1)
    arguments: tuple[Argument, ...] = ()
    shared: int = 0
    clocked: bool = False

    @property
    def threads(self) -> int:
        """Return how many threads are launched."""
        (gx, gy, gz), (bx, by, bz) = self.grid, self.block
        return gx * gy * gz * bx * by * bz


@dataclass(frozen=True, slots=True)
class Timing:
    """One run. Units: seconds between two events around the launch; cycles of the longest thread, None where none were taken."""

    seconds: float
    cycles: int | None = None


class Loaded(Protocol):
    """A task that is ready to run, its memory filled."""

    def run(self) -> Timing:
        """Run it once, and wait for its end.

        Raises InputError `launch-failed`.
        """
        ...

    def results(self) -> tuple[bytes, ...]:
        """Run it once, and return what its memory holds then, in the order of the arguments.

        Raises InputError `launch-failed`.
        """
        ...

    def close(self) -> None:
        """Give its memory back."""
        ...


class Device(Protocol):
    """A GPU, real or simulated."""

    @property
    def name(self) -> str:
        """Return what it calls itself."""
        ...

    @property
    def arch(self) -> str:
        """Return its architecture, such as `sm_61`."""
        ...

    def load(self, task: Task) -> Loaded:
        """Return a task ready to run.

        Raises InputError `launch-failed`.
        """
        ...
