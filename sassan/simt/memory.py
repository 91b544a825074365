"""The local memory of every thread of a batch of warps: what spills go through, so that a spilled code address comes back."""

import numpy as np

from sassan.simt.values import LANES, Rows, Truth, Words

SLOTS = 256
"""Words that one thread may have stored; a run that needs more is cut."""


class LocalMemory:
    """Per thread, the words that were stored, found again by their address (any 32-bit number)."""

    def __init__(self, runs: int) -> None:
        """Hold nothing."""
        self.full = np.zeros(runs, dtype=np.bool_)
        self._used = np.zeros((runs, LANES), dtype=np.int32)
        self._address = np.zeros((0, runs, LANES), dtype=np.uint32)
        self._word = np.zeros((0, runs, LANES), dtype=np.uint32)

    def load(self, rows: Rows, address: Words, unknown: Words) -> Words:
        """Return the words (G, 32) at these addresses, and `unknown` where nothing was stored."""
        slot, present = self._find(rows, address)
        if not present.any():
            return unknown
        word = self._word[slot, rows[:, None], np.arange(LANES)]
        return np.where(present, word, unknown)

    def store(self, rows: Rows, executing: Truth, address: Words, word: Words) -> None:
        """Store words (G, 32) for the executing threads."""
        slot, present = self._find(rows, address)
        used = self._used[rows]
        slot = np.where(present, slot, used)
        over = executing & (slot >= SLOTS)
        self.full[rows] |= over.any(axis=1)
        group, lane = np.nonzero(executing & ~over)
        if not group.size:
            return
        places = slot[group, lane]
        self._grow(int(places.max()) + 1)
        self._address[places, rows[group], lane] = np.broadcast_to(address, used.shape)[group, lane]
        self._word[places, rows[group], lane] = np.broadcast_to(word, used.shape)[group, lane]
        self._used[rows[group], lane] = np.maximum(used[group, lane], places + 1)

    def _find(self, rows: Rows, address: Words) -> tuple[Rows, Truth]:
        used = self._used[rows]
        high = int(used.max(initial=0))
        hit = (self._address[:high, rows] == address) & (np.arange(high)[:, None, None] < used)
        if high == 0:
            return np.zeros(used.shape, dtype=np.intp), np.zeros(used.shape, dtype=np.bool_)
        return hit.argmax(axis=0), hit.any(axis=0)

    def _grow(self, slots: int) -> None:
        while len(self._address) < slots:
            more = np.zeros((max(4, len(self._address)), *self._used.shape), dtype=np.uint32)
            self._address = np.concatenate([self._address, more])
            self._word = np.concatenate([self._word, more])
