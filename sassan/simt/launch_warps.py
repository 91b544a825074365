"""Warps of a launch for the concrete machine: their special registers, constant bank 0, and the threads that each has."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.arch import described
from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.simt.constant_bank import constant_bank
from sassan.simt.integer_work import WarpInputs
from sassan.simt.values import LANES, Words, key

_AXES = "XYZ"
_CLUSTER = 16
"""Blocks of a cluster, at most."""


class Spot(NamedTuple):
    """A warp of a grid: its block, and its number there."""

    block: Shape
    warp: int


def _ranks(spots: Sequence[Spot], cluster: Shape | None, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return which block of its cluster the block of each warp is, drawn where that is not known."""
    if cluster is None:
        return random.integers(0, _CLUSTER, len(spots))
    width, height, depth = cluster
    return np.array([x % width + width * (y % height + height * (z % depth)) for (x, y, z), _ in spots], dtype=np.int64)


def warps_at(
    function: Function, launch: LaunchConfiguration, spots: Sequence[Spot], random: np.random.Generator
) -> tuple[WarpInputs, Words]:
    """Return warps of a launch whose block and grid are given, and the threads of each; what is not given is drawn once for all.

    Each warp finds contents of memory of its own.
    """
    assert launch.block is not None
    assert launch.grid is not None
    block, grid, count = launch.block, launch.grid, len(spots)
    constants = constant_bank(function, launch)
    secret = int(random.integers(0, 1 << 32))

    def bank(offset: int) -> Words:
        # What is not given is the same in every thread and every warp of this launch.
        return np.full(count, constants.filled(offset, secret ^ key(f"c[{offset}]")), dtype=np.uint32)

    wide = np.ones((count, LANES), dtype=np.int64)
    lane = np.arange(LANES) * wide
    threads = np.array([spot.warp for spot in spots])[:, None] * LANES + lane
    inside = threads < prod(block)
    threads = np.minimum(threads, prod(block) - 1)
    special = {"SR_LANEID": lane, "SRZ": 0 * wide, "SR_EQMASK": 1 << lane, "SR_LTMASK": (1 << lane) - 1, "SR_LEMASK": (2 << lane) - 1}
    coordinates = (threads % block[0], threads // block[0] % block[1], threads // (block[0] * block[1]))
    places = np.array([spot.block for spot in spots])
    for axis, name in enumerate(_AXES):
        special |= {f"SR_TID.{name}": coordinates[axis], f"SR_CTAID.{name}": places[:, axis : axis + 1] * wide}
        special |= {f"SR_NTID.{name}": block[axis] * wide, f"SR_NCTAID.{name}": grid[axis] * wide}
    salt = random.integers(0, 1 << 32, count, dtype=np.uint32)
    special["SR_CGACTAID"] = _ranks(spots, launch.cluster_of(function), random)[:, None] * wide
    special["SR_CGASIZE"] = 0 * wide  # which of several tables about clusters is read: constant bank 0 has one
    words = {name: lane_words.astype(np.uint32) for name, lane_words in special.items()}
    active = np.packbits(inside, axis=1, bitorder="little").view(np.uint32)[:, 0]
    literals = function.compiler.literals if function.compiler is not None else b""
    return WarpInputs(salt, words, bank, described(function.arch).short_immediates, launch.contents, literals), active
