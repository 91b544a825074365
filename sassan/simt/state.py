"""The state of a batch of warps, and what every part of the machine needs at hand while it runs."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sassan.simt.certain import Certainty
from sassan.simt.code import BARRIERS, MOVES, ExecutableFunction, TransitionKind
from sassan.simt.compiled import CompiledBlocks
from sassan.simt.memory import LocalMemory
from sassan.simt.shared import SharedMemory
from sassan.simt.stack import Ints, TokenStacks
from sassan.simt.trace import Contexts, TransitionCounter
from sassan.simt.values import Truth, Values, Words

NUMBER = {move: index for index, move in enumerate(MOVES)}
STOPPED = -1
LOST = -2
"""The next block of a run that met a fault."""


class RunStatus(IntEnum):
    """How a run stands: CUT is the prefix of a path, FAULT what the semantics do not allow, TRAPPED an end with threads waiting."""

    RUNNING = 0
    ENDED = 1
    CUT = 2
    FAULT = 3
    TRAPPED = 4


class SideOrder(IntEnum):
    """Which side of a divergent branch runs first: until Pascal the taken one; since Volta it is not architected."""

    TAKEN_FIRST = 0
    FALLTHROUGH_FIRST = 1
    RANDOM = 2


@dataclass(slots=True)
class WarpStates:
    """The state of N runs: `block` -1 has stopped; `registers` is (registers, N, 32) in the order of `ExecutableFunction.registers`.

    `barriers` (N, 16) are the masks in the barrier registers, which must say what the tokens on the stack say; `gone` are the threads
    that exited.
    """

    block: Ints
    context: Ints
    active: Words
    time: Words
    status: npt.NDArray[np.int8]
    registers: Words
    stacks: TokenStacks
    barriers: Words
    gone: Words
    local: LocalMemory


@dataclass(frozen=True, slots=True)
class Session:
    """One call of `Machine.run`; `called`: from inside a call from nowhere.

    `barriers` are the numbers of the barrier registers that the tags name, -1 for other tags. `starts` are the blocks behind calls by their
    address, `sites` the calls before them. With `certainty`, it is followed which words are given.
    `separate`: each side of a divergence has uniform registers of its own. `compiled` code executes what it can, if there is any.
    `shared` is the memory of the blocks of the runs, which wait at its barriers; it is that of `certainty`, if there is one.
    """

    code: ExecutableFunction
    values: Values
    order: SideOrder
    slots: dict[int, int]
    warps: WarpStates
    contexts: Contexts
    recorder: TransitionCounter
    barriers: tuple[int, ...]
    starts: dict[int, int]
    sites: dict[int, tuple[int, ...]]
    called: bool = False
    certainty: Certainty | None = None
    separate: bool = False
    compiled: CompiledBlocks | None = None
    shared: SharedMemory | None = None


@dataclass(slots=True)
class Next:
    """Where the runs of a group go: arrays over the group.

    `tag` and `origin` are those of the entry that resumes, 0 and -1 where none does. After a divergence, `origin` is the block that a side
    which has yet to take the branch goes to, -1 for another side.
    """

    block: Ints
    context: Ints
    active: Words
    move: Ints
    tag: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    origin: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def resumes(self) -> None:
        """Allocate space for what the entries that resume say."""
        if not self.tag.size:
            self.tag, self.origin = np.zeros(len(self.block), dtype=np.int32), np.full(len(self.block), -1, dtype=np.int32)

    def put(self, where: Truth, part: "Next") -> None:
        """Take over where a part of the group goes."""
        self.block[where], self.context[where], self.active[where], self.move[where] = part.block, part.context, part.active, part.move
        if part.tag.size:
            self.resumes()
            self.tag[where], self.origin[where] = part.tag, part.origin


def begin(code: ExecutableFunction, values: Values, active: Words) -> WarpStates:
    """Return N warps at the entry with these masks."""
    count = len(active)
    return WarpStates(
        block=np.full(count, code.entry, dtype=np.int32),
        context=np.zeros(count, dtype=np.int32),
        active=active.copy(),
        time=np.zeros(count, dtype=np.uint32),
        status=np.zeros(count, dtype=np.int8),
        registers=values.initial(code.registers),
        stacks=TokenStacks(count),
        barriers=np.zeros((count, BARRIERS), dtype=np.uint32),
        gone=np.zeros(count, dtype=np.uint32),
        local=LocalMemory(count),
    )


def unite(block: Ints | int, context: Ints, active: Words, move: TransitionKind) -> Next:
    """Return the group going on together, each to its block."""
    count = len(active)
    return Next(np.full(count, block, dtype=np.int32), context, active, np.full(count, NUMBER[move], dtype=np.int32))


def lanes(mask: Words) -> Truth:
    """Return masks (G) as truth values (G, 32)."""
    octets = np.ascontiguousarray(mask, dtype=np.uint32).view(np.uint8).reshape(-1, 4)
    return np.unpackbits(octets, axis=1, bitorder="little").view(np.bool_)


def pack(truth: Truth) -> Words:
    """Return truth values (G, 32) as masks (G)."""
    return np.packbits(truth, axis=1, bitorder="little").view(np.uint32)[:, 0]


def choose(where: Truth, chosen: Ints | int, other: Ints | int) -> Ints:
    """Return numbers picked by a condition."""
    return np.where(where, chosen, other).astype(np.int32)
