"""What the blocks of a grid take of what all SMs share: DRAM, L2 and its atomic units (docs/proofs/gpu-memory.md)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sassan.access.traffic import Moved, Traffic
from sassan.access.transactions import LINE
from sassan.assumptions import recorded
from sassan.ipet.sm.hardware import hardware
from sassan.ir import Constant, Instruction
from sassan.machine.code_caches import code_caches
from sassan.machine.memory_pipeline import SECTOR
from sassan.products import Product
from sassan.timing.latencies import Latencies

_NOTHING = Moved()
_L2_PER_SM = Fraction(16)
"""Bytes per cycle and SM of an L2 without a measurement: the least of those that were (V100: 19, A100: 34)."""
_HALF = 2
"""Partitions of L2: an A100 keeps a line in both."""
_KIB = 1024
_MISS = 1000
"""Cycles of a miss where no publication has the latency of DRAM."""
_WALK = 1029
"""Cycles of the first access to a page: on a V100 it misses the TLBs and all caches (Jia et al. 2018; quoted, not looked up again)."""
_CONSTANT_LINE = 64
"""Bytes of a line of the constant cache (Jia et al. 2018: on Maxwell to Volta; quoted, not looked up again)."""
_FIRST = 4
"""Lines of code that are missed one after the other, until those that follow are prefetched."""
_FILLED = (
    "a sector of 32 bytes of which a store, or those of a straight piece of code together, write every byte is not fetched; any other is "
    "fetched, filled and written back"
)
_PAGE = 2 * _KIB * _KIB
"""Bytes of a page of device memory."""
_GRAIN = 64
"""Parts of a cycle up to which costs are rounded, so that the solver gets small numbers."""


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """The memory of a GPU, in cycles of its SMs.

    `dram` and `l2` are the bytes per cycle that it moves at least while an access waits for it; `capacity` is how many bytes L2 keeps.
    `launch` is the time from the start of a launch to its first instruction and from its last one to the end; `dispatch` how long it takes
    at most to give a block to any SM. `miss` is the latency of DRAM, `line` the time between two lines of code that are prefetched from
    there. The SMs, L2 and its atomic units do the work of one cycle in `slowdown` cycles. `assumptions` describe the figures.
    """

    dram: Fraction
    l2: Fraction
    capacity: int
    launch: int
    miss: int
    line: int = 68
    slowdown: Fraction = Fraction(1)
    dispatch: Fraction = Fraction(0)
    walk: int = _WALK
    """The cycles of the first access to a page."""
    integrated: bool = False
    """Whether its DRAM is that of a CPU, too."""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryDemand:
    """What the nodes of a graph take of a GPU, in cycles, each once.

    `uncached` where every access goes to DRAM, `cached` where L2 keeps what it once held.
    """

    uncached: tuple[Fraction, ...]
    cached: tuple[Fraction, ...]


def memory_of(product: Product, per_sm: Fraction = _L2_PER_SM) -> GpuMemory:
    """Return the memory of a product, in cycles at its boost clock; what no publication gives is assumed, and said.

    `per_sm`: bytes per cycle and SM of an L2 that was not measured.
    """
    dram = product.dram_rate * 1000 / product.boost_clock
    # What DRAM moves passes L2, which is therefore no slower.
    l2 = Fraction(product.l2_bytes_per_cycle) if product.l2_bytes_per_cycle else max(per_sm * product.sms, dram)
    l2 /= product.overclocked  # its clock is not that of the SMs
    capacity = (product.l2_size or 0) * _KIB // _HALF
    figures = (
        f"{product.name}: {product.sms} SMs at {product.boost_clock} MHz, {product.launch_us:g} us per launch; "
        f"DRAM moves {product.dram_efficiency:.0%} of {product.dram_bandwidth:g} GB/s{_left(product)}, {float(dram):.0f} bytes a cycle; "
        f"L2 moves {float(l2):.0f} bytes a cycle{'' if product.l2_bytes_per_cycle else ' (assumed)'}, keeps {capacity // _KIB} KiB"
    )
    miss = ceil((Latencies(product.architecture, dict(product.latency)).cycles("global") or _MISS) * product.waiting)
    walk = max(miss, ceil(_WALK * product.waiting))
    dispatch = Fraction(str(product.block_cycles)) / product.sms
    blocks = f"while blocks wait, each SM with a free place gets one in {product.block_cycles:g} cycles"
    line = code_caches(product.architecture).following(miss)
    assumptions = (figures, *_on_target(product), *_kept(product), blocks, _cold(line, walk), *hardware(product))
    return GpuMemory(
        dram, l2, capacity, product.launch_cycles, miss, line, product.slowdown, dispatch, walk, product.integrated, assumptions
    )


def _on_target(product: Product) -> Iterator[str]:
    """Yield which figures were measured on the target, and where."""
    for source, figures in product.measured().items():
        names = ", ".join(f"{name} ({', '.join(dict(product.latency))})" if name == "latency" else name for name in figures)
        yield recorded(f"{names}: {source}; no run is slower than the slowest of those that were measured")


def _left(product: Product) -> str:
    """Return what others leave of the bandwidth of DRAM, where that is not all."""
    return "" if product.dram_share == 1 else f", of which others leave {float(product.dram_share):.1%}"


def _cold(line: int, walk: int) -> str:
    first = f"the first {_FIRST} lines of code, each {_CONSTANT_LINE} bytes of parameters and constants that it names"
    pages = f"what each memory instruction accesses first (or the pages of the buffers, where those are fewer; {walk} cycles at least: "
    misses = "the TLBs miss, too) miss all caches once, one after the other"
    return f"cold start: {first}, and {pages}{misses}; further lines of code are prefetched, one in {line} cycles"


def _kept(product: Product) -> tuple[str, ...]:
    """Return at which clock the SMs run at least, where it is not the boost clock."""
    if product.source("boost_clock") == "given":
        return (f"{product.name}: the SMs keep {product.boost_clock} MHz, as given",)
    return (
        ()
        if product.slowdown == 1
        else (f"{product.name}: the SMs run at {product.kept_clock} MHz or more; cycles are those of {product.boost_clock} MHz",)
    )


def cold_start(code: Sequence[Instruction], traffic: Traffic, memory: GpuMemory, buffers: Sequence[int] | None = None) -> int:
    """Return the cycles of the misses of a launch that finds nothing in caches: lines of code, of constants, pages of accesses.

    `buffers` are the bytes of those that the accesses access, None where unknown.
    """
    lines = len({instruction.address // LINE for instruction in code})
    first = min(lines, _FIRST)
    accesses = [moved for moved in traffic.moved.values() if moved.sectors]
    pages = len(accesses)
    if buffers is not None:
        # A buffer begins anywhere in a page; what no argument points to is in none of them.
        pages = min(pages, sum(-(-size // _PAGE) + 1 for size in buffers) + sum(moved.apart for moved in accesses))
    return memory.miss * (first + _constant_lines(code)) + memory.walk * pages + memory.line * (lines - first)


def _constant_lines(code: Sequence[Instruction]) -> int:
    """Return how many lines of constants the code names; one for parameters in any case, one for each that a register indexes."""
    named = [operand for instruction in code for operand in instruction.operands if isinstance(operand, Constant)]
    indexed = sum(bool(operand.base) for operand in named)
    return max(1, indexed + len({(operand.bank, operand.offset // _CONSTANT_LINE) for operand in named if not operand.base}))


def dispatched(blocks: int, memory: GpuMemory) -> Fraction:
    """Return for how long the GPU gives out the blocks of a grid."""
    return blocks * memory.dispatch * memory.slowdown


def filling(traffic: Traffic) -> tuple[str, ...]:
    """Return what is taken for granted of stores, nothing where there are none."""
    return (_FILLED,) if any(moved.written and not moved.atomics for moved in traffic.moved.values()) else ()


def kept(nodes: Iterable[Iterable[Instruction]], moved: Mapping[int, Moved], memory: GpuMemory, warps: int) -> dict[int, Moved]:
    """Return what instructions move where `warps` warps are on the GPU at a time.

    L2 keeps what they access in a straight piece of code until that is done, if the pieces of all of them fit, and is taken to lose it
    otherwise.
    """
    out = dict(moved)
    for node in nodes:
        piece = [at for at in dict.fromkeys(instruction.address for instruction in node) if at in moved]
        if sum(moved[at].bytes_in_l2 for at in piece) * warps > memory.capacity:
            out |= {at: moved[at].lost for at in piece}
    return out


def uncached(moved: Mapping[int, Moved]) -> dict[int, Moved]:
    """Return what instructions move where they may access memory that no cache of the GPU keeps."""
    return {at: each.uncached for at, each in moved.items()}


def demand(
    nodes: Sequence[Iterable[Instruction]], moved: Mapping[int, Moved], memory: GpuMemory, code: Sequence[int] | None = None
) -> MemoryDemand:
    """Return what the nodes of a graph take, given as the instructions of each; `moved` by the address of an instruction.

    `code`: the bytes of code that each requests of L2.
    """
    of_nodes = [[moved.get(instruction.address, _NOTHING) for instruction in node] for node in nodes]
    fetched = [Fraction(size) / memory.l2 * memory.slowdown for size in code or (0,) * len(nodes)]
    uncached, cached = (
        [sum((time(each, memory) for each in node), begun) for node, begun in zip(of_nodes, fetched, strict=True)]
        for time in (_uncached, _cached)
    )
    return MemoryDemand(_rounded(uncached), _rounded(cached))


def access_time(moved: Moved, memory: GpuMemory, *, cached: bool) -> Fraction:
    """Return for how long one execution of an access keeps the memory of a GPU, where L2 keeps what it once held (`cached`) or not."""
    return _cached(moved, memory) if cached else _uncached(moved, memory)


def _cached(moved: Moved, memory: GpuMemory) -> Fraction:
    if moved.apart:
        return _uncached(moved, memory)
    return (moved.sectors * SECTOR / memory.l2 + moved.atomics) * memory.slowdown


def _uncached(moved: Moved, memory: GpuMemory) -> Fraction:
    # One access passes L2 and DRAM together; two accesses, or what an atomic operation fetches and what it writes, may be apart.
    first, then = (moved.fetched, moved.written) if moved.fetched else (moved.written, 0)
    l2, atomic = (cycles * memory.slowdown for cycles in (moved.sectors * SECTOR / memory.l2, Fraction(moved.atomics)))
    return max(l2, first / memory.dram) + then / memory.dram + atomic


def _rounded(cycles: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return tuple(Fraction(ceil(each * _GRAIN), _GRAIN) for each in cycles)


def memory_time(uncached: Fraction, cached: Fraction, blocks: int, memory: GpuMemory, allocated: int | None) -> Fraction:
    """Return for how long the accesses of `blocks` blocks keep the memory of a GPU, at most; the first two are what one block takes.

    `allocated` is how many bytes they may access: L2 fetches each once and writes it back once, where it keeps them all.
    """
    every = blocks * uncached
    if allocated is None or allocated > memory.capacity:
        return every
    return min(every, blocks * cached + Fraction(2 * allocated) / memory.dram)
