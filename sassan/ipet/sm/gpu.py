"""What the blocks of a grid take of what all SMs share: DRAM, L2 and its atomic units (docs/proofs/gpu-memory.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sassan.access.traffic import Moved, Traffic
from sassan.access.transactions import LINE
from sassan.ir import Instruction
from sassan.machine.memory_pipeline import SECTOR
from sassan.products import Product
from sassan.timing.latencies import Latencies

_NOTHING = Moved()
_L2_PER_SM = 16
"""Bytes per cycle and SM of an L2 without a measurement: the least of those that were (V100: 19, A100: 34)."""
_HALF = 2
"""Partitions of L2: an A100 keeps a line in both."""
_ATOMIC = 2
"""Cycles of an SM for which an atomic operation keeps its address, at most."""
_KIB = 1024
_MISS = 1000
"""Cycles of a miss where no publication has the latency of DRAM."""
_FIRST = 4
"""Lines of code that are missed one after the other, until those that follow are prefetched."""
_PREFETCHED = 32
"""Cycles between two lines of code that are prefetched."""
_COLD = (
    f"cold start: the first {_FIRST} lines of code, the parameters, and what each memory instruction accesses first (or "
    f"the pages of the buffers, where those are fewer) miss all caches once, one after the other; "
    f"further lines of code are prefetched, one in {_PREFETCHED} cycles"
)
_FILLED = (
    "a sector of 32 bytes of which a store, or those of a straight piece of code together, write every byte is not fetched; any other is "
    "fetched, filled and written back"
)
_CODE = 32 * _KIB
"""Bytes of code that every SM is taken to keep: assumed, no publication says it of all."""
_PAGE = 2 * _KIB * _KIB
"""Bytes of a page of device memory."""
_GRAIN = 64
"""Parts of a cycle up to which costs are rounded, so that the solver gets small numbers."""


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """The memory of a GPU, in cycles of its SMs.

    `dram` and `l2` are the bytes per cycle that it moves at least while an access waits for it; `capacity` is how many bytes L2 keeps.
    `atomic` is how long L2 takes for an operation on one address. `launch` is the time from the start of a launch to its first
    instruction and from its last one to the end; `dispatch` how long it takes at most to give a block to any SM. `miss` is the latency
    of DRAM. The SMs, L2 and its atomic units do the work of one cycle in `slowdown` cycles. `assumptions` describe the figures.
    """

    dram: Fraction
    l2: Fraction
    capacity: int
    atomic: int
    launch: int
    miss: int
    slowdown: Fraction = Fraction(1)
    dispatch: Fraction = Fraction(0)
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Demand:
    """What the nodes of a graph take of a GPU, in cycles, each once.

    `uncached` where every access goes to DRAM, `cached` where L2 keeps what it once held.
    """

    uncached: tuple[Fraction, ...]
    cached: tuple[Fraction, ...]


def memory_of(product: Product) -> GpuMemory:
    """Return the memory of a product, in cycles at its boost clock; what no publication gives is assumed, and said."""
    dram = product.dram_bytes_per_cycle * Fraction(str(product.dram_efficiency))
    l2 = Fraction(product.l2_bytes_per_cycle or _L2_PER_SM * product.sms)
    capacity = (product.l2_size or 0) * _KIB // _HALF
    figures = (
        f"{product.name}: {product.sms} SMs at {product.boost_clock} MHz, {product.launch_us:g} us per launch; "
        f"DRAM moves {product.dram_efficiency:.0%} of {product.dram_bandwidth:g} GB/s, {float(dram):.0f} bytes a cycle; "
        f"L2 moves {float(l2):.0f} bytes a cycle{'' if product.l2_bytes_per_cycle else ' (assumed)'}, keeps {capacity // _KIB} KiB, "
        f"and takes {_ATOMIC} cycles per atomic operation on one address"
    )
    miss = Latencies(product.architecture, {}).cycles("global") or _MISS
    dispatch = Fraction(str(product.block_cycles)) / product.sms
    assumptions = (
        figures,
        *_kept(product),
        f"while blocks wait, each SM with a free place gets one in {product.block_cycles:g} cycles",
        _COLD,
    )
    return GpuMemory(dram, l2, capacity, _ATOMIC, product.launch_cycles, miss, product.slowdown, dispatch, assumptions)


def _kept(product: Product) -> tuple[str, ...]:
    """Return at which clock the SMs run at least, where it is not the boost clock."""
    return (
        ()
        if product.slowdown == 1
        else (f"{product.name}: the SMs run at {product.kept_clock} MHz or more; cycles are those of {product.boost_clock} MHz",)
    )


def cold_start(code: Sequence[Instruction], traffic: Traffic, memory: GpuMemory, buffers: Sequence[int] | None = None) -> int:
    """Return the cycles of the misses of a launch that finds nothing in caches: lines of code, the parameters, pages of accesses.

    `buffers` are the bytes of those that the accesses touch, None where unknown.
    """
    lines = len({instruction.address // LINE for instruction in code})
    first = min(lines, _FIRST)
    accesses = [moved for moved in traffic.moved.values() if moved.sectors]
    pages = len(accesses)
    if buffers is not None:
        # A buffer begins anywhere in a page; what no argument points to is in none of them.
        pages = min(pages, sum(-(-size // _PAGE) + 1 for size in buffers) + sum(moved.apart for moved in accesses))
    return memory.miss * (first + 1 + pages) + _PREFETCHED * (lines - first)


def dispatched(blocks: int, memory: GpuMemory) -> Fraction:
    """Return for how long the GPU gives out the blocks of a grid."""
    return blocks * memory.dispatch * memory.slowdown


def filling(traffic: Traffic) -> tuple[str, ...]:
    """Return what is taken for granted of stores, nothing where there are none."""
    return (_FILLED,) if any(moved.written and not moved.atomics for moved in traffic.moved.values()) else ()


def fetching(code: Sequence[Instruction]) -> tuple[str, ...]:
    """Return what is taken for granted of fetching code that the instruction cache of an SM does not keep; nothing where it keeps all."""
    size = LINE * len({instruction.address // LINE for instruction in code})
    if size <= _CODE:
        return ()
    amounts = f"{-(-size // _KIB)} KiB of code, of which an SM keeps {_CODE // _KIB}"
    return (f"{amounts}: behind its first execution an instruction is there when it may issue",)


def kept(nodes: Iterable[Iterable[Instruction]], moved: Mapping[int, Moved], memory: GpuMemory, warps: int) -> dict[int, Moved]:
    """Return what instructions move where `warps` warps are on the GPU at a time.

    L2 keeps what they access in a straight piece of code until that is done, if the pieces of all of them fit, and is taken to lose it
    otherwise.
    """
    out = dict(moved)
    for node in nodes:
        piece = [at for at in dict.fromkeys(instruction.address for instruction in node) if at in moved]
        if sum(moved[at].held for at in piece) * warps > memory.capacity:
            out |= {at: moved[at].lost for at in piece}
    return out


def demand(nodes: Iterable[Iterable[Instruction]], moved: Mapping[int, Moved], memory: GpuMemory) -> Demand:
    """Return what the nodes of a graph take, given as the instructions of each; `moved` by the address of an instruction."""
    of_nodes = [[moved.get(instruction.address, _NOTHING) for instruction in node] for node in nodes]
    uncached, cached = ([sum((time(each, memory) for each in node), Fraction(0)) for node in of_nodes] for time in (_uncached, _cached))
    return Demand(_rounded(uncached), _rounded(cached))


def access_time(moved: Moved, memory: GpuMemory, *, cached: bool) -> Fraction:
    """Return for how long one execution of an access keeps the memory of a GPU, where L2 keeps what it once held (`cached`) or not."""
    return _cached(moved, memory) if cached else _uncached(moved, memory)


def _cached(moved: Moved, memory: GpuMemory) -> Fraction:
    if moved.apart:
        return _uncached(moved, memory)
    return (moved.sectors * SECTOR / memory.l2 + moved.atomics * memory.atomic) * memory.slowdown


def _uncached(moved: Moved, memory: GpuMemory) -> Fraction:
    # One access passes L2 and DRAM together; two accesses, or what an atomic operation fetches and what it writes, may be apart.
    first, then = (moved.fetched, moved.written) if moved.fetched else (moved.written, 0)
    l2, atomic = (cycles * memory.slowdown for cycles in (moved.sectors * SECTOR / memory.l2, moved.atomics * memory.atomic))
    return max(l2, first / memory.dram) + then / memory.dram + atomic


def _rounded(cycles: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return tuple(Fraction(ceil(each * _GRAIN), _GRAIN) for each in cycles)


def memory_time(uncached: Fraction, cached: Fraction, blocks: int, memory: GpuMemory, allocated: int | None) -> Fraction:
    """Return for how long the accesses of `blocks` blocks keep the memory of a GPU, at most; the first two are what one block takes.

    `allocated` is how many bytes they may touch: L2 fetches each once and writes it back once, where it keeps them all.
    """
    every = blocks * uncached
    if allocated is None or allocated > memory.capacity:
        return every
    return min(every, blocks * cached + Fraction(2 * allocated) / memory.dram)
