"""Engine `bounds`: the least of the safe upper bounds, each of which is proved where it is computed.

`waiting-slots` (waiting) counts letters, `overlap` (overlap) pairs of neighbours: neither expands a string.
`pooled-stretches` (pool) fills a table whose size depends on the number of runs; `least-waste` (search) refutes one slot
after the other, guided by that table. None searches for a schedule.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from math import inf

from sassan.jit import clock
from sassan.makespan.bounds.overlap import overlap
from sassan.makespan.bounds.parts import followed_parts
from sassan.makespan.bounds.pool import MOST_STATES, SMALL, Cut, Pooled, cuts, finest, pooled
from sassan.makespan.bounds.search import refines, refuted
from sassan.makespan.bounds.waiting import busy_units, waiting_slots
from sassan.makespan.compiling import may_begin
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.problem import Problem

_PATIENCE = 2
"""Finer cuts that are tried after the last that helped."""
_LARGEST, _PER_SECOND = 1 << 26, 1_500_000
"""States of the only table of many warps with few runs (4 bytes each), and how many of them are filled in a second, at least."""
_LOADING = {"highspy": 0.2, "numba": 0.8}
"""Seconds that the solver and the compiler take to load, once per process: with less left, neither is begun."""


def candidates(problem: Problem, stop: Callable[[], bool], left: Callable[[], float] = lambda: inf) -> Iterator[tuple[str, int]]:
    """Yield upper bounds with their names, the quickest first; some are no better than those before.

    `stop` ends each of them early; `left` returns the seconds left.
    """
    if not problem.one_slot:
        yield from _timed(problem)
        return
    yield "waiting-slots", waiting_slots(problem)
    small = list(cuts(problem, SMALL))
    for cut in small:
        yield from _pooled(cut, stop)
    if small and small[-1].exact:
        return
    for pieces in (1, 2):
        bound = overlap(problem, pieces, stop) if not stop() and _loads("highspy", left()) else None
        if bound is not None:
            yield f"overlap-{pieces}", bound
    if not stop() and _loads("numba", left()) and may_begin("bounds.pool_kernel", left()):
        yield from _searched(problem, stop, left)


def _timed(problem: Problem) -> Iterator[tuple[str, int]]:
    """Yield the bounds that hold with intervals, latencies and barriers."""
    if problem.identical or not problem.blocks:
        yield "waiting-slots", waiting_slots(problem)
    yield "followed-parts", followed_parts(problem)


def _loads(module: str, seconds: float) -> bool:
    return module in sys.modules or seconds > _LOADING[module]


def _searched(problem: Problem, stop: Callable[[], bool], left: Callable[[], float]) -> Iterator[tuple[str, int]]:
    """Yield the bounds of finer and finer tables, and then those of a search guided by the last of them."""
    guide: Pooled | None = None
    idle = 0
    most = min(_LARGEST, max(MOST_STATES, int(min(left(), _LARGEST) * _PER_SECOND)))
    for cut in _some(problem, most):
        table = pooled(cut, stop) if idle < _PATIENCE else None
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


def _some(problem: Problem, most: int) -> Iterator[Cut]:
    """Yield the cuts with quick tables; where even whole runs have more states, that cut, if it has at most so many."""
    several = list(cuts(problem))
    yield from several or islice(cuts(problem, most), 1)


def _pooled(cut: Cut, stop: Callable[[], bool]) -> Iterator[tuple[str, int]]:
    table = pooled(cut, stop)
    if table is not None:
        yield ("exhaustive" if cut.exact else "pooled-stretches"), table.bound


class Bounds:
    """The engine of the bounds: a first result at once, better ones within seconds."""

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        return "bounds"

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the least of the safe upper bounds, named by `proof`, and as lower bound the slots that any schedule takes."""
        start = clock.now()
        lower = busy_units(problem)
        result = EngineResult(self.name, lower)

        def stop() -> bool:
            return budget.left <= 0 or budget.stop()

        for name, upper in candidates(problem, stop, lambda: budget.left):
            if result.upper is None or upper < result.upper:
                result = EngineResult(self.name, lower, upper, None, name, clock.now() - start)
                report(result)
            if result.upper == lower or stop():
                break
        return result
