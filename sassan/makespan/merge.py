"""The combined result of several engines on one instance; every schedule is validated again before it counts."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sassan.errors import SelfCheckError
from sassan.makespan.engine import EngineResult
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule, check


@dataclass(slots=True)
class Merged:
    """A `Reporter` that keeps the best of all reports: the longest makespan lies in [`lower`, `upper`], and `schedule` shows `lower`.

    `last` is the latest result of each engine, in the order of their first reports. `changed` is called after each report.
    """

    problem: Problem
    changed: Callable[["Merged"], None] | None = None
    lower: int | None = None
    upper: int | None = None
    schedule: Schedule | None = None
    last: dict[str, EngineResult] = field(default_factory=dict[str, EngineResult])

    def __call__(self, result: EngineResult) -> None:
        """Add a report; a lower bound without a schedule is ignored.

        Raises SelfCheckError `bad-schedule`; `bad-lower` if the schedule has another length; `crossed-bounds`.
        """
        self._take_lower(result)
        if result.upper is not None and (self.upper is None or result.upper < self.upper):
            self.upper = result.upper
        self.last[result.engine] = result
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            message = f"the engines contradict each other: a schedule of {self.lower} slots exceeds an upper bound of {self.upper} slots"
            raise SelfCheckError("crossed-bounds", message)
        if self.changed is not None:
            self.changed(self)

    def _take_lower(self, result: EngineResult) -> None:
        if result.schedule is None or result.lower is None or (self.lower is not None and result.lower <= self.lower):
            return
        if result.schedule.makespan != result.lower:
            message = f"{result.engine} reports {result.lower} slots, but its schedule has {result.schedule.makespan}"
            raise SelfCheckError("bad-lower", message)
        check(self.problem, result.schedule)
        self.lower, self.schedule = result.lower, result.schedule

    @property
    def exact(self) -> int | None:
        """Return the longest makespan where it is proved, else None."""
        return self.lower if self.lower is not None and self.lower == self.upper else None

    @property
    def gap(self) -> float | None:
        """Return how far `upper` lies above `lower`, as a fraction of `lower`; None where one of them is unknown."""
        return (self.upper - self.lower) / self.lower if self.lower and self.upper is not None else None
