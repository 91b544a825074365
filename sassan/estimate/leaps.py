"""Long loops in warps that are run: once every register moves by the same amount in each iteration, most iterations are leapt over.

What a warp does behind a loop depends on its path through it, not on each iteration: after some iterations alike, the registers are moved
on by as many as the longest path has left but the last one, and the visits are counted as often. What did not move steadily stays as it is:
contents of memory are drawn anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.simt.state import Session
from sassan.simt.values import LANES, Rows, Words

_STEADY = 3
"""Iterations in a row after which a loop is taken to be as long as that of the longest path."""
_LAST = 1
"""Visits of the head of a loop that are left to the run: that of the last iteration."""
Counts = npt.NDArray[np.int64]


@dataclass(slots=True)
class _AtHead:
    """What each warp had at its last visit of the head of a loop: registers, how they moved before, visits and entries counted by then."""

    words: Words
    moved: Words
    nodes: Counts
    loops: Counts
    known: npt.NDArray[np.int8]
    """0: nothing is, 1: `words`, 2: `moved`, too, and the loop is long."""
    leapt: npt.NDArray[np.bool_]
    """Since the loop was entered."""
    ever: npt.NDArray[np.bool_]
    """At any time."""


@dataclass(slots=True)
class Leaps:
    """The leaps over iterations of loops; `trips` are visits of the head of each loop per entry, 0 where there is nothing to leap over."""

    trips: Sequence[int]
    _heads: dict[int, _AtHead] = field(default_factory=dict[int, _AtHead])

    def leapt(self, runs: int) -> npt.NDArray[np.bool_]:
        """Return which of so many warps leapt."""
        return np.asarray(np.logical_or.reduce([np.zeros(runs, np.bool_), *(at.ever for at in self._heads.values())]), np.bool_)

    def at_head(self, session: Session, loop: int, rows: Rows, met: Counts, nodes: Counts, loops: Counts) -> None:  # noqa: PLR0913, PLR0917
        """Move the warps in `rows` on, which are at the head of a loop for the `met`-th time since they entered it, from 0 on.

        `nodes` and `loops` are visits and entries by warp, which are counted.
        """
        if not self.trips[loop]:
            return
        warps = session.warps.registers
        at = self._heads.setdefault(loop, _nothing(warps.shape, nodes.shape, loops.shape))
        at.leapt[rows[met == 0]] = False
        again = (met > 0) & (at.known[rows] > 0)
        back, left = rows[again], self.trips[loop] - met[again] - 1 - _LAST
        moved = warps[:, back] - at.words[:, back]
        leaps = (at.known[back] > 1) & ~at.leapt[back] & (left > 0)
        going, times = back[leaps], left[leaps]
        steps = np.where(moved == at.moved[:, back], moved, 0)[:, leaps]
        at.moved[:, back] = moved
        at.known[back[met[again] >= _STEADY]] = 2
        warps[:, going] += steps * times[:, None].astype(np.uint32)
        nodes[:, going] += times * (nodes[:, going] - at.nodes[:, going])
        loops[:, going] += times * (loops[:, going] - at.loops[:, going])
        at.leapt[going] = at.ever[going] = True
        at.words[:, rows], at.nodes[:, rows], at.loops[:, rows] = warps[:, rows], nodes[:, rows], loops[:, rows]
        at.known[rows] = np.maximum(at.known[rows], 1)


def _nothing(words: tuple[int, ...], nodes: tuple[int, ...], loops: tuple[int, ...]) -> _AtHead:
    runs = words[1]
    return _AtHead(
        np.zeros((words[0], runs, LANES), np.uint32),
        np.zeros((words[0], runs, LANES), np.uint32),
        np.zeros(nodes, np.int64),
        np.zeros(loops, np.int64),
        np.zeros(runs, np.int8),
        np.zeros(runs, np.bool_),
        np.zeros(runs, np.bool_),
    )
