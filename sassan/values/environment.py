"""What a warp reads of its launch: special registers and constant bank 0."""

from functools import lru_cache
from math import gcd, prod

from sassan.domains.lanes import LANES, LAST, SIZE, UNKNOWN, LaneWord, const, from_words, word
from sassan.ir import Function
from sassan.machine.launch import GRID_LIMITS, Launch, Shape
from sassan.machine.parameters import layout, places
from sassan.values.words import Held

_AXES = "XYZ"
_WARPS = 8
"""Blocks of so many warps get a table of all of them, where rows of threads begin within warps."""
_POINTER = 8
_CLUSTER = 16
"""Blocks of a cluster, at most."""
_MASKS = {
    "EQ": tuple(1 << lane for lane in range(LANES)),
    "LT": tuple((1 << lane) - 1 for lane in range(LANES)),
    "LE": tuple((2 << lane) - 1 for lane in range(LANES)),
}


class Environment:
    """Special registers and constant words of a function for a launch, as far as it is given."""

    def __init__(self, function: Function, launch: Launch) -> None:
        """Lay out what is given."""
        warps = 1 if launch.block is None else period(launch.block)
        self.lanes = LANES * warps
        """For how many lanes tables are."""
        self._special: dict[str, Held] = {"SRZ": Held(const(0), 0), "SR_LANEID": Held(from_words(tuple(range(LANES)) * warps), 0)}
        self._special["SR_CGACTAID"] = Held(LaneWord(high=_CLUSTER - 1), 0)
        for name, mask in _MASKS.items():
            self._special[f"SR_{name}MASK"] = Held(from_words(mask * warps), 0)
        for axis, name in enumerate(_AXES):
            if launch.block is not None:
                self._special[f"SR_TID.{name}"] = thread_index(launch.block, axis)
                self._special[f"SR_NTID.{name}"] = Held(const(launch.block[axis]), 0)
            extent = GRID_LIMITS[axis] if launch.grid is None else launch.grid[axis]
            self._special[f"SR_CTAID.{name}"] = Held(const(0) if extent == 1 else LaneWord(high=extent - 1), 0)
            if launch.grid is not None:
                self._special[f"SR_NCTAID.{name}"] = Held(const(extent), 0)
        self._bytes: dict[int, int] = {}
        self._pointers: dict[int, str] = {place.offset: place.called for place in places(function) if place.size == _POINTER}
        self._lay_out(function, launch)

    def _lay_out(self, function: Function, launch: Launch) -> None:
        where, facts = layout(function.arch), function.compiler
        if where is not None and (facts is None or facts.parameter_base in {None, where.parameters}):
            for start, extents in ((where.block, launch.block), (where.grid, launch.grid)):
                for axis, extent in enumerate(extents or ()):
                    self._put(start + 4 * axis, extent, 4)
        for setting, place in launch.placed(function):
            if place.offset >= 0:
                self._put(place.offset, setting.value, place.size)

    def _put(self, offset: int, value: int, size: int) -> None:
        for index in range(size):
            self._bytes[offset + index] = value >> 8 * index & 255

    def special(self, name: str) -> Held | None:
        """Return a special register, None where the launch does not say what it holds."""
        return self._special.get(name)

    def constant(self, offset: int, size: int = 4, *, signed: bool = False) -> Held:
        """Return the word that a read of `size` bytes at an offset of constant bank 0 gives: the same for all lanes."""
        given = [self._bytes.get(offset + index) for index in range(size)]
        known = [byte for byte in given if byte is not None]
        if len(known) == size:
            value = sum(byte << 8 * index for index, byte in enumerate(known))
            return Held(const(value - (1 << 8 * size) if signed and value >> 8 * size - 1 else value), 0)
        if size == 4 and offset in self._pointers:  # noqa: PLR2004  # bytes of a word
            return Held(LaneWord(0, SIZE, None, base=self._pointers[offset]), 0)
        narrow = size < 4 and not signed  # noqa: PLR2004  # the same
        return Held(LaneWord(high=(1 << 8 * size) - 1) if narrow else UNKNOWN, 0)


def thread_index(block: Shape, axis: int) -> Held:
    """Return the thread's index along an axis of its block, whose threads fill warps in the order x, y, z."""
    rows, length = _indices(block, axis), period(block) * LANES
    table = [number for row in rows for number in row]
    modulus = gcd(*[row[0] - table[index * LANES % length] for index, row in enumerate(rows)])
    return Held(word(0, modulus, tuple([number & LAST for number in table[:length]]), (0, block[axis] - 1)), 0)


@lru_cache(maxsize=64)
def period(block: Shape) -> int:
    """Return after how many warps thread indices repeat, up to what all lanes of a warp share.

    Those of small blocks whose rows begin within warps do not: what each warp does there, a table of all says best.
    """
    indices = [_indices(block, axis) for axis in range(len(_AXES))]
    warps, threads = len(indices[0]), block[0] * block[1] * block[2]

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
