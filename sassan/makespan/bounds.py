"""The engine of the bounds: the least of the safe upper bounds, each of which has its proof where it is computed.

`waiting-slots` (bounds_waiting) counts letters, `overlap` (bounds_overlap) pairs of neighbours: neither expands a string.
`pooled-stretches` (bounds_pool) fills a table whose size depends on the number of runs. None searches for a schedule.
"""

import time
from collections.abc import Callable, Iterator

from sassan.makespan.bounds_overlap import overlap
from sassan.makespan.bounds_pool import SMALL, Cut, cuts, pooled
from sassan.makespan.bounds_waiting import busy_units, waiting_slots
from sassan.makespan.engine import Budget, Found, Report
from sassan.makespan.problem import Problem

__all__ = ["Bounds", "busy_units", "candidates", "waiting_slots"]

_ANY = 1 << 62
_PATIENCE = 2
"""Finer cuts that are tried after the last that helped."""


def candidates(problem: Problem, stop: Callable[[], bool]) -> Iterator[tuple[str, int]]:
    """Yield upper bounds with their names, the quickest first; some are no better than those before."""
    yield "waiting-slots", waiting_slots(problem)
    small = list(cuts(problem, SMALL))
    for one in small:
        yield from _pooled(one, stop)
    if small and small[-1].exact:
        return
    for pieces in (1, 2):
        bound = None if stop() else overlap(problem, pieces)
        if bound is not None:
            yield f"overlap-{pieces}", bound
    best, idle = _ANY, 0
    for one in cuts(problem):
        if one.states > SMALL and idle < _PATIENCE:
            for name, bound in _pooled(one, stop):
                best, idle = min(best, bound), (0 if bound < best else idle + 1)
                yield name, bound


def _pooled(one: Cut, stop: Callable[[], bool]) -> Iterator[tuple[str, int]]:
    table = pooled(one, stop)
    if table is not None:
        yield ("exhaustive" if one.exact else "pooled-stretches"), table.bound


class Bounds:
    """The engine of the bounds: no search, an answer at once and better ones within seconds."""

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        return "bounds"

    def run(self, problem: Problem, budget: Budget, report: Report) -> Found:
        """Return the least of the safe bounds, and below it the slots that any schedule takes; `proof` names the bound that won."""
        start = time.monotonic()
        lower = busy_units(problem)
        found = Found(self.name, lower)

        def stop() -> bool:
            return budget.stop() or (budget.deadline is not None and time.monotonic() >= budget.deadline)

        for name, upper in candidates(problem, stop):
            if found.upper is None or upper < found.upper:
                found = Found(self.name, lower, upper, None, name, time.monotonic() - start)
                report(found)
            if found.upper == lower or stop():
                break
        return found
