"""Upper bounds of the makespan that need no search, and the engine that reports the least of them.

Each bound is a function of the problem with its proof in its docstring. None expands a string: they count letters in the run-length code.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.makespan.bounds_overlap import overlap
from sassan.makespan.bounds_pool import SMALL, Cut, cuts, pooled
from sassan.makespan.engine import Budget, Found, Report
from sassan.makespan.problem import Problem

_ANY = 1 << 62
_PATIENCE = 2
"""Finer cuts that are tried after the last that helped."""


def waiting_slots(problem: Problem) -> int:
    """Return the bound by the slots in which the warp that finishes last waits (makespan.md, "A bound that is safe").

    Proof. Let w be a warp that finishes last, in slot T. In each slot up to T it runs one of its I letters, or it waits for a unit U
    of which it has letters left. It waits only if the slot is full without it: sigma_U other warps run on U, or, where the issue limit
    sigma is what is short, sigma other warps run on any units. Each letter of another warp is run in one slot.

    If sigma >= sum_U sigma_U, an issue limit is never what is short: each slot in which w waits for U takes sigma_U letters U of the
    others, who hold N_U of them. So T <= I + sum_U floor(N_U / sigma_U), over the letters of w.

    Else give each letter U of the others the price 1/min(sigma_U, sigma) if w has letters U, and 1/sigma if not. A slot in which w waits
    for U takes sigma_U letters U or sigma letters of any kind: at least 1 in prices. So T <= I + floor(sum_U N_U * price_U).

    Which warp finishes last is not known: the largest of these over the different strings is the bound.
    """
    shares = problem.shares
    counts = {one: one.counts() for one in shares}
    total = {letter: sum(shares[one] * counts[one][letter] for one in shares) for letter in Letter}
    return max((_after(problem, counts[one], total) for one in shares), default=0)


def _after(problem: Problem, own: Mapping[Letter, int], total: Mapping[Letter, int]) -> int:
    length = sum(own.values())
    others = {letter: total[letter] - own[letter] for letter in Letter if total[letter] - own[letter]}
    sigma = {letter: int(problem.capacity[letter]) for letter in Letter if total[letter]}
    if problem.issue is None or problem.issue >= sum(sigma.values()):
        return length + sum(count // sigma[letter] for letter, count in others.items() if own[letter])
    if not length:
        return 0
    issue = problem.issue
    return length + int(sum(Fraction(count, min(sigma[letter], issue) if own[letter] else issue) for letter, count in others.items()))


def busy_units(problem: Problem) -> int:
    """Return the slots that every schedule takes: a warp runs one letter per slot, a unit its capacity, all the issue limit."""
    shares = problem.shares
    counts = {one: one.counts() for one in shares}
    total = {letter: sum(shares[one] * counts[one][letter] for one in shares) for letter in Letter}
    longest = max((sum(each.values()) for each in counts.values()), default=0)
    units = [
        -(-count * problem.capacity[letter].denominator // problem.capacity[letter].numerator) for letter, count in total.items() if count
    ]
    together = -(-sum(total.values()) // problem.issue) if problem.issue else 0
    return max(longest, together, *units, 0)


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
