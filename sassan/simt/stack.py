"""The token stacks of a batch of warps (warp-cfg.md, section 1), one column per run, all operations over many columns at once."""

import numpy as np
import numpy.typing as npt

from sassan.simt.values import Rows, Truth, Words

Ints = npt.NDArray[np.int32]


class TokenStacks:
    """Entries (block, context, tag, mask) of N runs; a mask is never empty, and tag 0 is the untagged side of a divergence."""

    def __init__(self, runs: int, depth: int = 8) -> None:
        """Hold N empty stacks; `depth` is only what is set aside for them at first."""
        self.depth = np.zeros(runs, dtype=np.int32)
        # One plane per field: block, context, tag; masks apart, since they are unsigned.
        self._fields = np.zeros((3, depth, runs), dtype=np.int32)
        self._masks = np.zeros((depth, runs), dtype=np.uint32)

    def push(self, rows: Rows, block: Ints | int, context: Ints, tag: int, mask: Words) -> None:
        """Put one entry on top of every stack in `rows`."""
        level = self.depth[rows]
        if level.size and int(level.max()) >= len(self._masks):
            self._fields = np.concatenate([self._fields, np.zeros_like(self._fields)], axis=1)
            self._masks = np.concatenate([self._masks, np.zeros_like(self._masks)])
        self._fields[0, level, rows] = block
        self._fields[1, level, rows] = context
        self._fields[2, level, rows] = tag
        self._masks[level, rows] = mask
        self.depth[rows] = level + 1

    def pop(self, rows: Rows) -> tuple[Ints, Ints, Ints, Words]:
        """Take the top entry of every stack in `rows`, none of them empty: (block, context, tag, mask)."""
        level = self.depth[rows] - 1
        self.depth[rows] = level
        block, context, tag = self._fields[:, level, rows]
        return block, context, tag, self._masks[level, rows]

    def nearest(self, rows: Rows, tag: int) -> tuple[Ints, Ints]:
        """Return level and block of the nearest entry with the tag, -1 where there is none."""
        high = int(self.depth[rows].max(initial=0))
        if high == 0:
            none = np.full(len(rows), -1, dtype=np.int32)
            return none, none
        levels = np.arange(high, dtype=np.int32)[:, None]
        hit = (levels < self.depth[rows]) & np.equal(self._fields[2, :high, rows].T, tag)
        found = np.where(hit, levels, -1).max(axis=0)
        return found.astype(np.int32), np.where(found >= 0, self._fields[0, found, rows], -1).astype(np.int32)

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
        high = len(keep)
        order = np.argsort(~keep, axis=0, kind="stable")
        self._masks[:high, rows] = np.take_along_axis(self._masks[:high, rows], order, axis=0)
        for plane in self._fields:
            plane[:high, rows] = np.take_along_axis(plane[:high, rows], order, axis=0)
