"""Where the threads of a batch of warps are when their groups take turns (`free.py`)."""

import numpy as np

from sassan.simt.code import BARRIERS, ExecutableFunction
from sassan.simt.stack import Ints
from sassan.simt.state import STOPPED, lanes
from sassan.simt.values import LANES, Rows, Truth, Words

NOBODY = -1
OWN = np.left_shift(np.uint32(1), np.arange(LANES, dtype=np.uint32))
"""Per lane, the mask of the lane alone."""


class Threads:
    """Where every thread of N runs is: arrays (N, 32) of its next block, its context, its group and what it waits for."""

    def __init__(self, code: ExecutableFunction, active: Words) -> None:
        """Start all active threads as one group at the entry."""
        there = lanes(active)
        self.place = np.where(there, code.entry, STOPPED).astype(np.int32)
        self.context = np.zeros(there.shape, dtype=np.int32)
        self.group = np.zeros(there.shape, dtype=np.int32)
        self.waits = np.full(there.shape, NOBODY, dtype=np.int32)
        self.syncs = np.zeros(there.shape, dtype=np.bool_)
        self.barriers = np.full((len(active), BARRIERS, LANES), NOBODY, dtype=np.int32)
        self.masks = np.zeros((len(active), 8), dtype=np.uint32)
        self.named = np.zeros(len(active), dtype=np.int32)
        self.groups = np.ones(len(active), dtype=np.int32)

    def runnable(self, rows: Rows) -> Truth:
        """Return which threads could execute."""
        return np.asarray((self.place[rows] != STOPPED) & (self.waits[rows] == NOBODY) & ~self.syncs[rows])

    def new_barrier(self, rows: Rows, mask: Words) -> Ints:
        """Return the names of new barriers with these members."""
        name = self.named[rows]
        if name.size and int(name.max()) >= self.masks.shape[1]:
            self.masks = np.concatenate([self.masks, np.zeros_like(self.masks)], axis=1)
        self.masks[rows, name] = mask
        self.named[rows] += 1
        return name

    def new_group(self, rows: Rows, who: Truth) -> None:
        """Let the threads of `who` (G, 32) form a group of their own."""
        some = who.any(axis=1)
        self.group[rows] = np.where(who, self.groups[rows][:, None], self.group[rows])
        self.groups[rows] += some.astype(np.int32)

    def regroup(self, rows: Rows, who: Truth, by: Ints) -> None:
        """Let the threads of `who` (G, 32) form one new group per value of `by` (G, 32)."""
        alike = (by[:, :, None] == by[:, None, :]) & who[:, None, :]
        self.group[rows] = np.where(who, self.groups[rows][:, None] + alike.argmax(axis=2), self.group[rows])
        self.groups[rows] += LANES

    def members(self, rows: Rows, names: Ints) -> Truth:
        """Return which threads are in the barriers that `names` (G, 32) says, each in its own."""
        masks = self.masks[rows[:, None], np.maximum(names, 0)]
        return np.asarray((names != NOBODY) & ((masks & OWN) != 0))

    def drop(self, rows: Rows, names: Ints, who: Truth) -> None:
        """Take the threads of `who` out of the barriers that `names` (G, 32) says, each out of its own."""
        for lane in np.flatnonzero(who.any(axis=0)):
            where = who[:, lane] & (names[:, lane] != NOBODY)
            self.masks[rows[where], names[where, lane]] &= ~OWN[lane]
