"""The upper bound of what is left: from any standing of the warps in their strings, how many slots a schedule can still take.

A search prunes with it: slots done + `upper` of the state that was reached <= the longest known is a proof that the state is of no use.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem


@dataclass(frozen=True, slots=True)
class Remaining:
    """Tables of the bound, in whole numbers of 1/`scale` slot, with which an inner loop computes `upper` itself.

    `price[k][p]` is the price of the letters p, p+1, ... of the different string number k (in the order of `Problem.shares`).
    """

    scale: int
    price: tuple[tuple[int, ...], ...]

    def upper(self, standing: Iterable[tuple[int, int]]) -> int:
        """Return the most slots left for warps that stand at (string number, letters done); () and finished warps cost nothing.

        Proof. The proof of `waiting_slots` with the strings cut where the warps stand, and with the price 1/min(sigma_U, sigma) for
        every letter: T <= I_w + floor(prices of the others) for the warp w that finishes last. For one string the largest is that of the
        warp furthest behind: one letter more costs the others at most 1, and w has 1 more.
        """
        left = [(len(self.price[string]) - 1 - done, self.price[string][done]) for string, done in standing]
        total = sum(price for _, price in left)
        return max((length + (total - price) // self.scale for length, price in left if length), default=0)


def remaining_upper(problem: Problem) -> Remaining:
    """Return the tables for this problem; the strings are expanded."""
    used = {letter for one in problem.shares for letter, count in one.counts().items() if count}
    fits = {letter: Fraction(1, _most(problem, letter)) for letter in used}
    scale = lcm(*(price.denominator for price in fits.values()))
    whole = {letter: int(price * scale) for letter, price in fits.items()}
    return Remaining(scale, tuple(_suffix_sums([whole[letter] for letter in one.expand()]) for one in problem.shares))


def _most(problem: Problem, letter: Letter) -> int:
    capacity = int(problem.capacity[letter])
    return capacity if problem.issue is None else min(problem.issue, capacity)


def _suffix_sums(row: Sequence[int]) -> tuple[int, ...]:
    sums = [0]
    for price in reversed(row):
        sums.append(sums[-1] + price)
    return tuple(reversed(sums))
