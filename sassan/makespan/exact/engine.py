"""Engine `exact`: the longest makespan itself, by longest paths over states (`states`).

Small instances: the search of `timed`, in plain Python, or one table over all states of the processor. Others: the beam finds a schedule,
the longest path over the sums of the runs bounds from above, and where these differ, a depth-first search repeatedly finds a schedule of as
many slots as the bound, or refutes it and lowers the bound by one. If that takes too long and the table of all states fits the memory, the
table decides.
"""

from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

from sassan.errors import UsageError
from sassan.jit import clock
from sassan.makespan.beam.engine import Beam
from sassan.makespan.compiling import NOTE, may_begin
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.exact.tables import MOST, most_choices
from sassan.makespan.problem import Problem, runs_of
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.states import (
    PLAIN,
    count_letter_states,
    count_states,
    layout,
    over,
    schedule_of,
    team_sizes,
)
from sassan.makespan.timed.engines import run_exact

if TYPE_CHECKING:
    from sassan.makespan.exact.tasks import Dive, Relaxed

_QUICK = 1_000_000
"""States of letters whose table is filled in a fraction of a second."""
_PER_SECOND = 2_000_000
"""States of letters whose table is filled in a second, roughly."""
_SHORT_DIVE = 0.5
_LEAST_DIVE = 2.0
_LONGEST = 1_000_000
"""Letters of all strings that may be expanded."""
_CHOICES = 1 << 20
_BYTES = 2
"""Of an entry of the table of letters; one of sums takes a byte where that is enough."""


class Exact:
    """The exact engine."""

    name = "exact"

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the longest makespan with a schedule, or the interval reached in time.

        Raises UsageError `too-large` if neither the states nor the sums of the runs fit the memory, `fractional-capacity`.
        """
        if not problem.one_slot:
            return run_exact(problem, budget, report)
        if count_letter_states(team_sizes(problem)) <= PLAIN:
            # So few states are searched whatever the machine is doing: the answer is exact on every one.
            return run_exact(problem, replace(budget, deadline=None), report)
        search = _Search(problem, budget, report, clock.now())
        size = _size(problem, budget)
        if size.letters <= _QUICK and size.table:
            search.table(budget)
        else:
            search.start(budget.known_result)
            search.close_in(size)
        return search.best


@dataclass(frozen=True, slots=True)
class _Size:
    """The number of states, and what fits the memory: the table of all states, that of the sums, a search over numbered states."""

    letters: int
    sums: int
    table: bool
    relax: bool
    dive: bool


def _size(problem: Problem, budget: Budget) -> _Size:
    letters = count_letter_states(team_sizes(problem))
    if sum(length for _, length in team_sizes(problem)) > _LONGEST:
        raise _too_large(letters, None)
    blocks = _blocks(problem, budget.memory)
    if letters * _BYTES > budget.memory and blocks * 8 > budget.memory:
        raise _too_large(letters, blocks)
    runs = layout(problem, "runs")
    few = most_choices(layout(problem, "letters")) <= _CHOICES
    sums = count_states(runs) if blocks * 8 <= budget.memory else blocks
    table = few and letters * _BYTES <= budget.memory
    relax = blocks * 8 + sums <= budget.memory
    if not table and not relax:
        raise _too_large(letters, sums)
    return _Size(letters, sums, table, relax, dive=few and relax and letters < MOST)


def _blocks(problem: Problem, memory: int) -> int:
    """Return the number of distributions of the warps over the runs, or a smaller number that already exceeds the memory."""
    blocks = 1
    for string, warps in problem.shares.items():
        count = 0
        for count, _ in enumerate(runs_of(string), 1):
            if comb(warps + count, warps) * blocks * 8 > memory:
                break
        blocks *= comb(warps + count, warps)
    return blocks


def _too_large(letters: int, sums: int | None) -> UsageError:
    relaxed = "" if sums is None else f", and over sums of runs at least {_rounded(sums)}"
    return UsageError(
        "too-large",
        f"the instance has {_rounded(letters)} states{relaxed}: more than fit the memory",
        hint="use --engine beam for long schedules, --engine bounds for an upper bound, --engine all for both",
    )


def _rounded(count: int) -> str:
    return str(count) if count < 10**6 else f"about 10^{len(str(count)) - 1}"


class _Search:
    """The best result so far, and the steps that improve it."""

    def __init__(self, problem: Problem, budget: Budget, report: Reporter, begin: float) -> None:
        self._problem = problem
        self._budget = budget
        self._report = report
        self._begin = begin
        self.best = EngineResult(Exact.name)

    def start(self, result: EngineResult | None) -> None:
        """Start from the result of other engines."""
        if result is not None and result.schedule is not None:
            self.show(result.schedule, exhaustive=False)
        if result is not None and result.upper is not None:
            self._publish(replace(self.best, upper=result.upper, proof=result.proof))

    def show(self, schedule: Schedule, *, exhaustive: bool) -> None:
        """Record a schedule; `exhaustive`: no schedule is longer."""
        if self.best.lower is None or schedule.makespan > self.best.lower:
            check(self._problem, schedule)
            self._publish(replace(self.best, lower=schedule.makespan, schedule=schedule))
        if exhaustive:
            self.bound(schedule.makespan)

    def bound(self, upper: int) -> None:
        """Record an upper bound."""
        if self.best.upper is None or upper < self.best.upper:
            self._publish(replace(self.best, upper=upper, proof="exhaustive"))

    def _publish(self, result: EngineResult) -> None:
        self.best = replace(result, seconds=clock.now() - self._begin)
        self._report(self.best)

    def _note(self, note: str) -> None:
        self.best = replace(self.best, note=note, seconds=clock.now() - self._begin)

    @property
    def closed(self) -> bool:
        """Say whether the bounds meet."""
        return self.best.lower is not None and self.best.lower == self.best.upper

    def table(self, budget: Budget) -> None:
        """Fill the table of all states of letters."""
        from sassan.makespan.exact.tasks import letters_path  # noqa: PLC0415 - the compiler is slow to load

        if not may_begin("exact.kernel", budget.left):
            self._note(NOTE)
            return
        letters = layout(self._problem, "letters")
        states = letters_path(letters, budget)
        if states is None:
            self._note("the time was up before the table of all states was full")
        else:
            self.show(schedule_of(self._problem, letters, states), exhaustive=True)

    def close_in(self, size: _Size) -> None:
        """Raise `lower` and lower `upper` until they meet."""
        from sassan.makespan.exact.tasks import packable, relaxed  # noqa: PLC0415

        if self.best.schedule is None:
            Beam((16, 256)).run(self._problem, self._budget, self._show_beam)
        runs = layout(self._problem, "runs")
        relax = size.relax and may_begin("exact.sums", self._budget.left)
        bound = relaxed(runs, size.sums, self._budget) if relax else None
        if bound is not None:
            self.bound(bound.upper)
            if not self.closed and size.dive and packable(runs) and may_begin("exact.dive", self._budget.left):
                self._dive(bound, size)
        if not self.closed and size.table and not over(self._budget):
            del bound
            self.table(self._budget)
        if not self.closed and not self.best.note:
            self._note(NOTE if size.relax and not relax else "the time was up" if over(self._budget) else "the memory was full")

    def _show_beam(self, result: EngineResult) -> None:
        assert result.schedule is not None
        self.show(result.schedule, exhaustive=False)

    def _dive(self, bound: "Relaxed", size: _Size) -> None:
        from sassan.makespan.exact.tasks import Dive  # noqa: PLC0415

        letters = layout(self._problem, "letters")
        dive = Dive(letters, bound, self._budget.memory - bound.value.nbytes - bound.offset.nbytes)
        # A schedule as long as the bound is found soon, in less time than a wider beam takes, or late, in more.
        self._reach(dive, _until(self._budget, _SHORT_DIVE))
        if not self.closed:
            Beam((2048,)).run(self._problem, self._budget, self._show_beam)
            # Where the table of all states is an alternative, not much more time than that takes.
            least = max(_LEAST_DIVE, size.letters / _PER_SECOND)
            self._reach(dive, _until(self._budget, least) if size.table else self._budget)

    def _reach(self, dive: "Dive", budget: Budget) -> None:
        from sassan.makespan.exact.tasks import End  # noqa: PLC0415

        letters = layout(self._problem, "letters")
        while not self.closed and self.best.upper is not None:
            ended, states = dive.reach(self.best.upper, budget)
            if ended is End.FOUND:
                self.show(schedule_of(self._problem, letters, states), exhaustive=True)
            elif ended is End.REFUTED:
                self.bound(self.best.upper - 1)
            else:
                return


def _until(budget: Budget, seconds: float) -> Budget:
    end = clock.now() + seconds
    return replace(budget, deadline=end if budget.deadline is None else min(end, budget.deadline))
