"""The contract of every makespan engine: anytime, seeded, stoppable, and honest about what it proved."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from sassan.makespan import clock
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine knows so far, in slots: the longest makespan lies in [`lower`, `upper`]; None where it says nothing.

    `schedule` shows `lower`, and `schedule.check` has accepted it. `proof` says in a word why `upper` holds (and `lower`, where no
    schedule is given): `exhaustive`, `waiting-slots`, a solver's `optimal`, or '' for an engine that only searches.
    """

    engine: str
    lower: int | None = None
    upper: int | None = None
    schedule: Schedule | None = None
    proof: str = ""
    seconds: float = 0.0
    note: str = ""
    """What a reader should know of this run: why it ended early, or why the engine did not take the instance."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long an engine may run. `deadline` is a moment of `clock.now()`; `stop` is asked now and then and ends the run early."""

    deadline: float | None = None
    seed: int = 0
    stop: Callable[[], bool] = field(default=lambda: False)
    memory: int = 4 << 30
    """Bytes that an engine's own tables may take."""
    known: Found | None = None
    """What others have proved and shown already: an engine may start from it."""

    @property
    def left(self) -> float:
        """Return the seconds up to the deadline, below 0 after it; infinity where there is none."""
        return inf if self.deadline is None else self.deadline - clock.now()


Report = Callable[[Found], None]
"""Called with each improvement as it comes."""


class Engine(Protocol):
    """One way to bound the longest makespan from below, from above, or both."""

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        ...

    def run(self, problem: Problem, budget: Budget, report: Report) -> Found:
        """Return the best that is known when the engine is done or the budget is spent.

        Raises UsageError `too-large` with the size, and what to use instead, before it starts on an instance that it cannot hold.
        """
        ...
