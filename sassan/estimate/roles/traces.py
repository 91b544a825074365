"""The warps of one block, run on the concrete machine: which nodes each visits, one after the other, and what it does at barriers.

A wait is over when a warp comes to it: whether what it waits for has come is the question of `phases.py` and of the simulation. So each
warp runs as if it were alone, and its path is that of the launch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.errors import SassanError
from sassan.estimate.roles.barrier_operations import IN_SHARED_MEMORY, BarrierOperation, amount, barrier_operation, place
from sassan.estimate.roles.tensor_operands import descriptor, with_window
from sassan.estimate.untimed import UntimedIntegers
from sassan.estimate.warps import supposed, usual_branches
from sassan.estimate.watch import EnoughError, lane_addresses
from sassan.ir import Immediate, Instruction, Operand, Register
from sassan.isa.facts import Facts
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.simt.code import ExecutableFunction, lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import BlockObserver, Limits, Machine
from sassan.simt.shared import OF_BLOCK, SharedMemory, behind_barriers, is_followed
from sassan.simt.slicing import control_slice, live_slice
from sassan.simt.state import RunStatus, Session, SideOrder, lanes
from sassan.simt.values import LANES, Rows, Words
from sassan.warpcfg.graph import WarpCfg

_WORK = 150_000
"""Operations that are executed at most, each of as many warps as stand at the same place: some seconds."""
_STEPS = 2_500
"""Blocks of code that a warp executes at most. The machine runs the place where most warps stand, and the others behind it."""
_SEED = 2026


class BarrierExecution(NamedTuple):
    """What one warp did at a barrier in its visit of a node, by the number of the visit.

    `barrier` is where it lies in shared memory, or its number; `threads` are those that executed the instruction, and `amount` its operand
    behind the barrier, None where it has none. `map` is the address of the tensor map of a copy, None for others.
    """

    visit: int
    address: int
    kind: BarrierOperation
    barrier: int
    threads: int
    amount: int | None
    map: int | None = None


@dataclass(frozen=True, slots=True)
class WarpTrace:
    """The nodes that a warp visits, and what it does at barriers; `ended`: it came to its end."""

    nodes: npt.NDArray[np.int64]
    executions: tuple[BarrierExecution, ...]
    ended: bool


def traced(cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration) -> tuple[WarpTrace, ...] | None:
    """Return the traces of the warps of a block in the middle of a grid; None where the machine has no rule for an instruction.

    The block and the grid of the launch are given.
    """
    assert launch.block is not None
    assert launch.grid is not None
    operations = {each.address: (each, kind) for node in cfg.nodes for each in node.code if (kind := barrier_operation(each)) is not None}
    number = prod(launch.grid) // 2
    spots = [Spot(place_of(number, launch.grid), warp) for warp in range(-(-prod(launch.block) // LANES))]
    code = decided(cfg, facts_of, {address: frozenset(_read(each)) for address, (each, _) in operations.items()})
    if code is None:
        return None
    notes = _Notes(cfg, code, operations, len(spots))
    try:
        ended = run_alone(cfg, launch, code, spots, notes)
    except EnoughError:
        ended = notes.ended
    return notes.traces(ended)


def place_of(number: int, grid: Shape) -> Shape:
    """Return the indices of a block by its number."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def decided(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], reads: Mapping[int, frozenset[int]]
) -> ExecutableFunction | None:
    """Return what decides control, and the registers (bit numbers) that are read at some addresses, where blocks of the code begin.

    None where the machine has no rule for an instruction.
    """
    registers = frozenset[int]().union(*reads.values())
    try:
        decoder = TableDecoder(facts_of, cfg.calls, stack=True, shared=True)
        code = lower(cfg.function, decoder, [*(node.start for node in cfg.nodes), *reads, *behind_barriers(cfg.function)])
    except SassanError:
        return None
    code = control_slice(code, registers)
    code = replace(code, registers=tuple(sorted({*code.registers, *registers})), blocks=usual_branches(cfg.function, code.blocks))
    return live_slice(code, reads)


def run_alone(  # noqa: PLR0913 - a launch, its code, and who looks
    cfg: WarpCfg,
    launch: LaunchConfiguration,
    code: ExecutableFunction,
    spots: Sequence[Spot],
    observer: BlockObserver,
    *,
    steps: int | Rows = _STEPS,
) -> npt.NDArray[np.bool_]:
    """Run warps, each as if its waits were over, and return which of them came to their end; what the observer raises is raised.

    A warp executes `steps` blocks of code at most.
    """
    placed, active = warps_at(cfg.function, supposed(cfg.function, launch), spots, np.random.default_rng(_SEED))
    placed = with_window(placed, cfg.function)
    blocks = np.unique([spot.block for spot in spots], axis=0, return_inverse=True)[1].reshape(-1)
    shared = SharedMemory(blocks, set()) if is_followed(code, beside=True) else None
    outcome = Machine(code, UntimedIntegers(placed), SideOrder.RANDOM, Limits(steps=steps)).run(
        active, observer, shared=shared, counted=False
    )
    return np.asarray(outcome.status == RunStatus.ENDED)


def _read(instruction: Instruction) -> tuple[int, ...]:
    """Return the registers (bit numbers) that say at which barrier an instruction is, with what, and in which threads."""
    named = [place(instruction), amount(instruction)]
    registers = [register for operand in named for register in _registers(operand)]
    if barrier_operation(instruction) in {BarrierOperation.COPY, BarrierOperation.MOVE}:
        # The barrier stands behind the shared address.
        registers = [_next(each) for each in registers[:1]]
        registers += [each for first in _registers(descriptor(instruction))[:1] for each in (first, _next(first))]
    if instruction.guard is not None:
        registers.append(Register(instruction.guard.file, instruction.guard.index))
    return tuple(number for each in registers if (number := bit(each.file, each.index).bit_length() - 1) >= 0)


def _next(register: Register) -> Register:
    return Register(register.file, None if register.index is None else register.index + 1)


def _registers(operand: Operand | None) -> tuple[Register, ...]:
    if isinstance(operand, Register):
        return (operand,)
    return getattr(operand, "base", ())


@dataclass(slots=True)
class _Notes:
    """An observer that notes the visits of nodes, and the operations at barriers."""

    cfg: WarpCfg
    code: ExecutableFunction
    operations: Mapping[int, tuple[Instruction, BarrierOperation]]
    runs: int
    ended: npt.NDArray[np.bool_] = field(init=False)
    _nodes: dict[tuple[tuple[int, ...], int], int] = field(init=False)
    _visits: list[tuple[int, Rows]] = field(default_factory=list[tuple[int, Rows]])
    _made: npt.NDArray[np.int64] = field(init=False)
    _executions: list[list[BarrierExecution]] = field(init=False)
    _work: int = 0

    def __post_init__(self) -> None:
        """Start with nothing noted."""
        self._nodes = {(node.context, node.start): index for index, node in enumerate(self.cfg.nodes)}
        self._made, self.ended = np.zeros(self.runs, np.int64), np.zeros(self.runs, np.bool_)
        self._executions = [[] for _ in range(self.runs)]

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Note a visit of the warps that are about to execute a block."""
        self._work += 2 + len(self.code.blocks[block].operations)
        if self._work > _WORK:
            self.ended = np.asarray(session.warps.status == RunStatus.ENDED)
            raise EnoughError
        address, contexts = self.code.blocks[block].address, session.warps.context[rows]
        for context in np.unique(contexts).tolist() if len(session.contexts) > 1 else (0,):
            node = self._nodes.get((session.contexts.strings[context], address))
            if node is not None:
                there = rows[contexts == context]
                self._visits.append((node, there))
                self._made[there] += 1
        if address in self.operations:
            self._note(session, *self.operations[address], rows)

    def _note(self, session: Session, instruction: Instruction, kind: BarrierOperation, rows: Rows) -> None:
        active, guard = lanes(session.warps.active[rows]), instruction.guard
        if guard is not None:
            active &= (self._words(session, Register(guard.file, guard.index), rows) != 0) != guard.negated
        barriers = self._barriers(session, instruction, kind, rows)
        behind = amount(instruction)
        amounts = None if behind is None or kind in {BarrierOperation.COPY, BarrierOperation.MOVE} else self._words(session, behind, rows)
        maps = self._maps(session, instruction, rows)
        for at, warp in enumerate(rows.tolist()):
            executing = np.flatnonzero(active[at])
            if not len(executing):
                continue
            many = None if amounts is None else int(amounts[at, executing[0]])
            tensor = None if maps is None else int(maps[at, executing[0]])
            for barrier, threads in zip(*np.unique(barriers[at, executing], return_counts=True), strict=True):
                self._executions[warp].append(
                    BarrierExecution(int(self._made[warp]) - 1, instruction.address, kind, int(barrier), int(threads), many, tensor)
                )

    def _barriers(self, session: Session, instruction: Instruction, kind: BarrierOperation, rows: Rows) -> Words:
        operand = place(instruction)
        if operand is None:
            return np.zeros((len(rows), LANES), np.uint32)
        if kind is BarrierOperation.COPY:
            first = _registers(operand)[0]
            assert first.index is not None
            return self._words(session, Register(first.file, first.index + 1), rows) & np.uint32(OF_BLOCK)
        if kind in IN_SHARED_MEMORY:
            return lane_addresses(session, operand, rows) & np.uint32(OF_BLOCK)
        return self._words(session, operand, rows)

    def _maps(self, session: Session, instruction: Instruction, rows: Rows) -> npt.NDArray[np.uint64] | None:
        """Return the addresses of the tensor maps of a copy in every lane."""
        operand = descriptor(instruction)
        if operand is None:
            return None
        first = operand.base[0]
        low, high = (self._words(session, each, rows).astype(np.uint64) for each in (first, _next(first)))
        return (low | high << np.uint64(32)) + np.uint64(operand.offset % (1 << 64))

    def _words(self, session: Session, operand: Operand, rows: Rows) -> Words:
        if isinstance(operand, Immediate) and isinstance(operand.value, int):
            return np.full((len(rows), LANES), operand.value & 0xFFFFFFFF, np.uint32)
        number = bit(operand.file, operand.index).bit_length() - 1 if isinstance(operand, Register) else -1
        if number < 0:
            truth = isinstance(operand, Register) and operand.file in {"P", "UP"}
            return np.full((len(rows), LANES), int(truth), np.uint32)
        return np.asarray(session.warps.registers[session.slots[number], rows])

    def traces(self, ended: npt.NDArray[np.bool_]) -> tuple[WarpTrace, ...]:
        """Return what was noted of each warp."""
        warps = np.concatenate([rows for _, rows in self._visits]) if self._visits else np.zeros(0, np.int64)
        nodes = np.repeat([node for node, _ in self._visits], [len(rows) for _, rows in self._visits])
        order = np.argsort(warps, kind="stable")
        bounds = np.searchsorted(warps[order], np.arange(self.runs + 1))
        sorted_nodes = nodes[order].astype(np.int64)
        return tuple(
            WarpTrace(sorted_nodes[bounds[warp] : bounds[warp + 1]], tuple(self._executions[warp]), bool(ended[warp]))
            for warp in range(self.runs)
        )
