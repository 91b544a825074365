"""What a warp moves through the memory pipeline of its SM, and beyond it: per execution of an instruction, at most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from types import MappingProxyType

from sassan.access.access import Access
from sassan.access.opcodes import L2_ATOMICS, MemorySpace
from sassan.access.transactions import HALF, LANES, LINE
from sassan.errors import Gap
from sassan.machine.atomics import OPCODES
from sassan.machine.memory_pipeline import SECTOR, MemoryPipeline

UNKNOWN_BYTES = "unknown-bytes"
"""The gap of a copy in bulk of which it is not known how much it moves."""
_TEXELS = 8
"""Texels that a lane of a texture access reads at most: two levels of four, or the corners of a cube."""
_WRITES = ("ST", "RED", "ATOM", "SUST", "SURED", "SUATOM")
"""How the opcodes begin that change memory."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What one execution of an instruction moves, at most.

    `cycles`: for how long it keeps the memory pipeline. `sectors`: of 32 bytes to or from L2. `fetched`: bytes of DRAM, where no cache
    holds any of them. `written`: bytes that L2 gives to DRAM, at any time later. `atomics`: cycles for which atomic units of L2 work,
    were all operations done one after the other; a part of them where several units work on them. `apart`: of memory that no
    argument points to (local memory, textures). `again` and `rewritten`: bytes that are fetched and written beyond these where L2 lost
    what the warp accessed before in the same straight piece of code.
    """

    cycles: int = 0
    sectors: int = 0
    fetched: int = 0
    written: int = 0
    atomics: Fraction | int = 0
    apart: bool = False
    again: int = 0
    rewritten: int = 0

    @property
    def lost(self) -> "Moved":
        """What is moved where L2 lost what the warp accessed before."""
        return replace(self, fetched=self.fetched + self.again, written=self.written + self.rewritten, again=0, rewritten=0)

    @property
    def uncached(self) -> "Moved":
        """What is moved where no cache keeps what is accessed: each sector is an access of DRAM by itself, which gives half a line."""
        lost, every = self.lost, HALF * self.sectors
        fetched, written = (max(size, every) if size else 0 for size in (lost.fetched, lost.written))
        return replace(lost, fetched=fetched, written=written)

    @property
    def bytes_in_l2(self) -> int:
        """Return the bytes that L2 has to keep of it: what is fetched and what is written are the same ones."""
        return max(self.fetched, self.written)

    def __add__(self, other: "Moved") -> "Moved":
        """What both move."""
        return Moved(
            self.cycles + other.cycles,
            self.sectors + other.sectors,
            self.fetched + other.fetched,
            self.written + other.written,
            self.atomics + other.atomics,
            self.apart or other.apart,
            self.again + other.again,
            self.rewritten + other.rewritten,
        )


NO_BOXES: Mapping[int, Moved] = MappingProxyType({})
"""Where no copy by a tensor map is known."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the instructions of a graph move, by address, in whichever warp most; `gaps` are accesses of which it is unknown.

    `warps` is what they move in each warp of a block, of which warp w repeats warp w modulo their number; empty: all are alike.
    """

    moved: Mapping[int, Moved] = field(default_factory=lambda: MappingProxyType(dict[int, Moved]()))
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    warps: tuple[Mapping[int, Moved], ...] = ()

    @property
    def cycles(self) -> Mapping[int, int]:
        """Return for how long each instruction keeps the memory pipeline of its SM, by address."""
        return cycles_of(self.moved)


def cycles_of(moved: Mapping[int, Moved]) -> dict[int, int]:
    """Return for how long each instruction keeps the memory pipeline of its SM, by address."""
    return {address: each.cycles for address, each in moved.items()}


def traffic(
    accesses: Sequence[Access], pipeline: MemoryPipeline, assumptions: tuple[str, ...] = (), boxes: Mapping[int, Moved] = NO_BOXES
) -> Traffic:
    """Return what accesses move; `assumptions` are those of their transactions.

    `boxes` are what copies by tensor maps move, where that is known (`boxes.py`).
    """
    number = lcm(*(len(access.warps) or 1 for access in accesses))
    warps = tuple(_of_warp(accesses, pipeline, warp) for warp in range(number)) if number > 1 else ()
    rates = {access.opcode: pipeline.atomics.rate(access.opcode) for access in accesses if access.opcode.partition(".")[0] in OPCODES}
    atomic = dict.fromkeys(rate.assumption for rate in rates.values() if rate is not None)
    gaps = tuple(gap for gap in _unknown(accesses, pipeline) if gap.address not in boxes)
    whole = MappingProxyType({**_of_warp(accesses, pipeline), **boxes})
    return Traffic(whole, (*assumptions, pipeline.assumption, *atomic), gaps, tuple(MappingProxyType({**each, **boxes}) for each in warps))


def _of_warp(accesses: Iterable[Access], pipeline: MemoryPipeline, warp: int | None = None) -> Mapping[int, Moved]:
    """Return what accesses move in a warp of a block, by address; None: in the one in which each moves most."""
    moved: dict[int, Moved] = {}
    for access in accesses:
        made = access if warp is None or not access.warps else access.warps[warp % len(access.warps)]
        moved[access.address] = moved.get(access.address, Moved()) + _moved(made, pipeline)
    return MappingProxyType(moved)


def _moved(access: Access, pipeline: MemoryPipeline) -> Moved:
    passes = access.passes.most if access.passes is not None else 0
    match access.space:
        case MemorySpace.SHARED:
            return Moved(cycles=_shared(access, passes, pipeline))
        case MemorySpace.CONSTANT:
            return Moved(cycles=passes * pipeline.constant)
        case MemorySpace.BULK:
            return Moved()
        case MemorySpace.TEXTURE:
            sectors = lines = LANES * _TEXELS
        case _:
            sectors = access.sectors.most if access.sectors is not None else LANES
            lines = access.lines.most if access.lines is not None else -(-sectors * SECTOR // LINE)
    atomic = access.opcode.partition(".")[0] in L2_ATOMICS
    writes = access.opcode.startswith(_WRITES)
    every = HALF * (access.halves.most if access.halves is not None else min(2 * lines, sectors))
    moved = min(every, HALF * _fresh(access))
    if atomic or not writes or access.opcode.startswith("SU"):
        # An atomic operation reads what it writes.
        fetched, once = moved, every
    else:
        # So does a store of parts of sectors.
        fetched, once = (every if halves is None else min(every, HALF * halves) for halves in (access.filled, access.partial))
    return Moved(
        cycles=pipeline.of_lines(lines, sectors),
        sectors=sectors,
        fetched=fetched,
        written=moved if writes else 0,
        atomics=Fraction(_operations(access, sectors, pipeline) if atomic else 0, access.distinct),
        apart=access.space in {MemorySpace.LOCAL, MemorySpace.TEXTURE},
        again=max(0, once - fetched),
        rewritten=every - moved if writes else 0,
    )


def _operations(access: Access, sectors: int, pipeline: MemoryPipeline) -> int:
    """Return for how long the operations of an access keep the atomic units of L2; 0 where that is unknown, which is a gap (`_unknown`)."""
    rate = pipeline.atomics.rate(access.opcode)
    collisions = LANES if access.collisions is None else access.collisions
    return rate.of_access(access.lanes, collisions, sectors) if rate is not None else 0


def _shared(access: Access, passes: int, pipeline: MemoryPipeline) -> int:
    """Return for how long an access to shared memory keeps the pipeline; passes that bank conflicts add take longer."""
    if access.opcode.partition(".")[0] in OPCODES:
        rate = pipeline.atomics.rate(access.opcode)
        return passes * rate.word if rate is not None else 0
    free = min(passes, access.ideal or 1)
    return free * pipeline.shared + (passes - free) * pipeline.conflict


def _fresh(access: Access) -> int:
    return 2 * LANES * _TEXELS if access.fresh is None else access.fresh


def unknown_bytes(opcode: str) -> str:
    """Return the message of a copy in bulk of which it is not known how much it moves."""
    return f"how many bytes {opcode} copies is unknown: its traffic has no bound"


def _unknown(accesses: Iterable[Access], pipeline: MemoryPipeline) -> Iterable[Gap]:
    for access in accesses:
        if access.space is MemorySpace.BULK:
            yield Gap(access.address, UNKNOWN_BYTES, unknown_bytes(access.opcode))
        elif access.opcode.partition(".")[0] in OPCODES and pipeline.atomics.rate(access.opcode) is None:
            yield Gap(access.address, "no-rate", f"how many operations of {access.opcode} are done per cycle is unknown")
