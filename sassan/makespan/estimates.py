"""The two published formulas for the makespan (Berezovskyi et al. 2011, Eq. 5-7 and 40-41), as estimates: they are no bounds.

`CC` with sigma_C = 2 and 4 warps takes 5 slots where Eq. 5 gives 4; `LCL` with sigma = 1 and 4 warps takes 9 where Eq. 40 gives 8. No bound
in sassan uses these values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sassan.errors import UsageError
from sassan.makespan.problem import Problem


@dataclass(frozen=True, slots=True)
class SlotEstimate:
    """A value in slots, and the caution that must be printed with it."""

    name: str
    slots: int
    caution: str


def pessimistic(problem: Problem) -> SlotEstimate:
    """Return Eq. 5-7: T = sum_U ceil(W / sigma_U) * I_U.

    Raises UsageError `different-strings`: the formula requires warps that run the same string.
    """
    if not problem.identical:
        raise UsageError("different-strings", "Eq. 5 of Berezovskyi et al. 2011 requires warps that run the same string")
    counts = {letter: count for letter, count in problem.strings[0].counts().items() if count}
    slots = sum(ceil(Fraction(problem.warps) / problem.capacity[letter]) * count for letter, count in counts.items())
    if any(problem.capacity[letter] > 1 for letter in counts):
        caution = "an estimate, not a bound: it is unsafe where a unit runs more than one instruction per slot, as here"
    else:
        caution = "an estimate: it is safe only because no unit runs more than one instruction per slot here"
    return SlotEstimate("paper-2011-pessimistic", slots, caution)


def extrapolated(warps: int, exact: Mapping[int, int]) -> SlotEstimate:
    """Return Eq. 40-41: T(W) = min over y of ceil(W / y) * T(y), from the longest makespans of y warps.

    Raises UsageError `no-exact-makespan` if there is none to extrapolate from.
    """
    if not exact:
        raise UsageError("no-exact-makespan", "there is no exact makespan to extrapolate from", hint="compute at least T(1)")
    slots = min(-(-warps // few) * slots for few, slots in exact.items())
    return SlotEstimate(
        "paper-2011-extrapolated", slots, "an estimate, not a bound: T(2) = 4 and T(4) = 9 for LCL with one unit of each kind"
    )
