"""The machine without a stack: any group of threads that can run may run next, block by block (docs/concepts/warp-machine.md).

Since Volta the order of divergent sides is not architected, and sides may take turns. Here every thread has a place of its own, the
threads of a group execute together, and barriers decide when groups merge. It tests the assumption that turns change nothing that a
bound rests on. A barrier register names a barrier, and each thread has registers of its own: that no two sides use one register at once
is an assumption too.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sassan.simt.code import ExecutableFunction
from sassan.simt.data import compute
from sassan.simt.machine import DEFAULT_LIMITS, BlockObserver, Limits, new_session
from sassan.simt.stack import Ints
from sassan.simt.state import STOPPED, RunStatus, Session, SideOrder, lanes, pack
from sassan.simt.values import Moment, Rows, Truth, Values, Words
from simt.free_moves import Group, move, push
from simt.free_state import Threads

_STICKY = np.array([0, 0, 128, 230, 250], dtype=np.uint32)
"""Out of 256, how likely a run lets the same group go on: one of these, drawn per run."""


@dataclass(frozen=True, slots=True)
class FreeOutcome:
    """Of N runs: `visits` (N, blocks) says how often groups executed each block, `status` (N) how each run stands.

    `faults` are (address, runs, what went wrong). `stuck` runs ended with every thread waiting; they count as cut.
    """

    visits: Ints
    status: npt.NDArray[np.int8]
    faults: tuple[tuple[int, int, str], ...]
    stuck: int


class FreeMachine:
    """Executes `code` with `values`, groups in random turns."""

    def __init__(self, code: ExecutableFunction, values: Values, limits: Limits = DEFAULT_LIMITS) -> None:
        """Hold what all runs share."""
        self._code, self._values, self._limits = code, values, limits

    def run(self, active: Words, observer: BlockObserver | None = None, *, called: bool = False) -> FreeOutcome:
        """Return what N runs did that start at the entry with these masks, none of them empty."""
        session = new_session(self._code, self._values, active, SideOrder.RANDOM, called=called)
        threads = Threads(self._code, active)
        visits = np.zeros((len(active), len(self._code.blocks)), dtype=np.int32)
        stuck = 0
        population = np.bincount(session.warps.block, minlength=len(self._code.blocks))
        while population.any():
            number = int(population.argmax())
            rows = np.flatnonzero(session.warps.block == number)
            if observer is not None:
                observer.enter(session, number, rows)
            rows = self._cut(session, rows)
            population[number] = 0
            if rows.size:
                visits[rows, number] += 1
                self._visit(session, threads, number, rows)
                stuck += self._schedule(session, threads, rows)
                after = session.warps.block[rows]
                population += np.bincount(after[after >= 0], minlength=len(population))
        return FreeOutcome(visits, session.warps.status.copy(), session.recorder.faults(), stuck)

    def _cut(self, session: Session, rows: Rows) -> Rows:
        warps, limits = session.warps, self._limits
        over = (warps.time[rows] >= limits.steps) | warps.local.full[rows] | (len(session.contexts) > limits.contexts)
        warps.status[rows[over]] = RunStatus.CUT
        warps.block[rows[over]] = STOPPED
        return rows[~over]

    def _visit(self, session: Session, threads: Threads, number: int, rows: Rows) -> None:
        block = self._code.blocks[number]
        at = Moment(rows, session.warps.time[rows], lanes(session.warps.active[rows]))
        taken = compute(session, number, at)
        bad = push(session, threads, block, at) | move(session, threads, Group(number, block, at, taken))
        session.warps.time[rows] += np.uint32(1)
        session.warps.status[rows[bad]] = RunStatus.FAULT
        threads.place[rows[bad]] = STOPPED

    def _schedule(self, session: Session, threads: Threads, rows: Rows) -> int:
        """Choose the group that runs next, and return how many runs have none that could."""
        warps = session.warps
        ready = threads.runnable(rows)
        alive = (threads.place[rows] != STOPPED).any(axis=1)
        some = ready.any(axis=1)
        ended = ~alive & (warps.status[rows] == RunStatus.RUNNING)
        warps.status[rows[ended]] = RunStatus.ENDED
        warps.status[rows[alive & ~some]] = RunStatus.CUT
        word = session.values.coin(Moment(rows, warps.time[rows], ready)) >> np.uint32(8)
        before = lanes(warps.active[rows])
        last = ready & before & (threads.group[rows] == _of_first(threads.group[rows], before)[:, None])
        mood = _STICKY[session.values.coin(Moment(rows, np.zeros_like(warps.time[rows]), ready)) % len(_STICKY)]
        stays = last.any(axis=1) & ((word & np.uint32(255)) < mood)
        pool = np.where(stays[:, None], last, ready)
        count = np.maximum(pool.sum(axis=1), 1)
        rank = (word >> np.uint32(8)) % count.astype(np.uint32)
        leader = (pool & (pool.cumsum(axis=1) == rank[:, None] + 1)).argmax(axis=1)
        chosen = ready & (threads.group[rows] == threads.group[rows, leader][:, None])
        warps.block[rows] = np.where(some, threads.place[rows, leader], STOPPED)
        warps.context[rows] = threads.context[rows, leader]
        warps.active[rows] = np.where(some, pack(chosen), warps.active[rows])
        return int((alive & ~some).sum())


def _of_first(values: Ints, who: Truth) -> Ints:
    return np.asarray(values[np.arange(len(values)), who.argmax(axis=1)])
