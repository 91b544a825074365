"""The budget of an exploration: what grows beyond it becomes a gap. It counts work, not seconds: the same input gives the same result."""

from collections.abc import Collection

from sassan.errors import Gap
from sassan.warpcfg.steps import Key

TOO_LARGE = "too-large"
ENTRIES = 5_000_000
"""Entries of states that may be visited: some ten seconds at most; a kernel of Triton with warps of different roles needs 4.7 million."""
_PER_BLOCK = 100
"""Further entries for each basic block: real kernels visit some ten."""


class WorkCounter:
    """Counts the entries of the states that are visited."""

    def __init__(self, blocks: int) -> None:
        """Begin with the budget of a function of so many basic blocks."""
        self._left = ENTRIES + _PER_BLOCK * blocks

    def spend(self, points: int, calls: int) -> None:
        """Take the visit of a state with so many points on its stack, in a call string of so many calls, from the budget."""
        # Of each pair of points the state says in a bit which may be above the other; 16 take about as long as an entry. Each point has a
        # call string; what is read off the states in the end takes several times as long as a visit. States of hundreds of points are
        # renamed, each pair past the points that it lacks.
        self._left -= 1 + points + points * points // 16 + points**3 // 4096 + calls + 4 * points * calls

    def spent(self) -> bool:
        """Say whether more was visited than the budget."""
        return self._left < 0


def too_large(address: int, keys: Collection[Key], points: int) -> Gap:
    """Return the gap for what has grown: nodes (`keys`), and the points that a state holds at most."""
    blocks, strings = len({index for _, index in keys}), len({context for context, _ in keys})
    remedy = "; pass --call-depth N" if strings > 1 else ""
    grown = f"{blocks} blocks in {strings} call strings, states of up to {points} points"
    return Gap(address, TOO_LARGE, f"the exploration was stopped: {grown}{remedy}")
