"""What several engines know of one instance together; every schedule passes the judge again on its way in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sassan.errors import SelfCheckError
from sassan.makespan.engine import Found
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule, check


@dataclass(slots=True)
class Merged:
    """A `Report` that keeps the best of all reports: the longest makespan lies in [`lower`, `upper`], and `schedule` shows `lower`.

    `last` is the latest word of each engine, in the order of their first. `changed` is called after each report.
    """

    problem: Problem
    changed: Callable[["Merged"], None] | None = None
    lower: int | None = None
    upper: int | None = None
    schedule: Schedule | None = None
    last: dict[str, Found] = field(default_factory=dict[str, Found])

    def __call__(self, found: Found) -> None:
        """Take a report in.

        A lower bound without a schedule is not taken: what is shown exists. Raises SelfCheckError `bad-schedule`, `bad-lower` when the
        schedule has another length, `crossed-bounds`.
        """
        self._take_lower(found)
        if found.upper is not None and (self.upper is None or found.upper < self.upper):
            self.upper = found.upper
        self.last[found.engine] = found
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            message = f"the engines contradict each other: a schedule of {self.lower} slots, an upper bound of {self.upper}"
            raise SelfCheckError("crossed-bounds", message)
        if self.changed is not None:
            self.changed(self)

    def _take_lower(self, found: Found) -> None:
        if found.schedule is None or found.lower is None or (self.lower is not None and found.lower <= self.lower):
            return
        if found.schedule.makespan != found.lower:
            message = f"{found.engine} says that {found.lower} slots are possible and shows a schedule of {found.schedule.makespan}"
            raise SelfCheckError("bad-lower", message)
        check(self.problem, found.schedule)
        self.lower, self.schedule = found.lower, found.schedule

    @property
    def exact(self) -> int | None:
        """Return the longest makespan where it is proved, else None."""
        return self.lower if self.lower is not None and self.lower == self.upper else None

    @property
    def gap(self) -> float | None:
        """Return how far `upper` lies above `lower`, as a share of `lower`; None where one of them is not known."""
        return (self.upper - self.lower) / self.lower if self.lower and self.upper is not None else None
