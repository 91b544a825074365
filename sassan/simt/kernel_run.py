"""A kernel that is run as a whole on the concrete machine, with the global memory that it reads and changes.

Blocks run in the order of their numbers, many at once, and so do the threads of each between barriers: one order of many. What the kernel
computes is what a GPU computes where that does not depend on the order, but for the last bits of special functions, and of results in
floating point that are not rounded to nearest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

import numpy as np

from sassan.errors import SassanError
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.machine.parameters import layout
from sassan.simt.code import Operation, lower
from sassan.simt.constant_bank import constant_bank
from sassan.simt.decoder import TableDecoder
from sassan.simt.global_memory import GlobalMemory
from sassan.simt.global_stores import PLAIN_STORES, SHARED, STORES, change
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, WarpInputs
from sassan.simt.integers import ZERO_TESTS, Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.loads import LOADS, load
from sassan.simt.machine import Limits, Machine
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
_IDLE = frozenset(("CCTL", "CCTLL", "UBLKPF", "UTMAPF", "UTMACCTL"))
"""What says something to caches alone."""


class NotRunError(SassanError):
    """A kernel cannot be run, or not to its end: the message says at which instruction."""

    def __init__(self, message: str) -> None:
        """Say why."""
        super().__init__("not-run", message)


@dataclass(slots=True)
class RunBudget:
    """How many operations of warps may still be executed."""

    left: int


@dataclass(frozen=True, slots=True)
class _Watch:
    """Takes what the execution of blocks costs; raises NotRunError where that is too much, or where not all threads wait at a barrier."""

    budget: RunBudget
    active: Words
    waits: frozenset[int]

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        code, warps = session.code.blocks[block], session.warps
        self.budget.left -= len(rows) * (1 + len(code.operations))
        if self.budget.left < 0:
            raise NotRunError(f"it executes more than the limit allows, at 0x{code.address:04x}")
        if code.last in self.waits and (warps.active[rows] != self.active[rows] & ~warps.gone[rows]).any():
            raise NotRunError(f"threads of one warp come apart to the barrier at 0x{code.last:04x}")


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
        if name in _IDLE:
            return (), True
        if name in LOADS or name in STORES or name in SHARED:
            known = self._accessed(operation, inputs, at)
        else:
            work = self._computed(operation, inputs, at)
            # A vote may ask which threads are there; any other word that is drawn is one that nothing says.
            if not operation.writes or not work.out.keys() >= set(operation.writes) or (work.drawn and not name.startswith("VOTE")):
                raise NotRunError(f"no rule says what {_named(instruction)} computes")
            known = work.out
        return tuple(known[register].astype(np.uint32) for register in operation.writes), True

    def _accessed(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> Mapping[int, Longs]:
        instruction = operation.instruction
        name = instruction.opcode.partition(".")[0]
        work = GroupOperation(instruction, self.place, at.rows, dict(zip(operation.reads, inputs, strict=True)), {}, at.executing)
        window = self._windows[at.rows] if name in SHARED else None
        memory = self._memory if window is None else self._shared
        try:
            whole = change(work, memory, window) if name in STORES else load(work, memory, ordered=True, window=window)
        except (UnknownError, KeyError):
            raise NotRunError(f"no rule says what {_named(instruction)} does") from None
        if not (whole | ~at.executing).all():
            problem = "stores outside of the buffers" if name in PLAIN_STORES else "reads memory that is not known"
            raise NotRunError(f"{_named(instruction)} {problem}")
        return work.out

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        if test not in ZERO_TESTS:
            raise NotRunError("it tests flags for which there is no rule")
        return super().holds(test, flags, at)

    def drawn_row(self, rows: Translator, operation: Operation) -> MicroOperation | None:
        del rows, operation
        return None

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        del selector, inputs, count, at
        raise NotRunError("it jumps through a table")


def _named(instruction: Instruction) -> str:
    return f"{instruction.opcode} at 0x{instruction.address:04x}"


def _given(function: Function, launch: LaunchConfiguration, place: WarpInputs) -> WarpInputs:
    """Return warps that read no parameter that is not given: words of the driver, before the parameters, say where windows lie alone."""
    known, bank = constant_bank(function, launch), place.bank
    where = layout(function.arch)
    base = function.compiler.parameter_base if function.compiler is not None else None
    first = base if base is not None else where.parameters if where is not None else 0

    def word(offset: int) -> Words:
        if offset >= first and known.word(offset) is None:
            raise UnknownError
        return bank(offset)

    return replace(place, bank=word)


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
        code = lower(function, TableDecoder(facts_of, memory=True), [*behind_barriers(function)])
    except SassanError as error:
        raise NotRunError(error.message) from None
    if prod(launch.preferred_cluster or launch.cluster_of(function) or (1, 1, 1)) > 1:
        raise NotRunError("its blocks run in clusters")
    waits = [each for each in function.instructions if each.opcode.partition(".")[0] in _BARRIERS]
    whole = barriers(function.instructions)
    if other := next((each for each in waits if each.address not in whole), None):
        raise NotRunError(f"{_named(other)} waits in a way that is not followed")
    warps = -(-prod(launch.block) // WARP_SIZE)
    width, height, depth = launch.grid
    places = ((x, y, z) for z, y, x in product(range(depth), range(height), range(width)))
    while batch := [*islice(places, max(1, min(_BATCH // warps, _MOST_SHARED)))]:
        spots = [Spot(place, warp) for place in batch for warp in range(warps)]
        inputs, active = warps_at(function, launch, spots, np.random.default_rng(_SEED))
        blocks = np.repeat(np.arange(len(batch)), warps).astype(np.intp)
        waiting = SharedMemory(blocks, set()) if waits else None
        values = _Computed(_given(function, launch, inputs), memory, blocks)
        machine = Machine(code, values, SideOrder.TAKEN_FIRST, Limits(steps=_LONGEST))
        outcome = machine.run(active, _Watch(budget, active, whole), shared=waiting, counted=False)
        if (outcome.status != RunStatus.ENDED).any() or (waiting is not None and waiting.lost.any()):
            raise NotRunError("threads wait for others, or do not come to their end")
