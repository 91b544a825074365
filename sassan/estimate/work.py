"""For how long the warps of a program keep the resources of an SM."""

from dataclasses import dataclass, replace

import numpy as np

from sassan.estimate.answer import PathRow
from sassan.estimate.path import Visits
from sassan.estimate.program import TICK, Figures, RowField, SimulatedRun, WarpProgram

_MEMORY = {"memory": RowField.PIPELINE, "l2": RowField.L2, "dram": RowField.DRAM}
_WHOLE = frozenset({"l2", "dram"})
"""What all SMs share."""


@dataclass(frozen=True, slots=True)
class ResourceWork:
    """The rows of a program, the names of its units, and how many schedulers have those that are not the whole SM's."""

    program: WarpProgram
    units: tuple[str, ...]
    schedulers: int

    def cycles(self, walked: Visits) -> dict[str, float]:
        """Return the cycles for which one warp keeps each resource."""
        rows, counts = self.program.rows, self._counts(walked)
        units = np.bincount(rows[:, RowField.UNIT], counts * rows[:, RowField.INTERVAL], len(self.units))
        memory = {name: float(counts @ rows[:, column]) / TICK for name, column in _MEMORY.items()}
        of_units = dict(zip(self.units, units.tolist(), strict=True))
        # What needs no unit but an issue slot has the unit `issue`.
        return of_units | {"issue": float(counts.sum()) + of_units.get("issue", 0.0)} | memory

    def parallel(self, name: str) -> int:
        """Return how many of a resource an SM has."""
        alone = name in _MEMORY or (name in self.units and self.program.shared[self.units.index(name)])
        return 1 if alone else self.schedulers

    def shares(self, walked: Visits, warps_per_cycle: float, balance: float = 1.0) -> dict[str, float]:
        """Return for which part of the time each resource is busy; `balance`: what SMs have on average of the work of the one with most."""
        return {
            name: cycles * warps_per_cycle / self.parallel(name) * (1.0 if name in _WHOLE else balance)
            for name, cycles in self.cycles(walked).items()
        }

    def at_most(self, walked: Visits, warps: int, run: SimulatedRun) -> float:
        """Return the time that a run of so many warps stands for at most: of each resource, its work, and what it was idle.

        A moment in which a resource is idle stands for no more than the heaviest visit does. (The clock of a run counts what passes between
        two instructions as often as the visit of the second one: where some warps are in a heavy iteration and others are not, it counts
        work of the ones as that of the others.)
        """
        alone = self.shares(replace(walked, weights=(1.0,) * len(walked.nodes)), warps)
        heaviest = max(walked.weights)
        return min(work + heaviest * max(0.0, run.once - alone[name]) for name, work in self.shares(walked, warps).items())

    def row(self, walked: Visits) -> PathRow:
        """Return the row of a path."""
        cycles = self.cycles(walked)
        return PathRow(cycles, self.named(max(cycles, key=lambda name: cycles[name] / self.parallel(name)), walked))

    def named(self, resource: str, walked: Visits) -> str:
        """Return the name of a resource that binds: of the memory pipeline, what keeps it for most of its time, shared memory or L1."""
        if resource != "memory":
            return resource
        rows = self.program.rows
        shared, kept = rows[:, RowField.SHARED] != 0, self._counts(walked) * rows[:, RowField.PIPELINE]
        return "shared" if kept[shared].sum() > kept[~shared].sum() else "l1"

    def _counts(self, walked: Visits) -> Figures:
        """Return how often a warp executes each row."""
        starts = self.program.starts
        return np.repeat(np.asarray(walked.counts(len(starts) - 1), np.float64), np.diff(starts))
