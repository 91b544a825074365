"""Engine `all`: every engine in turn, each with a share of the time that is left, until the bounds meet.

On an instance that the exact engine holds easily it follows on the first word of `bounds`, and is done before a search has started; where
it is likely to be done in seconds, it gets a large share before the others. Else `bounds` gets a little time, `beam` and `anneal` show
schedules, `bounds` goes on, and `exact` has the rest. An engine that does not take an instance says why in its note, and the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

from sassan.errors import UsageError
from sassan.makespan import clock
from sassan.makespan.engine import Budget, Engine, Found, Report
from sassan.makespan.merge import Merged
from sassan.makespan.problem import Problem

_FIRST, _BOUNDS = 0.1, 0.4
"""Shares of the time left that the bounds get at first, and when a search has shown what they are up against."""
_SHORT = 4.0
"""Seconds in which the bounds say one word and leave the time to the searches: a schedule comes first."""
_EXACT = 0.6
"""Share of the time that the exact engine gets before the others where it is likely to be done."""
EASY = 20_000
"""States of an instance on which the exact engine is done before a search has started."""
LIKELY = 20_000_000
"""States of an instance on which the exact engine, which says what it has all along, is done within seconds as a rule."""


@dataclass(frozen=True, slots=True)
class Step:
    """One engine and the share of the time left that it may use."""

    engine: Engine
    share: float = 1.0


class All:
    """Runs `first`, `searches`, `first` again and `last`, or only the outer two; stops as soon as the bounds meet."""

    name = "all"

    def __init__(self, first: Engine, searches: Sequence[Step], last: Engine) -> None:
        """Compose engines: `first` bounds from above at once, `last` decides when it has the time."""
        self._first = first
        self._searches = tuple(searches)
        self._last = last

    def run(self, problem: Problem, budget: Budget, report: Report) -> Found:
        """Return [lower, upper] of all engines together.

        Raises UsageError `too-large` when no engine takes the instance.
        """
        begin = clock.now()
        merged = Merged(problem)

        def both(found: Found) -> None:
            merged(found)
            report(found)

        quick = easy(problem)
        watched = replace(budget, stop=lambda: budget.stop() or merged.exact is not None)
        hasty = replace(budget, stop=lambda: budget.stop() or bool(merged.last))
        refused = self._one(Step(self._first, _FIRST), problem, hasty if states(problem) <= LIKELY or _short(budget) else watched, both)
        for step in (Step(self._last),) if quick else self._steps(problem):
            if merged.exact is not None or _over(budget):
                break
            refused = self._one(step, problem, replace(watched, known=self._together(merged, begin)), both) or refused
        if merged.lower is None and merged.upper is None and refused is not None:
            raise refused
        return self._together(merged, begin)

    def _steps(self, problem: Problem) -> tuple[Step, ...]:
        usual = (*self._searches, Step(self._first, _BOUNDS), Step(self._last))
        return (Step(self._last, _EXACT), *usual) if states(problem) <= LIKELY else usual

    def _together(self, merged: Merged, begin: float) -> Found:
        proof = next((one.proof for one in merged.last.values() if one.upper == merged.upper and one.proof), "")
        return Found(self.name, merged.lower, merged.upper, merged.schedule, proof, clock.now() - begin)

    def _one(self, step: Step, problem: Problem, budget: Budget, report: Report) -> UsageError | None:
        """Run one engine and report its last word; return its refusal where it does not take the instance."""
        begin = clock.now()
        try:
            report(step.engine.run(problem, replace(budget, deadline=_share(budget.deadline, step.share)), report))
        except UsageError as error:
            report(Found(step.engine.name, seconds=clock.now() - begin, note=error.message))
            return error
        return None


def easy(problem: Problem) -> bool:
    """Say whether the instance has so few states that the exact engine is the fastest of all."""
    return states(problem) <= EASY


def states(problem: Problem) -> int:
    """Return at most how many states the processor can be in, or LIKELY + 1 where there are more.

    Of each string it counts how its warps can stand at its positions.
    """
    total = 1
    for string, warps in problem.shares.items():
        # At least two to the power of the smaller number, which may be beyond counting.
        total *= comb(warps + string.length, warps) if min(warps, string.length) < LIKELY.bit_length() else LIKELY + 1
        if total > LIKELY:
            return LIKELY + 1
    return total


def _share(deadline: float | None, share: float) -> float | None:
    if deadline is None:
        return None
    now = clock.now()
    return now + max(deadline - now, 0.0) * share


def _short(budget: Budget) -> bool:
    return budget.deadline is not None and budget.deadline - clock.now() < _SHORT


def _over(budget: Budget) -> bool:
    return budget.stop() or (budget.deadline is not None and clock.now() >= budget.deadline)
