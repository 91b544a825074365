"""What the engines `exact` and `beam` do with instances of `timed`: all in plain Python, on one core."""

from dataclasses import replace

from sassan.jit import clock
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.states import over
from sassan.makespan.timed.beam import beam
from sassan.makespan.timed.exact import search
from sassan.makespan.timed.states import TimedStates

WIDTHS = (1, 8, 64, 512, 4096)
_WORTH = 200_000
"""Steps of kept states up to which a beam without a deadline grows."""


def run_exact(problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
    """Return the longest makespan with a schedule, or the interval that is reached in time and memory.

    Raises UsageError `fractional-capacity`, `too-large`.
    """
    began = clock.now()
    states = TimedStates(problem)
    best = EngineResult("exact")
    known = budget.known_result
    schedule = known.schedule if known is not None and known.schedule is not None else beam(states, 1, budget.seed, lambda: over(budget))
    if schedule is not None:
        check(problem, schedule)
        best = replace(best, lower=schedule.makespan, schedule=schedule, seconds=clock.now() - began)
        report(best)
    searched = search(states, best.lower or 0, budget.memory, lambda: over(budget))
    if searched.choices is not None:
        schedule = states.schedule(searched.choices)
        check(problem, schedule)
        best = replace(best, lower=schedule.makespan, schedule=schedule)
    note = "" if searched.upper == best.lower else "the time or the memory was spent before all states were searched"
    best = replace(best, upper=searched.upper, proof="exhaustive", note=note, seconds=clock.now() - began)
    report(best)
    return best


def run_beam(problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
    """Return the longest schedule of all beams that ended in time.

    Raises UsageError `fractional-capacity`, `too-large`.
    """
    began = clock.now()
    states = TimedStates(problem)
    best = EngineResult("beam")
    work = states.work(states.start)
    for width in WIDTHS:
        if over(budget) or (width > 1 and budget.deadline is None and width * work > _WORTH):
            break
        schedule = beam(states, width, budget.seed, lambda: over(budget))
        if schedule is not None and (best.lower is None or schedule.makespan > best.lower):
            check(problem, schedule)
            best = EngineResult("beam", schedule.makespan, None, schedule, "", clock.now() - began)
            report(best)
    return best
