"""A kernel that is run as a whole on the concrete machine, with the global memory that it reads and changes.

Blocks run in the order of their numbers, many at once, and so do the threads of each between barriers: one order of many. What the kernel
computes is what a GPU computes where that does not depend on the order, but for the last bits of special functions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from sassan.errors import SassanError
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.simt.code import Operation, lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.global_memory import GlobalMemory
from sassan.simt.global_stores import PLAIN_STORES, SHARED, STORES, change
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.loads import LOADS, load
from sassan.simt.machine import Limits, Machine
from sassan.simt.memory import has_unfollowed_stores
from sassan.simt.micro_operations import MicroOperation, Translator
from sassan.simt.shared import SharedMemory, barriers, behind_barriers
from sassan.simt.state import RunStatus, Session, SideOrder
from sassan.simt.values import Moment, Rows, Truth, Words

_BATCH = 1 << 12
"""Warps that run at once."""
_LONGEST = 1 << 22
"""Blocks of code that a warp executes at most."""
_SEED = 2028
_WINDOW = np.uint64(18)
"""Bits of an address in the shared memory of a block: no SM has more than 228 KiB."""
_MOST_SHARED = 1 << 8
"""Blocks that run at once: each has 256 KiB of shared memory here."""
_BARRIERS = frozenset(("BAR", "UCGABAR_WAIT", "SYNCS"))
"""What may wait for other threads of a block."""
_LOCAL = frozenset(("LDL", "STL"))


class NotRunError(SassanError):
    """A kernel cannot be run, or not to its end: the message says at which instruction."""

    def __init__(self, message: str) -> None:
        """Say why."""
        super().__init__("not-run", message)


@dataclass(slots=True)
class RunBudget:
    """How many operations of warps may still be executed."""

    left: int

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Take what the execution of a block costs; raises NotRunError where that is more than is left."""
        self.left -= len(rows) * (1 + len(session.code.blocks[block].operations))
        if self.left < 0:
            raise NotRunError(f"it executes more than the limit allows, at 0x{session.code.blocks[block].address:04x}")


class _Computed(Integers):
    """Words as a kernel computes them: nothing is drawn."""

    def __init__(self, place: WarpInputs, memory: GlobalMemory, blocks: Rows) -> None:
        super().__init__(place, exchanges=True)
        self._memory = memory
        self._windows = blocks.astype(np.uint64) << _WINDOW
        size = 1 << int(_WINDOW)
        self._shared = GlobalMemory([(first, first + size) for first in np.unique(self._windows).tolist()], None)

    def results(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[tuple[Words, ...], Truth | bool]:
        instruction = operation.instruction
        name = instruction.opcode.partition(".")[0]
        work = GroupOperation(instruction, self.place, at.rows, dict(zip(operation.reads, inputs, strict=True)), {}, at.executing)
        if name not in LOADS and name not in STORES and name not in SHARED:
            known: Mapping[int, Longs] = self.computed(operation, inputs, at)
            if not known.keys() >= set(operation.writes):
                raise NotRunError(f"no rule says what {instruction.opcode} at 0x{instruction.address:04x} computes")
        else:
            try:
                window = self._windows[at.rows] if name in SHARED else None
                memory = self._memory if window is None else self._shared
                whole = change(work, memory, window) if name in STORES else load(work, memory, ordered=True, window=window)
            except (UnknownError, KeyError):
                raise NotRunError(f"no rule says what {instruction.opcode} at 0x{instruction.address:04x} does") from None
            if not (whole | ~at.executing).all():
                problem = "stores outside of the buffers" if name in PLAIN_STORES else "reads memory that is not known"
                raise NotRunError(f"{instruction.opcode} at 0x{instruction.address:04x} {problem}")
            known = work.out
        return tuple(known[register].astype(np.uint32) for register in operation.writes), True

    def drawn_row(self, rows: Translator, operation: Operation) -> MicroOperation | None:
        del rows, operation
        return None

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        del selector, inputs, count, at
        raise NotRunError("it jumps through a table")


def run_kernel(
    function: Function,
    facts_of: Callable[[Instruction], Facts | None],
    launch: LaunchConfiguration,
    memory: GlobalMemory,
    budget: RunBudget,
) -> None:
    """Run all warps of a launch, whose block and grid are given, and change the memory as they do.

    Raises NotRunError where something is not known or has no rule, or is more than the budget allows; the memory is then of no use.
    """
    assert launch.block is not None
    assert launch.grid is not None
    try:
        code = lower(function, TableDecoder(facts_of, stack=True, stores=True), [*behind_barriers(function)])
    except SassanError as error:
        raise NotRunError(error.message) from None
    if prod(launch.preferred_cluster or launch.cluster_of(function) or (1, 1, 1)) > 1:
        raise NotRunError("its blocks run in clusters")
    waits = [each for each in function.instructions if each.opcode.partition(".")[0] in _BARRIERS]
    whole = barriers(function.instructions)
    if other := next((each for each in waits if each.address not in whole), None):
        raise NotRunError(f"{other.opcode} at 0x{other.address:04x} waits in a way that is not followed")
    local = any(each.opcode.partition(".")[0] in _LOCAL for each in function.instructions)
    if local and has_unfollowed_stores(code):
        raise NotRunError("it changes its local memory in a way that is not followed")
    warps = -(-prod(launch.block) // WARP_SIZE)
    at_once = max(1, min(_BATCH // warps, _MOST_SHARED))
    width, height, depth = launch.grid
    places = [(x, y, z) for z, y, x in product(range(depth), range(height), range(width))]
    for first in range(0, len(places), at_once):
        spots = [Spot(place, warp) for place in places[first : first + at_once] for warp in range(warps)]
        place, active = warps_at(function, launch, spots, np.random.default_rng(_SEED))
        blocks = np.repeat(np.arange(len(spots) // warps), warps).astype(np.intp)
        waiting = SharedMemory(blocks, set()) if waits else None
        machine = Machine(code, _Computed(place, memory, blocks), SideOrder.TAKEN_FIRST, Limits(steps=_LONGEST))
        outcome = machine.run(active, budget, shared=waiting, counted=False)
        if (outcome.status != RunStatus.ENDED).any():
            raise NotRunError("a warp does not come to its end")
