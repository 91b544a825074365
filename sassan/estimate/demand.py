"""The rows of the simulation: what each instruction of a graph takes on an SM, and of the memory behind it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from sassan.access.opcodes import MemorySpace, space
from sassan.access.transactions import LINE
from sassan.arch import described
from sassan.estimate.figures import Usual
from sassan.estimate.path import Visits
from sassan.estimate.program import LAST_WORD, TICK, RowField, Stall, WarpProgram
from sassan.estimate.roles.barrier_operations import BarrierOperation, barrier_operation, groups_left, is_grouped, is_product, is_queued
from sassan.estimate.roles.traced_block import TracedBlock
from sassan.estimate.traffic import Expected
from sassan.ipet.sm.gpu import GpuMemory
from sassan.ir import Instruction, Memory, Operand, Register
from sassan.isa.control import decode
from sassan.isa.rows import FunctionalUnit
from sassan.machine.code_caches import code_caches
from sassan.machine.matrices import tensor_memory_cycles
from sassan.machine.pipes import PARTITION
from sassan.timing.control import block_ops
from sassan.timing.control_ops import Ops, TimedOp
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.moved_numbers import moved_number

_AT_ONCE = ("WARPGROUP", "UTMACMDFLUSH", "USETMAXREG", "SYNCS", "UTMASTG", "ACQBULK", "FENCE.VIEW")
"""What others decide, and what a block that runs as it should hardly waits for."""
ENGINES = ("bulkload", "bulkstore", "mbarrier", "wgmma", "tcgen05", "cluster", "griddependency", "registers", "async")
"""Classes of latencies that engines, or warps that meet at barriers, decide."""
_LONG = frozenset({"global", "texture", "atomic", "store", *ENGINES})
"""Classes of latencies of the memory beyond the SM."""
_CONVERSIONS, _DOUBLES = "conv64", "fp64"
"""The lanes of conversions from and to 64 bits, and those of double precision. Where all warps of an SM share them, and there are as many
of both, they are the same: 3 products, 3 sums and 6 conversions of a recorded kernel on an RTX 3080 (GA102, 2 lanes each) take 226 cycles
of the SM, 192 if one follows the other, and 96 if they ran side by side."""
_SHAPE, _IN_SHARED = "idesc", "gdesc"
"""Descriptors of a product of tensor memory: of its shape, of a matrix in shared memory."""
_READ = 20
"""Cycles until the operands of an access have been read, where nothing is in the way."""


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """An SM's `part` of the memory of the GPU, in bytes per cycle; `missed` is the part of the sectors at L2 that DRAM gives.

    `slower`: how many times as long as of long pieces of memory DRAM takes for each byte.
    """

    l2: Fraction
    dram: Fraction
    missed: float
    part: float
    slower: float = 1.0


@dataclass(frozen=True, slots=True)
class LaunchMemory:
    """The memory of a GPU, of which a launch accesses `allocated` bytes; None: not known."""

    gpu: GpuMemory
    allocated: int | None

    def share(self, blocks: int, per_sm: int, missed: float, slower: float = 1.0) -> MemoryShare:
        """Return the share of an SM that runs `per_sm` of the blocks of a grid: it has as much of the bandwidth as of the blocks."""
        part = Fraction(per_sm, blocks)
        return MemoryShare(self.gpu.l2 * part, self.gpu.dram * part, missed, float(part), slower)

    def beyond(self, span: int) -> float:
        """Return which part of so many bytes of the buffers L2 does not keep, 0 where those are not known."""
        return max(0.0, 1 - self.gpu.capacity / span) if self.allocated and span else 0.0

    def missed(self, requested: float, footprint: tuple[float, float], filled: float = 0.0) -> float:
        """Return which part of the bytes that a launch requests of L2 DRAM gives or takes.

        `footprint`: bytes that it reads, and writes; `filled`: those of sectors that it stores in part, where L2 fetches them.
        """
        most = float("inf") if self.allocated is None else self.allocated
        fits = min(sum(footprint), most) <= self.gpu.capacity
        return 0.0 if not requested or fits else min(1.0, sum(footprint) / requested) + filled / requested

    def assumptions(self, share: MemoryShare) -> tuple[str, ...]:
        """Return what is taken for granted about the memory."""
        known = "not known" if self.allocated is None else f"{self.allocated} bytes"
        slower = "" if share.slower == 1 else f"; short pieces of memory take it {share.slower:.2f} times as long as long ones"
        moved = f"DRAM gives {share.missed:.0%} of what the launch requests of L2; its buffers are {known}{slower}"
        return (*self.gpu.assumptions, moved)


@dataclass(frozen=True)
class Demands:
    """What the instructions of a graph take of an SM and of its `share` of the memory; each has a control code and a time."""

    cfg: WarpCfg
    usual: Usual
    moved: Mapping[int, Expected]
    share: MemoryShare
    traced: TracedBlock | None = None
    called: Mapping[int, int] = field(default_factory=dict[int, int])
    """Cycles that functions outside the input take, by the addresses of their calls."""

    @cached_property
    def products(self) -> Mapping[int, int]:
        """Cycles of tensor cores for products of tensor memory, by address, where the program moves their descriptors."""
        code = ((node, each) for node in self.cfg.nodes for each in node.code)
        known = ((each, moved_number(self.cfg, node, each, by, likely=True)) for node, each in code if (by := _shape_of(each)) is not None)
        return {
            each.address: tensor_memory_cycles(number, left_in_shared=_lies_in_shared(each.operands[0]))
            for each, number in known
            if number is not None
        }

    @cached_property
    def pools(self) -> Mapping[str, bool]:
        """The pools of lanes of the graph by name, and whether all schedulers share them.

        A unit with lanes of both kinds is two pools: products of double precision, which all warps of a GA102 share, keep none of the
        partitions' lanes for others.
        """
        opcodes = sorted({instruction.opcode for node in self.cfg.nodes for instruction in node.code})
        return dict(sorted(self.pool(opcode) for opcode in opcodes))

    def pool(self, opcode: str) -> tuple[str, bool]:
        """Return the name of the lanes that run an opcode, and whether all schedulers share them."""
        machine, unit = self.usual.rates.machine, self.usual.rates.unit(opcode)
        pipe = machine.pipe(unit, opcode)
        if pipe is None or pipe.scope == PARTITION:
            return unit, False
        if pipe.lanes == _CONVERSIONS and machine.lanes[_CONVERSIONS] == machine.lanes[_DOUBLES]:
            return FunctionalUnit.FP64, True
        divided = any(other.unit == unit and other.scope == PARTITION for other in machine.pipes)
        return (f"{unit} of the SM" if divided else unit), True

    def program(self, visits: Visits) -> WarpProgram:
        """Return the program of a path, or of the paths of the warps of a block where each has its own."""
        row = _Rows(self).of
        rows = [row(each) for node in self.cfg.nodes for each in node.code]
        starts = np.cumsum([0, *(len(node.code) for node in self.cfg.nodes)], dtype=np.int64)
        self._wait_for_products(rows, starts.tolist())
        self._wait_for_code(rows)
        self._wait_for_callees(rows)
        # No warp skips a barrier of its block: a node that some warps visit is visited by all of them there, and takes less time.
        if self.traced is not None:
            return self.traced.program(np.array(rows, np.int64), starts, np.array(list(self.pools.values()), np.int64))
        blocks = [any(row[RowField.BLOCKS] for row in rows[first:end]) for first, end in itertools.pairwise(starts.tolist())]
        shares = [1.0 if blocks[node] else share for node, share in zip(visits.nodes, visits.shares, strict=True)]
        weights = [weight * whole / share for weight, whole, share in zip(visits.weights, visits.shares, shares, strict=True)]
        return WarpProgram(
            np.array(rows, np.int64),
            starts,
            np.array(visits.nodes, np.int64),
            np.array(weights, np.float64),
            np.array(list(self.pools.values()), np.int64),
            np.array([round(share * (LAST_WORD + 1)) for share in shares], np.int64),
            np.array(visits.turns, np.int64),
            np.array([[0, len(visits.nodes), 0, 0]], np.int64),
            np.zeros((0, 5), np.int64),
        )

    def _wait_for_code(self, rows: Sequence[list[int]]) -> None:
        """Lengthen the stall behind each line of code by the fetch of the next one, where an SM does not keep the code.

        L2 keeps it, and so many lines are on their way at once as a prefetcher asks for ahead.
        """
        code, caches = [each.address // LINE for node in self.cfg.nodes for each in node.code], code_caches(self.usual.rates.machine.arch)
        if LINE * len(set(code)) <= caches.outer:
            return
        fetch = round(self.usual.figures.l2 / caches.ahead)
        for row, (line, following) in zip(rows, itertools.pairwise([*code, -1]), strict=True):
            row[RowField.STALL] += fetch * (line != following)

    def _wait_for_callees(self, rows: Sequence[list[int]]) -> None:
        """Lengthen the stalls of calls of functions that the input does not hold by what those are expected to take."""
        for row, each in zip(rows, (each for node in self.cfg.nodes for each in node.code), strict=True):
            if each.address in self.called:
                row[RowField.STALL] += self.called[each.address]
                row[RowField.ASSUMED] = 1

    def _wait_for_products(self, rows: Sequence[list[int]], starts: Sequence[int]) -> None:
        """Lengthen the stalls before instructions that read matrix products, by as much as the stalls are no wait for them."""
        before: dict[int, set[int]] = {}
        for edge in self.cfg.edges:
            if edge.dst is not None:
                before.setdefault(edge.dst, set()).add(starts[edge.src + 1] - 1)
        longer: dict[int, int] = {}
        for node, block in enumerate(block_ops(self.cfg, self.usual.rates)):
            for place, op in enumerate(block):
                for row in {starts[node] + place - 1} if place else before.get(node, set()):
                    longer[row] = max(longer.get(row, 0), op.late)
        for row, cycles in longer.items():
            rows[row][RowField.STALL] += cycles


def _shape_of(product: Instruction) -> Register | None:
    """Return the register with the shape and types of a product of tensor memory; None of any other instruction."""
    shape = next((each for each in product.operands if isinstance(each, Memory) and each.prefix == _SHAPE), None)
    return shape.base[0] if shape is not None and len(shape.base) == 1 and not shape.offset else None


def _lies_in_shared(matrix: Operand) -> bool:
    return isinstance(matrix, Memory) and matrix.prefix == _IN_SHARED


class _Rows:
    """The rows of instructions. Those with one opcode and one control code differ in what they wait for, and in what they move."""

    def __init__(self, demands: Demands) -> None:
        self._demands, self._pools = demands, list(demands.pools)
        self._op = Ops(demands.usual.rates, together=described(demands.cfg.function.arch).control_words).of
        self._known: dict[tuple[str, int, int], list[int]] = {}
        figures = demands.usual.figures
        self._quicker = {"FCHK": round(figures.check), "SHFL": round(figures.shuffle)}

    def of(self, instruction: Instruction) -> list[int]:
        """Return the row of an instruction."""
        assert instruction.control is not None
        op = self._op(instruction)
        key = instruction.opcode, instruction.control, op.interval
        row = self._known.get(key)
        if row is None:
            row = self._known[key] = self._made(instruction.opcode, instruction.control, op)
        row = row.copy()
        row[RowField.WAITS] = op.clears
        if self._demands.traced is not None:
            self._by_events(row, instruction)
        moved = self._demands.moved.get(instruction.address)
        if moved is not None:
            self._move(row, moved)
        return row

    def _made(self, opcode: str, control: int, op: TimedOp) -> list[int]:
        rates, kind, code = self._demands.usual.rates, self._demands.usual.rates.kind(opcode), decode(control)
        assert kind is not None
        barrier, special = kind.name == "barrier", rates.latencies.opcode_figure(kind, opcode)
        figure = special.figure if special is not None else rates.latencies.figure(kind.name)
        row = [0] * len(RowField)
        row[RowField.STALL] = op.least if barrier else max(op.most, 1)
        row[RowField.WRITES] = -1 if code.write_barrier is None else code.write_barrier
        row[RowField.WRITTEN] = rates.cycles(opcode)
        row[RowField.READS] = -1 if code.read_barrier is None else code.read_barrier
        row[RowField.READ] = min(rates.reading(opcode), _READ)
        row[RowField.UNIT] = self._pools.index(self._demands.pool(opcode)[0])
        pipe = rates.machine.pipe(op.unit, opcode)
        usual = round(op.interval * pipe.usual) if pipe is not None else op.interval
        row[RowField.INTERVAL] = min(usual, self._quicker.get(opcode.partition(".")[0], usual))
        row[RowField.BLOCKS] = barrier and ".ARV" not in opcode
        row[RowField.DRAINS] = kind.drains and not barrier
        row[RowField.BRANCHES] = kind.blocks and not barrier
        row[RowField.WHY] = Stall.LONG_SCOREBOARD if kind.name in _LONG else Stall.SHORT_SCOREBOARD
        row[RowField.SHARED] = space(opcode) is MemorySpace.SHARED
        row[RowField.ASSUMED] = figure is None or figure.unsure or kind.name in self._demands.usual.given
        return row

    def _by_events(self, row: list[int], instruction: Instruction) -> None:
        """Leave out what events of the simulation say: how long a warp waits for others and for engines."""
        kind, left, figures = barrier_operation(instruction), groups_left(instruction), self._demands.usual.figures
        engine = is_product(instruction.opcode)
        if kind is None and left is None and not engine and not instruction.opcode.startswith(_AT_ONCE):
            return
        assert instruction.control is not None
        row[RowField.STALL] = max(1, decode(instruction.control).stall)
        row[RowField.BLOCKS] = row[RowField.DRAINS] = row[RowField.BRANCHES] = 0
        row[RowField.WRITTEN] = round(figures.copy if kind is BarrierOperation.COPY else figures.trial)
        if engine:
            row[RowField.INTERVAL] = self._demands.products.get(instruction.address, row[RowField.INTERVAL])
            row[RowField.QUEUED], row[RowField.GROUPS] = is_queued(instruction.opcode), is_grouped(instruction)
            row[RowField.WRITTEN] = row[RowField.INTERVAL] + round(figures.product)
        row[RowField.LEFT] = 0 if left is None else left + 1

    def _move(self, row: list[int], moved: Expected) -> None:
        share, figures = self._demands.share, self._demands.usual.figures
        row[RowField.PIPELINE] = _ticks(moved.cycles)
        row[RowField.L2] = _ticks(max(moved.bytes / (moved.quicker * float(share.l2)), moved.serial / share.part))
        row[RowField.DRAM] = _ticks(moved.bytes * share.missed * share.slower / float(share.dram))
        if moved.sectors:
            missed = min(1.0, moved.sectors)
            row[RowField.BEYOND] = round(missed * (figures.l2 - figures.l1 + min(1.0, share.missed) * figures.dram))
        row[RowField.ASSUMED] |= moved.guessed


def _ticks(cycles: float) -> int:
    return max(1, round(TICK * cycles)) if cycles > 0 else 0
