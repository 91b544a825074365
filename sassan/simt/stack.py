"""The token stacks of a batch of warps (docs/concepts/warp-machine.md), one column per run, all operations over many columns at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sassan.simt.values import Rows, Truth, Words

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Suspended:
    """One entry for each of G stacks: arrays over them, or one number for all."""

    block: Ints | int
    context: Ints
    tag: int
    mask: Words
    origin: Ints | int = -1


class TokenStacks:
    """Entries (block, context, tag, origin, mask) of N runs; a mask is never empty, and tag 0 is the untagged side of a divergence.

    `origin` is the block whose branch a side still has to take, -1 for every other entry.
    """

    def __init__(self, runs: int, depth: int = 8) -> None:
        """Hold N empty stacks; `depth` is only what is set aside for them at first."""
        self.depth = np.zeros(runs, dtype=np.int32)
        # One plane per field: block, context, tag, origin; masks apart, since they are unsigned.
        self._fields = np.zeros((4, depth, runs), dtype=np.int32)
        self._masks = np.zeros((depth, runs), dtype=np.uint32)

    def push(self, rows: Rows, entry: Suspended) -> None:
        """Put one entry on top of every stack in `rows`."""
        level = self.depth[rows]
        if level.size and int(level.max()) >= len(self._masks):
            self._fields = np.concatenate([self._fields, np.zeros_like(self._fields)], axis=1)
            self._masks = np.concatenate([self._masks, np.zeros_like(self._masks)])
        for plane, words in enumerate((entry.block, entry.context, entry.tag, entry.origin)):
            self._fields[plane, level, rows] = words
        self._masks[level, rows] = entry.mask
        self.depth[rows] = level + 1

    def pop(self, rows: Rows) -> tuple[Ints, Ints, Ints, Ints, Words]:
        """Take the top entry of every stack in `rows`, none of them empty: (block, context, tag, origin, mask)."""
        level = self.depth[rows] - 1
        self.depth[rows] = level
        block, context, tag, origin = self._fields[:, level, rows]
        return block, context, tag, origin, self._masks[level, rows]

    def nearest(self, rows: Rows, tag: int) -> tuple[Ints, Ints]:
        """Return level and block of the nearest entry with the tag, -1 where there is none."""
        high = int(self.depth[rows].max(initial=0))
        if high == 0:
            none = np.full(len(rows), -1, dtype=np.int32)
            return none, none
        levels = np.arange(high, dtype=np.int32)[:, None]
        hit = (levels < self.depth[rows]) & np.equal(self._fields[2, :high, rows].T, tag)
        level = np.where(hit, levels, -1).max(axis=0)
        return level.astype(np.int32), np.where(level >= 0, self._fields[0, level, rows], -1).astype(np.int32)

    def entries(self, rows: Rows) -> tuple[Ints, Ints, Ints]:
        """Return (blocks, contexts, tags), each (depth, rows); the tag is -1 above the top of a stack."""
        high = int(self.depth[rows].max(initial=0))
        there = np.arange(high, dtype=np.int32)[:, None] < self.depth[rows]
        fields = self._fields[:, :high, rows]
        return fields[0], fields[1], np.where(there, fields[2], -1).astype(np.int32)

    def at(self, rows: Rows, level: Ints) -> tuple[Ints, Ints, Words]:
        """Return (block, context, mask) of the entries at these levels, none of them negative."""
        return self._fields[0, level, rows], self._fields[1, level, rows], self._masks[level, rows]

    def widen(self, rows: Rows, level: Ints, mask: Words) -> None:
        """Add the threads of `mask` to the entries at these levels."""
        self._masks[level, rows] |= mask

    def thin(self, rows: Rows, level: Ints, mask: Words) -> None:
        """Take the threads of `mask` out of the entries at these levels, and drop those that become empty."""
        self._masks[level, rows] &= ~mask
        empty = self._masks[level, rows] == 0
        if empty.any():
            self._drop_empty(rows[empty])

    def _drop_empty(self, rows: Rows) -> None:
        high = int(self.depth[rows].max(initial=0))
        keep = (np.arange(high, dtype=np.int32)[:, None] < self.depth[rows]) & (self._masks[:high, rows] != 0)
        self._compact(rows, keep)
        self.depth[rows] = keep.sum(axis=0, dtype=np.int32)

    def insert(self, rows: Rows, level: Ints, entry: Suspended) -> None:
        """Put one entry at these levels, beneath what stands there."""
        self.push(rows, entry)
        high = int(self.depth[rows].max(initial=0))
        levels = np.arange(high, dtype=np.int32)[:, None]
        top = self.depth[rows] - 1
        # The new entry sinks from the top to its level; those above it move up by one.
        order = np.where(levels == level, top, np.where((levels > level) & (levels <= top), levels - 1, levels))
        self._reorder(rows, order)

    def raise_to_top(self, rows: Rows, level: Ints) -> None:
        """Move the entries at these levels to the top."""
        high = int(self.depth[rows].max(initial=0))
        levels = np.arange(high, dtype=np.int32)[:, None]
        top = self.depth[rows] - 1
        self._reorder(rows, np.where(levels == top, level, np.where((levels >= level) & (levels < top), levels + 1, levels)))

    def rename(self, rows: Rows, level: Ints, tag: int) -> None:
        """Give all entries above these levels another tag."""
        high = int(self.depth[rows].max(initial=0))
        above = np.arange(high, dtype=np.int32)[:, None] > level
        self._fields[2, :high, rows] = np.where(above, tag, self._fields[2, :high, rows].T).T

    def remove(self, rows: Rows, above: Ints, mask: Words) -> None:
        """Take the threads of `mask` out of every entry above level `above` (-1: of all), and drop entries that become empty."""
        depth = self.depth[rows]
        high = int(depth.max(initial=0))
        levels = np.arange(high, dtype=np.int32)[:, None]
        valid: Truth = levels < depth
        masks = self._masks[:high, rows]
        masks = np.where(valid & (levels > above), masks & ~mask, masks)
        keep = valid & (masks != 0)
        self._masks[:high, rows] = masks
        left = keep.sum(axis=0, dtype=np.int32)
        short = np.flatnonzero(left != depth)
        if short.size:
            self._compact(rows[short], keep[:, short])
            self.depth[rows] = left

    def _compact(self, rows: Rows, keep: Truth) -> None:
        self._reorder(rows, np.argsort(~keep, axis=0, kind="stable"))

    def _reorder(self, rows: Rows, order: npt.NDArray[np.intp]) -> None:
        high = len(order)
        self._masks[:high, rows] = np.take_along_axis(self._masks[:high, rows], order, axis=0)
        for plane in self._fields:
            plane[:high, rows] = np.take_along_axis(plane[:high, rows], order, axis=0)
