"""The contract of every makespan engine: anytime, seeded, interruptible; its result separates what is proved from what is not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from sassan.jit import clock
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The interval that an engine has reached, in slots: the longest makespan lies in [`lower`, `upper`]; None where there is no bound.

    `schedule` has `lower` slots and was validated by `schedule.check`. `proof` names the proof of `upper` (and of `lower`, where there
    is not a schedule): `exhaustive`, `waiting-slots`, a solver's `optimal`, or '' for an engine that only searches.
    """

    engine: str
    lower: int | None = None
    upper: int | None = None
    schedule: Schedule | None = None
    proof: str = ""
    seconds: float = 0.0
    note: str = ""
    """Why the run ended early, or why the engine refused the instance; else ''."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a run. `deadline` is a moment of `clock.now()`; a run ends early once `stop()`, polled regularly, is true."""

    deadline: float | None = None
    seed: int = 0
    stop: Callable[[], bool] = field(default=lambda: False)
    memory: int = 4 << 30
    """Bytes that the tables of an engine may take."""
    known_result: EngineResult | None = None
    """What other engines have reached already: an engine may start from it."""

    @property
    def left(self) -> float:
        """Return the seconds up to the deadline, below 0 after it; infinity where there is none."""
        return inf if self.deadline is None else self.deadline - clock.now()


Reporter = Callable[[EngineResult], None]
"""Called with each improvement as it comes."""


class Engine(Protocol):
    """A method that bounds the longest makespan from below, from above, or both."""

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        ...

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the best result when the engine ends or the budget is spent.

        Raises UsageError `too-large`, with the size and an alternative, before it starts on an instance that does not fit.
        """
        ...
