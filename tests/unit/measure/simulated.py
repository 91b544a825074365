"""A simulated device: it times nothing, and gives the durations that a test puts in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sassan.errors import InputError
from sassan.measure import MeasureTask, Timing


@dataclass
class Simulated:
    """Gives `seconds` one after the other, then again from the front; fails at run `fails_at`, counted from 0."""

    seconds: tuple[float, ...] = (3e-3, 1e-3, 2e-3)
    cycles: int | None = None
    fails_at: int = -1
    name: str = "simulated GPU"
    arch: str = "sm_90"
    loaded: list[MeasureTask] = field(default_factory=list)
    closed: int = 0
    runs: int = 0
    before_run: Callable[[int], object] = lambda number: number

    def load(self, task: MeasureTask) -> "Simulated":
        self.loaded.append(task)
        return self

    def run(self) -> Timing:
        self.before_run(self.runs)
        if self.runs == self.fails_at:
            raise InputError("launch-failed", "CUDA_ERROR_ILLEGAL_ADDRESS")
        self.runs += 1
        return Timing(self.seconds[(self.runs - 1) % len(self.seconds)], self.cycles)

    def results(self) -> tuple[bytes, ...]:
        return ()

    def close(self) -> None:
        self.closed += 1
