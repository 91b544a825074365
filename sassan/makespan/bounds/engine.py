"""The engine of the bounds: the least of the safe upper bounds, each of which has its proof where it is computed.

`waiting-slots` (waiting) counts letters, `overlap` (overlap) pairs of neighbours: neither expands a string.
`pooled-stretches` (pool) fills a table whose size depends on the number of runs; `least-waste` (search) refutes one slot
after the other with that table as its guide. None searches for a schedule.
"""

import sys
from collections.abc import Callable, Iterator
from math import inf

from sassan.makespan import clock
from sassan.makespan.bounds.overlap import overlap
from sassan.makespan.bounds.pool import SMALL, Cut, Pooled, cuts, finest, pooled
from sassan.makespan.bounds.search import refines, refuted
from sassan.makespan.bounds.waiting import busy_units, waiting_slots
from sassan.makespan.compiling import may_begin
from sassan.makespan.engine import Budget, Found, Report
from sassan.makespan.problem import Problem

_PATIENCE = 2
"""Finer cuts that are tried after the last that helped."""
_LOADING = {"highspy": 0.2, "numba": 0.8}
"""Seconds that the solver and the compiler take to load, once per process: with less left, neither is begun."""


def candidates(problem: Problem, stop: Callable[[], bool], left: Callable[[], float] = lambda: inf) -> Iterator[tuple[str, int]]:
    """Yield upper bounds with their names, the quickest first; some are no better than those before.

    `stop` ends each of them early; `left` says how many seconds are left.
    """
    yield "waiting-slots", waiting_slots(problem)
    small = list(cuts(problem, SMALL))
    for one in small:
        yield from _pooled(one, stop)
    if small and small[-1].exact:
        return
    for pieces in (1, 2):
        bound = overlap(problem, pieces, stop) if not stop() and _loads("highspy", left()) else None
        if bound is not None:
            yield f"overlap-{pieces}", bound
    if not stop() and _loads("numba", left()) and may_begin("bounds.pool_kernel", left()):
        yield from _searched(problem, stop, left)


def _loads(module: str, seconds: float) -> bool:
    return module in sys.modules or seconds > _LOADING[module]


def _searched(problem: Problem, stop: Callable[[], bool], left: Callable[[], float]) -> Iterator[tuple[str, int]]:
    """Yield what ever finer tables say, and then what a search with the last of them refutes."""
    guide: Pooled | None = None
    idle = 0
    for one in cuts(problem):
        table = pooled(one, stop) if idle < _PATIENCE else None
        if table is not None:
            idle = 0 if guide is None or table.bound < guide.bound else idle + 1
            guide = table
            yield "pooled-stretches", table.bound
    if guide is None or guide.cut.exact or not may_begin("bounds.search_kernel", left()):
        return
    slots = guide.bound
    for fine in (finest(problem, whole=True), finest(problem, whole=False)):
        while fine is not None and refines(fine, guide.cut) and refuted(fine, guide, slots, stop):
            slots -= 1
            yield "least-waste", slots


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
        start = clock.now()
        lower = busy_units(problem)
        found = Found(self.name, lower)

        def stop() -> bool:
            return budget.left <= 0 or budget.stop()

        for name, upper in candidates(problem, stop, lambda: budget.left):
            if found.upper is None or upper < found.upper:
                found = Found(self.name, lower, upper, None, name, clock.now() - start)
                report(found)
            if found.upper == lower or stop():
                break
        return found
