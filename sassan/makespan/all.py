"""Engine `all`: one engine after the other, each with a share of the remaining time, until the bounds meet.

On an easy instance the exact engine follows the first result of `bounds` and ends before a search would have started; where it is likely
to end within seconds, it gets a large share before the others. Otherwise `bounds` gets a little time, `beam` and `anneal` show schedules,
`bounds` continues, and `exact` gets the rest. An engine that refuses an instance gives the reason in its note; the others continue.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

from sassan.errors import UsageError
from sassan.jit import clock
from sassan.makespan.engine import Budget, Engine, EngineResult, Reporter
from sassan.makespan.merge import Merged
from sassan.makespan.problem import Problem

_FIRST, _BOUNDS = 0.1, 0.4
"""Shares of the remaining time that the bounds get at first, and again after the searches."""
_SHORT = 4.0
"""Seconds of time limit below which `bounds` stops after its first result: the searches need the time to show a schedule."""
_EXACT = 0.6
"""Share of the time that the exact engine gets before the others where it is likely to be done."""
_EXACT_AT_ONCE = 0.3
"""The same with intervals, latencies or barriers, where the number of states says little."""
EASY = 20_000
"""States up to which the exact engine ends before a search would have started."""
LIKELY = 20_000_000
"""States up to which the exact engine, which reports as it goes, usually ends within seconds."""


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One engine and the share of the time left that it may use."""

    engine: Engine
    share: float = 1.0


class All:
    """Runs `first`, `searches`, `first` again and `last`, or only the outer two; stops as soon as the bounds meet."""

    name = "all"

    def __init__(self, first: Engine, searches: Sequence[SearchStep], last: Engine) -> None:
        """Compose engines: `first` bounds from above at once, `last` decides when it has the time."""
        self._first = first
        self._searches = tuple(searches)
        self._last = last

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return [lower, upper] of all engines together.

        Raises UsageError `too-large` when no engine takes the instance.
        """
        begin = clock.now()
        merged = Merged(problem)

        def record(result: EngineResult) -> None:
            merged(result)
            report(result)

        quick = easy(problem)
        watched = replace(budget, stop=lambda: budget.stop() or merged.exact is not None)
        hasty = replace(budget, stop=lambda: budget.stop() or bool(merged.last))
        refused = self._run_engine(
            SearchStep(self._first, _FIRST), problem, hasty if states(problem) <= LIKELY or _short(budget) else watched, record
        )
        for step in (SearchStep(self._last),) if quick else self._steps(problem):
            if merged.exact is not None or _over(budget):
                break
            refused = self._run_engine(step, problem, replace(watched, known_result=self._together(merged, begin)), record) or refused
        if merged.lower is None and merged.upper is None and refused is not None:
            raise refused
        return self._together(merged, begin)

    def _steps(self, problem: Problem) -> tuple[SearchStep, ...]:
        if not problem.one_slot:
            return (SearchStep(self._last, _EXACT_AT_ONCE), *self._searches, SearchStep(self._last))
        usual = (*self._searches, SearchStep(self._first, _BOUNDS), SearchStep(self._last))
        return (SearchStep(self._last, _EXACT), *usual) if states(problem) <= LIKELY else usual

    def _together(self, merged: Merged, begin: float) -> EngineResult:
        proof = next((result.proof for result in merged.last.values() if result.upper == merged.upper and result.proof), "")
        return EngineResult(self.name, merged.lower, merged.upper, merged.schedule, proof, clock.now() - begin)

    def _run_engine(self, step: SearchStep, problem: Problem, budget: Budget, report: Reporter) -> UsageError | None:
        """Run one engine and report its result; return its error where it refuses the instance."""
        begin = clock.now()
        try:
            report(step.engine.run(problem, replace(budget, deadline=_share(budget.deadline, step.share)), report))
        except UsageError as error:
            report(EngineResult(step.engine.name, seconds=clock.now() - begin, note=error.message))
            return error
        return None


def easy(problem: Problem) -> bool:
    """Say whether the instance has so few states that the exact engine is the fastest of all."""
    return problem.one_slot and states(problem) <= EASY


def states(problem: Problem) -> int:
    """Return at most how many states the processor can be in, or LIKELY + 1 where there are more.

    In the model of one slot: for each string it counts the distributions of its warps over its positions.
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
