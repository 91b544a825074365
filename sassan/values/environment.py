"""What a thread reads beside registers and memory, as far as the launch gives it: special registers and constant bank 0.

A word is described once, for every analysis: by its lanes, its bounds and what would have to be given so that it is known.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple

from sassan.domains import floats
from sassan.domains.lanes import LANES, SIZE, UNKNOWN, LaneWord, const, from_words
from sassan.ir import Function, Language
from sassan.machine.launch import BLOCK_LIMITS, GRID_LIMITS, LaunchConfiguration, Shape
from sassan.machine.parameters import BankLayout, bank_layout, layout, name_at, places
from sassan.values.threads import AXES, WarpContext, thread_index, threads_of_warps

BLOCK, GRID = "--block-dim", "--grid"
PARAMETER = "parameter "
WORD_BYTES = 4
PARAMETER_WINDOW = 1 << 56 | 1 << 6
"""The address of the first parameter, where tensor maps are among them: a name at which no memory lies, a multiple of 64 as maps are."""
_POINTER = 8
_CLUSTER = 16
"""Blocks of a cluster, at most."""
_CLUSTER_TABLE = "SR_CGASIZE"
"""Which of several tables about clusters stands for a launch, where machine code asks; they are read as one, at 0."""
_BANK = 1 << 16
"""Bytes of a constant bank: more than all parameters of a kernel."""
_MASKS = {
    "EQ": tuple(1 << lane for lane in range(LANES)),
    "LT": tuple((1 << lane) - 1 for lane in range(LANES)),
    "LE": tuple((2 << lane) - 1 for lane in range(LANES)),
}


class LaunchWord(NamedTuple):
    """A word of the launch: what is known of it in each lane of a warp. Words of one `name` are one word, wherever they are read.

    `origin` is what would have to be given so that it is known, '' where nothing can be. Not `shared`: threads of a warp may read
    different words, and which ones is not known.
    """

    name: str
    value: LaneWord
    origin: str = ""
    shared: bool = True


class LaunchEnvironment:
    """Special registers and constant bank 0 of a function for a launch, as far as it is given, in any warp of a block or in one.

    Tables are for `lanes`; `threads` are how many each warp of a table has, `present` the lanes that have a thread, as a set of bits.
    """

    def __init__(self, function: Function, launch: LaunchConfiguration, warp: WarpContext | None = None) -> None:
        """Lay out what is given; raises UsageError (`LaunchConfiguration.placed`), ValueError for a warp of a block of another shape."""
        if warp is not None and warp.block != launch.block:
            raise ValueError(f"a warp of a block of {warp.block}, and a launch of {launch.block}")
        self.function = function
        self.threads = (warp.threads,) if warp else threads_of_warps(launch.block) if launch.block is not None else (LANES,)
        self.lanes = LANES * len(self.threads)
        self.present = (1 << (warp.threads if warp else self.lanes)) - 1
        self._named = launch.named
        cluster = launch.cluster_of(function)
        self._special = _registers(launch.block, launch.grid, warp, len(self.threads), cluster)
        self._extents: dict[int, LaunchWord] = {}
        self._bytes: dict[int, int] = {}
        self._pointers: dict[int, str] = {place.offset: place.called for place in places(function) if place.size == _POINTER}
        frame = next((frame for frame in function.frames if frame.name == function.name), None)
        self._starts = {each.name: (index + 1) * _BANK for index, each in enumerate(frame.parameters if frame is not None else ())}
        """Of PTX, which has no constant bank: the place of each parameter, numbered as in a bank of its own, by name."""
        self._lay_out(launch, cluster)

    def _lay_out(self, launch: LaunchConfiguration, cluster: Shape | None) -> None:
        where = bank_layout(self.function)
        if where is not None:
            for start, shape, name in ((where.block, launch.block, "NTID"), (where.grid, launch.grid, "NCTAID")):
                for axis, axis_name in enumerate(AXES):
                    self._extents[start + WORD_BYTES * axis] = self._special[f"SR_{name}.{axis_name}"]
                    if shape is not None:
                        self._put(start + WORD_BYTES * axis, shape[axis], WORD_BYTES)
            for offset, value in _of_clusters(where, launch.grid, cluster) if cluster is not None else ():
                self._put(offset, value, WORD_BYTES)
        if where is not None and where.address is not None and launch.maps:
            self._put(where.address, PARAMETER_WINDOW, _POINTER)
        starts = {place.name: (index + 1) * _BANK for index, place in enumerate(places(self.function))}
        for setting, place in launch.placed(self.function):
            start_of_place = place.offset if place.offset >= 0 else starts.get(place.name)
            if start_of_place is not None:
                self._put(start_of_place, setting.value, place.size)

    def _put(self, offset: int, value: int, size: int) -> None:
        for index in range(size):
            self._bytes[offset + index] = value >> 8 * index & 255

    def special(self, name: str) -> LaunchWord | None:
        """Return a special register by its name in machine code or PTX; None: nothing is known, and each read may give another word."""
        return self._special.get(name)

    def constant(self, offset: int, size: int = WORD_BYTES, *, signed: bool = False) -> LaunchWord:
        """Return the word that a read of `size` bytes at an offset of constant bank 0 gives: the same for all threads."""
        name = f"c[0x0][{offset:#x}]"
        given = [self._bytes.get(offset + index) for index in range(size)]
        known = [byte for byte in given if byte is not None]
        if len(known) == size:
            value = sum(byte << 8 * index for index, byte in enumerate(known))
            return LaunchWord(name, const(value - (1 << 8 * size) if signed and value >> 8 * size - 1 else value))
        if size < WORD_BYTES:
            return LaunchWord(name, UNKNOWN if signed else LaneWord(high=(1 << 8 * size) - 1))
        if offset in self._pointers:
            return LaunchWord(name, LaneWord(0, SIZE, None, base=self._pointers[offset]))
        return self._extents.get(offset) or LaunchWord(name, UNKNOWN)

    def parameter(self, name: str, offset: int) -> int | None:
        """Return where `constant` reads an offset of a parameter of PTX; None where the kernel has no such parameter."""
        start = self._starts.get(name)
        return None if start is None else start + offset

    def origin(self, offset: int) -> str:
        """Return what would have to be given so that the bytes at an offset of constant bank 0 are known."""
        if self.function.language is Language.PTX:
            return f"{PARAMETER}{places(self.function)[offset // _BANK - 1].called}"
        where = layout(self.function.arch)
        if where is None or offset < where.parameters:
            return f"constant c[0x0][0x{offset:x}]"
        return f"{PARAMETER}{name_at(self.function, offset, self._named)}"


@lru_cache(maxsize=64)
def _registers(
    block: Shape | None, grid: Shape | None, warp: WarpContext | None, warps: int, cluster: Shape | None
) -> Mapping[str, LaunchWord]:
    """Return the special registers of which something is known, by their names in machine code and in PTX."""
    lane = LaunchWord("SR_LANEID", from_words(tuple(range(LANES)) * warps))
    of_cluster = _CLUSTER if cluster is None else prod(cluster)
    rank = LaunchWord("SR_CGACTAID", _below(of_cluster), "special register SR_CGACTAID" if cluster is None else "")
    out = {"SRZ": LaunchWord("SRZ", const(0)), "SR_LANEID": lane, "%laneid": lane, "SR_CGACTAID": rank}
    if cluster is not None:
        out[_CLUSTER_TABLE] = LaunchWord(_CLUSTER_TABLE, const(0))
    for name, mask in _MASKS.items():
        register = f"SR_{name}MASK"
        out[register] = LaunchWord(register, from_words(mask * warps), f"special register {register}")
    for each in (*_of_threads(block, warp), *_of_blocks(grid)):
        out[f"SR_{each.name}"] = out[f"%{each.name.lower()}"] = each
    return out


def _of_threads(block: Shape | None, warp: WarpContext | None) -> Iterator[LaunchWord]:
    """Yield the indices of threads and the extents of their block."""
    for axis, name in enumerate(AXES):
        if block is None:
            yield LaunchWord(f"TID.{name}", _below(BLOCK_LIMITS[axis]), BLOCK, shared=False)
        else:
            yield LaunchWord(f"TID.{name}", thread_index(block, axis) if warp is None else warp.thread_index(axis))
        yield _extent(f"NTID.{name}", block, BLOCK_LIMITS, axis, BLOCK)


def _of_blocks(grid: Shape | None) -> Iterator[LaunchWord]:
    """Yield the indices of blocks and the extents of their grid."""
    for axis, name in enumerate(AXES):
        yield LaunchWord(f"CTAID.{name}", _below((grid or GRID_LIMITS)[axis]), "" if grid is not None else GRID)
        yield _extent(f"NCTAID.{name}", grid, GRID_LIMITS, axis, GRID)


def _of_clusters(where: BankLayout, grid: Shape | None, cluster: Shape) -> Iterator[tuple[int, int]]:
    """Yield the words of constant bank 0 about the clusters of a launch, each with its offset.

    The index of a block times a reciprocal, cut, is that of its cluster (`%clusterid`): that settles the word for powers of two alone.
    """
    if where.cluster is None or where.cluster_blocks is None:
        return
    yield where.cluster_blocks, prod(cluster)
    for axis, extent in enumerate(cluster):
        place = where.cluster + WORD_BYTES * axis
        yield place, extent
        if extent.bit_count() == 1:
            yield place + WORD_BYTES * len(AXES), floats.word_of(1 / extent)
        if grid is not None:
            yield place + 2 * WORD_BYTES * len(AXES), grid[axis] // extent


def _extent(name: str, shape: Shape | None, limits: Shape, axis: int, option: str) -> LaunchWord:
    if shape is not None:
        return LaunchWord(name, const(shape[axis]))
    return LaunchWord(name, LaneWord(low=1, high=limits[axis]), option)


def _below(extent: int) -> LaneWord:
    return const(0) if extent == 1 else LaneWord(high=extent - 1)
