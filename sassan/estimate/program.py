"""What the simulation runs: instructions as rows of numbers, the path of a warp, and the SM that it shares with others."""

from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np
import numpy.typing as npt

from sassan.estimate.policy import Policy

TICK = 64
"""Parts of a cycle in which the queues of the memory count."""
BINS = 256
"""Pieces of a timeline, at most; at least half as many, unless a piece is a cycle."""
LAST_WORD = (1 << 32) - 1
GOLDEN, ODD = 0x9E3779B9, 0x85EBCA6B
"""Of `drawn`: 2^32 times the golden section, whose multiples lie evenly (Knuth, The Art of Computer Programming 3, 6.4); any odd number."""
Numbers = npt.NDArray[np.int64]
Figures = npt.NDArray[np.float64]


class RowField(IntEnum):
    """What a row says of an instruction, in cycles; -1 is neither a barrier nor a unit.

    STALL: until the next instruction of the warp. WAITS: barriers that it waits for, as bits. WRITES and READS: the barrier of its result
    and of its operands, WRITTEN and READ: when they are clear. UNIT, INTERVAL: for how long it keeps its unit. PIPELINE, L2, DRAM: for
    how many ticks it keeps the memory pipeline of its SM, and the SM's share of L2 and DRAM. BEYOND: the latency that L2 and DRAM add.
    BLOCKS: it is a block barrier of warps with one path. DRAINS: all earlier ones of the warp have ended. BRANCHES: its stall is that of
    a branch. WHY: the stall of those that wait for its barriers. ASSUMED: its latency is assumed. SHARED: it accesses shared memory.
    QUEUED: an engine takes it into its queue, and the warp goes on. GROUPS: it ends a group of products of a warpgroup; LEFT: it waits
    until one less than so many groups are on their way, 0 for no wait.
    """

    STALL = 0
    WAITS = auto()
    WRITES = auto()
    WRITTEN = auto()
    READS = auto()
    READ = auto()
    UNIT = auto()
    INTERVAL = auto()
    PIPELINE = auto()
    L2 = auto()
    DRAM = auto()
    BEYOND = auto()
    BLOCKS = auto()
    DRAINS = auto()
    BRANCHES = auto()
    WHY = auto()
    ASSUMED = auto()
    SHARED = auto()
    QUEUED = auto()
    GROUPS = auto()
    LEFT = auto()


class Stall(IntEnum):
    """Why a warp does not issue, by the names of Nsight Compute."""

    SELECTED = 0
    WAIT = auto()
    BRANCH_RESOLVING = auto()
    LONG_SCOREBOARD = auto()
    SHORT_SCOREBOARD = auto()
    BARRIER = auto()
    MEMBAR = auto()
    MATH_PIPE_THROTTLE = auto()
    MIO_THROTTLE = auto()
    NOT_SELECTED = auto()


@dataclass(frozen=True, slots=True)
class WarpProgram:
    """`rows` of all instructions (see `RowField`); those of node n are `starts[n]` to `starts[n + 1]`. A warp visits `nodes`.

    Where warps of a block have paths of their own, warp w makes the visits `paths[w, 0]` to `paths[w, 1]`, and `events[paths[w, 2]]` to
    `events[paths[w, 3]]` are what it does at barriers of its block: visit, row, `BarrierAction`, barrier, count (`roles/phases.py`).
    Else there is one row for all warps.

    A visit represents `weights` visits, and takes as many times its time. `shared[u]`: all schedulers share unit u.
    A warp makes a visit if the word that its number and `turns` give is below `below`, 2^32 times the share of the warps that do
    (`drawn`); the first visit is made by all.
    """

    rows: Numbers
    starts: Numbers
    nodes: Numbers
    weights: Figures
    shared: Numbers
    below: Numbers
    turns: Numbers
    paths: Numbers
    events: Numbers
    barriers: int = 0


def drawn(warp: int, turn: int) -> int:
    """Return a word that says which visits a warp makes: words of consecutive warps lie evenly (multiples of the golden section)."""
    return (warp * GOLDEN + turn * ODD) & LAST_WORD


@dataclass(frozen=True, slots=True)
class Sm:
    """`blocks` blocks of `block_warps` warps run one after the other on `places` places of an SM.

    `dispatch`: cycles until a block follows another one; `release`: from the last arrival at a block barrier until the warps go on;
    `backlog`: ticks of work that the memory pipeline queues before it takes no more; `phase`: until a warp sees that a phase is over.
    """

    schedulers: int
    places: int
    block_warps: int
    blocks: int
    dispatch: int
    release: int
    backlog: int
    policy: Policy = Policy.OLDEST
    phase: int = 0


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """What a simulation tells: `cycles`; `dispatched`: when each block began; `stalls` in cycles of warps per row and `Stall`.

    `once`: the cycles that were simulated, each once, whatever its visits stand for. `resident`: cycles of all warps from the start of
    their block to their end; `tail`: cycles of places without a block behind the last dispatch, of all places together; `assumed`: cycles
    of warps that wait for latencies that are assumed, per row. `timeline` (BINS, columns) is the work of pieces of `width` simulated
    cycles: instructions of each scheduler, cycles of each unit, ticks of the memory pipeline, L2 and DRAM, and how many warps begin less
    those that end.
    """

    cycles: float
    once: int
    dispatched: Figures
    stalls: Figures
    resident: float
    tail: float
    assumed: Figures
    timeline: Numbers
    width: int
