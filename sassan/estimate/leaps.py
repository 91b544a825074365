"""Long loops in warps that are run: iterations that are alike are leapt over.

What a warp does behind a loop depends on its path through it, not on each iteration. Once every register has moved by the same amount
twice, it is moved on by as many iterations as nothing decides otherwise (`deciding.py`), and the visits are counted as often. Nothing else
says how many: a bound is not a count. What did not move steadily stays as it is: contents of memory are drawn anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.estimate.deciding import NEVER, Counts, Deciding
from sassan.simt.state import Session
from sassan.simt.values import LANES, Rows, Words

_STEADY = 3
"""Iterations since a loop was entered, after which words have moved twice."""
Truth = npt.NDArray[np.bool_]


@dataclass(slots=True)
class _AtHead:
    """What each warp had at its last visit of the head of a loop: registers, how they moved before, visits and entries counted by then."""

    words: Words
    moved: Words
    nodes: Counts
    loops: Counts
    drawn: Counts
    visits: Counts
    """In a row, that were looked at, since the loop was entered."""
    executed: Counts
    """How often each operation had been executed (operations, N)."""


@dataclass(slots=True)
class Leaps:
    """The leaps over iterations of loops; `most` are visits of the head of each loop per entry that anything allows, 0 where nothing says.

    `guessed` (loops, warps): iterations were leapt over that need not be alike.
    """

    most: Sequence[int]
    values: Deciding
    runs: int
    since: Counts = field(init=False)
    """The step of each warp at which it leapt first, `NEVER` where it did not."""
    guessed: Truth = field(init=False)
    _heads: dict[int, _AtHead] = field(default_factory=dict[int, _AtHead])

    def __post_init__(self) -> None:
        """Start without a leap."""
        self.since, self.guessed = np.full(self.runs, NEVER, np.int64), np.zeros((len(self.most), self.runs), np.bool_)

    @property
    def leapt(self) -> Truth:
        """Which warps leapt over iterations."""
        return np.asarray(self.since < NEVER)

    def at_head(  # noqa: PLR0913, PLR0917
        self, session: Session, loop: int, rows: Rows, met: Counts, nodes: Counts, loops: Counts, *, guess: bool
    ) -> Counts:
        """Move the warps in `rows` on, which are at the head of a loop for the `met`-th time since they entered it; return by how much.

        `nodes` and `loops` are visits and entries by warp, which are counted. `guess`: also over iterations that need not be alike.
        """
        warps = session.warps.registers
        at = self._heads.get(loop)
        if at is None:
            at = self._heads[loop] = _nothing(warps.shape, nodes.shape, loops.shape, len(self.values.times))
        at.visits[rows] = np.where(met > 0, at.visits[rows] + 1, 1)
        moved = warps[:, rows] - at.words[:, rows]
        times = self._times(at, loop, rows, met, guess=guess)
        self.since[rows] = np.where(times > 0, np.minimum(self.since[rows], session.warps.time[rows]), self.since[rows])
        steps = np.where(moved == at.moved[:, rows], moved, 0)
        warps[:, rows] += steps * times[:, None].astype(np.uint32)
        nodes[:, rows] += times * (nodes[:, rows] - at.nodes[:, rows])
        loops[:, rows] += times * (loops[:, rows] - at.loops[:, rows])
        at.words[:, rows], at.moved[:, rows] = warps[:, rows], moved
        at.nodes[:, rows], at.loops[:, rows] = nodes[:, rows], loops[:, rows]
        self._note(at, rows)
        return times

    def _times(self, at: _AtHead, loop: int, rows: Rows, met: Counts, *, guess: bool) -> Counts:
        """Return how many iterations to leap over."""
        out = np.zeros(len(rows), np.int64)
        moved_twice = np.flatnonzero(at.visits[rows] > _STEADY)
        if not len(moved_twice):
            return out
        some = rows[moved_twice]
        ahead = self.values.ahead(some, at.executed[:, some], at.drawn[some], guess=guess)
        exact, times = ahead.exact, np.where(ahead.iterations < NEVER, ahead.iterations, 0)
        if self.most[loop]:
            # No more than the facts of the user say, should what is drawn say more.
            left = np.maximum(self.most[loop] - met[moved_twice] - 1, 0)
            exact, times = exact & (times <= left), np.minimum(times, left)
        out[moved_twice] = times = np.where(exact | guess, times, 0)
        self.guessed[loop, some] |= (times > 0) & ~exact
        return out

    def _note(self, at: _AtHead, rows: Rows) -> None:
        """Keep how often operations were executed until now."""
        at.executed[:, rows] = self.values.times[:, rows]
        at.drawn[rows] = self.values.drawn[rows]


def _nothing(words: tuple[int, ...], nodes: tuple[int, ...], loops: tuple[int, ...], operations: int) -> _AtHead:
    runs = words[1]
    zero, count = np.zeros((words[0], runs, LANES), np.uint32), np.zeros(runs, np.int64)
    executed = np.zeros((operations, runs), np.int64)
    return _AtHead(zero, zero.copy(), np.zeros(nodes, np.int64), np.zeros(loops, np.int64), count, count.copy(), executed)
