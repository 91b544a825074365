"""The state of a batch of warps, and what every part of the machine needs at hand while it runs."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sassan.simt.code import MOVES, Code, Move
from sassan.simt.stack import Ints, TokenStacks
from sassan.simt.trace import Contexts, Recorder
from sassan.simt.values import LANES, Rows, Truth, Values, Words

_BITS = np.left_shift(np.uint32(1), np.arange(LANES, dtype=np.uint32))
NUMBER = {move: index for index, move in enumerate(MOVES)}
STOPPED = -1
LOST = -2
"""The next block of a run whose token instruction found no token."""


class Status(IntEnum):
    """How a run stands: CUT is the prefix of a path, FAULT a token instruction without its token, TRAPPED an end with threads waiting."""

    RUNNING = 0
    ENDED = 1
    CUT = 2
    FAULT = 3
    TRAPPED = 4


class Order(IntEnum):
    """Which side of a divergent branch runs first: until Pascal the taken one; since Volta it is not architected."""

    TAKEN_FIRST = 0
    FALLTHROUGH_FIRST = 1
    RANDOM = 2


@dataclass(slots=True)
class Warps:
    """The state of N runs: `block` -1 has stopped; `registers` is (registers, N, 32) in the order of `Code.registers`."""

    block: Ints
    context: Ints
    active: Words
    time: Words
    status: npt.NDArray[np.int8]
    registers: Words
    stacks: TokenStacks


@dataclass(frozen=True, slots=True)
class Session:
    """One call of `Machine.run`."""

    code: Code
    values: Values
    order: Order
    slots: dict[int, int]
    warps: Warps
    contexts: Contexts
    recorder: Recorder


@dataclass(slots=True)
class Next:
    """Where the runs of a group go: arrays over the group; `tag` is that of the entry that resumes, 0 where none does."""

    block: Ints
    context: Ints
    active: Words
    move: Ints
    tag: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


def begin(code: Code, values: Values, active: Words) -> Warps:
    """Return N warps at the entry with these masks."""
    count = len(active)
    return Warps(
        block=np.full(count, code.entry, dtype=np.int32),
        context=np.zeros(count, dtype=np.int32),
        active=active.copy(),
        time=np.zeros(count, dtype=np.uint32),
        status=np.zeros(count, dtype=np.int8),
        registers=values.initial(code.registers),
        stacks=TokenStacks(count),
    )


def unite(block: int, context: Ints, active: Words, move: Move) -> Next:
    """Return the group going to one block together."""
    count = len(active)
    return Next(np.full(count, block, dtype=np.int32), context, active, np.full(count, NUMBER[move], dtype=np.int32))


def lanes(mask: Words) -> Truth:
    """Return masks (G) as truth values (G, 32)."""
    return np.asarray((mask[:, None] & _BITS) != 0)


def pack(truth: Truth) -> Words:
    """Return truth values (G, 32) as masks (G)."""
    return np.packbits(truth, axis=1, bitorder="little").view(np.uint32)[:, 0]


def choose(where: Truth, one: Ints | int, other: Ints | int) -> Ints:
    """Return numbers picked by a condition."""
    return np.where(where, one, other).astype(np.int32)


__all__ = ["LOST", "NUMBER", "STOPPED", "Next", "Order", "Rows", "Session", "Status", "Warps", "begin", "choose", "lanes", "pack", "unite"]
