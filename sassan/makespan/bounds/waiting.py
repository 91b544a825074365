"""The bounds that only count letters: slots in which the last warp waits, and slots that the busiest resource takes."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from sassan.alphabet import UNITS, Letter
from sassan.makespan.problem import Problem


def waiting_slots(problem: Problem) -> int:
    """Return the bound by the slots in which the warp that finishes last waits.

    Proof. Let w be a warp that finishes last, in slot T. In each slot up to T it runs one of its I letters, or it waits for a unit U
    of which it has letters left. It waits only if the slot is full without it: sigma_U other warps run on U, or, where the issue limit
    sigma is what is short, sigma other warps run on any units. Each letter of another warp is run in one slot.

    If sigma >= sum_U sigma_U, an issue limit is never what is short: each slot in which w waits for U takes sigma_U letters U of the
    others, who hold N_U of them. So T <= I + sum_U floor(N_U / sigma_U), over the letters of w.

    Else give each letter U of the others the weight 1/min(sigma_U, sigma) if w has letters U, and 1/sigma if not. A slot in which w waits
    for U takes sigma_U letters U or sigma letters of any kind: a weight of at least 1. So T <= I + floor(sum_U N_U * weight_U).

    Which warp finishes last is not known: the largest of these over the different strings is the bound.

    It holds, too, where equal warps wait for each other at block barriers that open in one order, and where an instruction holds its unit
    for n_U slots and its warp for a latency: then I counts latencies, and N_U is multiplied with n_U (docs/proofs/makespan-strings.md).
    """
    shares = problem.shares
    counts = {string: string.counts() for string in shares}
    total = {letter: sum(shares[string] * counts[string][letter] for string in shares) for letter in UNITS}
    return max(waiting_slots_of(problem, letters, total) for letters in counts.values())


def waiting_slots_of(problem: Problem, letters: Mapping[Letter, int], total: Mapping[Letter, int]) -> int:
    """Return the bound if a warp with `letters`, of those in `total`, finishes last."""
    length = sum(count * problem.latency.get(letter, 1) for letter, count in letters.items())
    others = {letter: total[letter] - letters[letter] for letter in UNITS if total[letter] - letters[letter]}
    sigma = {letter: int(problem.capacity[letter]) for letter in UNITS if total[letter]}
    if problem.issue is None or problem.issue >= sum(sigma.values()):
        waits = ((letter, count * problem.interval.get(letter, 1)) for letter, count in others.items() if letters[letter])
        return length + sum(count // sigma[letter] for letter, count in waits)
    if not length:
        return 0
    weight = weights(problem)
    issue = Fraction(1, problem.issue)
    return length + int(sum(count * (weight[letter] if letters[letter] else issue) for letter, count in others.items()))


def weights(problem: Problem) -> dict[Letter, Fraction]:
    """Return how many slots an instruction of each letter can make a warp wait that needs its unit, or nothing but to be issued."""
    sigma = {letter: int(capacity) for letter, capacity in problem.capacity.items()}
    issue = problem.issue if problem.issue is not None and problem.issue < sum(sigma.values()) else sum(sigma.values())
    return {
        letter: Fraction(1, min(count, issue)) + Fraction(problem.interval.get(letter, 1) - 1, count) for letter, count in sigma.items()
    }


def busy_units(problem: Problem) -> int:
    """Return the slots that every schedule takes: a warp runs one instruction at a time, a unit its capacity, all the issue limit."""
    shares = problem.shares
    latency = {letter: problem.latency.get(letter, 1) for letter in problem.capacity}
    interval = {letter: problem.interval.get(letter, 1) for letter in problem.capacity}
    counts = {string: string.counts() for string in shares}
    total = {letter: sum(shares[string] * counts[string][letter] for string in shares) for letter in problem.capacity}
    longest = max((sum(letters[letter] * slots for letter, slots in latency.items()) for letters in counts.values()), default=0)
    # The last of a unit, or of all, still has to end.
    units = [
        ceil(count * interval[letter] / problem.capacity[letter]) + latency[letter] - interval[letter]
        for letter, count in total.items()
        if count
    ]
    together = ceil(Fraction(sum(total.values()), problem.issue)) if problem.issue else 0
    return max(longest, together, *units, 0)
