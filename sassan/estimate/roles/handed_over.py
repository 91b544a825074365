"""Words of shared memory that one warp hands to others again and again: the number of the next tile, beside barriers of some warps.

What a reader finds depends on how far the writer has come, which barriers see to: the n-th word that is read is the n-th that was
written. So the warps are run once more with the words that they have written before.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sassan.simt.shared import SharedMemory
from sassan.simt.values import Rows, Truth, Words

Handed = Mapping[tuple[int, int], tuple[int, tuple[int, ...]]]
"""By block and address of a word: the warp that writes it, and what it writes, in order."""


class HandedOver(SharedMemory):
    """Shared memory of blocks in which readers find what was `handed` in an earlier run, and which notes what is in this one."""

    def __init__(self, blocks: Rows, handed: Handed) -> None:
        """Hold nothing but the words that were handed over before."""
        super().__init__(blocks, set())
        self._block_of, self._handed = blocks, handed
        self._written: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._reading: dict[tuple[int, int], set[int]] = defaultdict(set)
        self._taken: dict[tuple[int, int, int], int] = defaultdict(int)
        self._addresses = np.array(sorted({address for _, address in handed}), np.uint32)

    @property
    def handed(self) -> Handed:
        """Return the words that one warp alone has written in this run, which others have read since the last barrier of the block."""
        out: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        for key, several in self._written.items():
            writers = {row for row, _ in several}
            if len(writers) == 1 and self._reading[key] - writers:
                out[key] = writers.pop(), tuple(word for _, word in several)
        return out

    def knows(self, rows: Rows) -> bool:
        """Say whether any word of the blocks of runs is certain, or whether it is of interest that none is."""
        del rows
        return True

    def load(self, rows: Rows, reading: Truth, address: Words) -> tuple[Words, Truth]:
        """Return what `SharedMemory` does, and of the words that were handed over the next one for each warp."""
        words, known = super().load(rows, reading, address)
        reads = np.broadcast_to(reading, known.shape)
        for at, row in enumerate(rows.tolist()):
            block = int(self._block_of[row])
            places = address[at] if address.shape[0] > 1 else address[0]
            for place in np.unique(np.broadcast_to(places, reads[at].shape)[reads[at]]).tolist():
                self._reading[block, place].add(row)
                writer, handed = self._handed.get((block, place), (row, ()))
                turn = self._taken[block, place, row]
                if writer != row and turn < len(handed):
                    here = reads[at] & (places == place)
                    words[at, here], known[at, here] = handed[turn], True
                    self._taken[block, place, row] += 1
        return words, known

    def store(self, rows: Rows, writing: Truth, address: Words, word: Words, sure: Truth) -> None:
        """Store words, and note those of single threads."""
        super().store(rows, writing, address, word, sure)
        for at, row in enumerate(rows.tolist()):
            lanes = np.flatnonzero(writing[at])
            places = address[at] if address.shape[0] > 1 else address[0]
            if len(lanes) == 1:
                place = int(np.broadcast_to(places, writing[at].shape)[lanes[0]])
                self._written[int(self._block_of[row]), place].append((row, int(np.broadcast_to(word, writing.shape)[at, lanes[0]])))

    def _pass(self, block: int) -> None:
        """Begin another interval: what was written before stands there."""
        super()._pass(block)
        for notes in (self._written, self._reading):
            for key in [key for key in notes if key[0] == block]:
                del notes[key]
