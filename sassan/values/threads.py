"""The warps of a block and the indices of their threads, which fill warps in the order x, y, z.

A table is of one warp, or of several: those after which the indices repeat, up to what all lanes of a warp share.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod

from sassan.domains.lanes import LANES, LAST, LaneWord, from_words, word
from sassan.machine.launch import Shape

AXES = "XYZ"
_WARPS = 8
"""Blocks of so many warps get a table of all of them, where rows of threads begin within warps."""


@dataclass(frozen=True, slots=True)
class WarpContext:
    """One warp of a block, for which values are asked: its thread indices are numbers.

    Raises ValueError where the block has no such warp.
    """

    block: Shape
    index: int

    def __post_init__(self) -> None:
        """Refuse a warp that the block does not have."""
        if not 0 <= self.index * LANES < prod(self.block):
            raise ValueError(f"warp {self.index} of a block of {prod(self.block)} threads")

    @property
    def threads(self) -> int:
        """Return how many threads it has: the first lanes."""
        return min(LANES, prod(self.block) - LANES * self.index)

    def thread_index(self, axis: int) -> LaneWord:
        """Return the index of each of its threads along an axis of the block; lanes without a thread have that of the last one."""
        return from_words(tuple(_indices(self.block, axis)[self.index]))


def warp_contexts(block: Shape) -> tuple[WarpContext, ...]:
    """Return the warps of a block, in order."""
    return tuple(WarpContext(block, index) for index in range(-(-prod(block) // LANES)))


def thread_index(block: Shape, axis: int) -> LaneWord:
    """Return the thread's index along an axis of its block, in any warp."""
    rows, length = _indices(block, axis), period(block) * LANES
    table = [number for row in rows for number in row]
    modulus = gcd(*[row[0] - table[index * LANES % length] for index, row in enumerate(rows)])
    return word(0, modulus, tuple([number & LAST for number in table[:length]]), (0, block[axis] - 1))


@lru_cache(maxsize=64)
def period(block: Shape) -> int:
    """Return after how many warps thread indices repeat, up to what all lanes of a warp share.

    Those of small blocks whose rows begin within warps do not: what each warp does there, a table of all says best.
    """
    indices = [_indices(block, axis) for axis in range(len(AXES))]
    warps, threads = len(indices[0]), prod(block)

    if warps <= _WARPS and block[0] % LANES and LANES % block[0]:
        return warps

    def repeats(count: int) -> bool:
        for rows in indices:
            for warp in range(count, warps):
                first, row = rows[warp % count], rows[warp]
                live = min(LANES, threads - LANES * warp)
                if any(row[lane] - row[0] != first[lane] - first[0] for lane in range(live)):
                    return False
        return True

    return next(count for count in range(1, warps + 1) if repeats(count))


def _indices(block: Shape, axis: int) -> list[list[int]]:
    """Return the index along an axis for each lane of each warp; lanes behind the last thread have its index."""
    stride = (1, block[0], block[0] * block[1])[axis]
    warps, last = -(-prod(block) // LANES), prod(block) - 1
    return [[min(LANES * warp + lane, last) // stride % block[axis] for lane in range(LANES)] for warp in range(warps)]


def threads_of_warps(block: Shape) -> tuple[int, ...]:
    """Return how many threads each warp of a table has."""
    warps, threads = -(-prod(block) // LANES), prod(block)
    return tuple(min(LANES, threads - LANES * warp) if period(block) == warps else LANES for warp in range(period(block)))


def most_threads(lanes: int, warps: int) -> int:
    """Return how many threads of one warp a set of lanes holds at most; it is of a table of some warps."""
    return max((lanes >> LANES * warp & (1 << LANES) - 1).bit_count() for warp in range(warps))
