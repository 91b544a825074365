"""The bounds of the warps that share an SM, and of the whole grid: over all paths, and if every warp takes the worst one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sassan.access.traffic import Moved, cycles_of
from sassan.alphabet import Letter
from sassan.assumptions import published
from sassan.errors import Gap
from sassan.ilp.programs import purpose
from sassan.ipet.sm.barriers import BlockBarriers
from sassan.ipet.sm.bounds import Optima, Terms, grid_terms, resident_bound
from sassan.ipet.sm.code import Fetched, fetched, nothing_fetched
from sassan.ipet.sm.gpu import GpuMemory, MemoryDemand, cold_start, demand, dispatched, filling, kept, memory_time, uncached
from sassan.ipet.sm.host import host_gap, of_host
from sassan.ipet.sm.optima import Bound, PathOptima, block_sum, path_optima
from sassan.ipet.sm.residency import Grid, Residents
from sassan.ipet.sm.shares import Interference, of_code, of_letters
from sassan.ipet.sm.tensor_memory import columns_gap
from sassan.ipet.wcet import Wcet, WcetProblem
from sassan.machine import Multiprocessor
from sassan.machine.occupancy import ALONE
from sassan.timing import Quantity
from sassan.timing.rates import code_of

_ANY_PATH = "all warps are resident from the start, each takes any path of its own"
_ALONE = "a block is dispatched to any SM as soon as one has a free place, and starts with all its warps; nothing else is on the GPU"
_AMONG_OTHERS = (
    "while blocks of any launch wait, the GPU gives one out, or one of them has space on no SM; a block starts with all its warps, which "
    "are spread evenly over the partitions of its SM, and keeps its place until it has ended"
)
_EVEN = published(
    "a block is dispatched to an SM with the most free resources, so that no SM holds two more than another "
    "(Gilman et al. 2020, on Pascal to Turing)"
)
_UNLIMITED = (
    "unlimited memory bandwidth: no access waits for L2 or DRAM beyond its latency; --gpu with --model table or control bounds that wait"
)
_SERVED = (
    "while an access waits for L2 or DRAM beyond its latency, that serves others at the bandwidth given; no sector is fetched twice for "
    "one access, none that is only stored, "
    "and what is stored is written back as soon as DRAM has nothing else to do"
)
_PAIRS = (
    "clusters of two blocks start at once where there are places for all: SMs come in pairs, "
    "and the blocks of a cluster go to one group of them"
)
_LINE = "a block waits here for a word that another block may write: how many blocks there are is unknown: --grid-dim"
_CLUSTERS = "blocks may be launched in clusters, whose blocks wait for places to start together: there is no bound of a grid"


@dataclass(frozen=True, slots=True)
class SmMakespan:
    """What `residents` take on one SM: `bound` over all paths; `worst_path`, in cycles, if every warp takes that one, None where unknown.

    `partition` is the bound in the partition model, `grid` that of the whole grid; None where they are not wanted.
    """

    residents: Residents
    bound: Bound
    worst_path: int | None = None
    partition: Bound | None = None
    grid: Bound | None = None
    terms: Terms | None = None
    """The parts of the bound of the grid, where there is one."""
    optima: Optima | None = None
    """What they are made of."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Why there is no bound of the warps or of the grid."""
        return (*self.bound.gaps, *(self.grid.gaps if self.grid is not None else ()))


@dataclass(frozen=True, slots=True)
class KernelProblem:
    """A kernel whose integer program is built: `letters` count those of each node of its graph."""

    problem: WcetProblem
    letters: tuple[Mapping[Letter, int], ...]
    barriers: BlockBarriers


def makespan(  # noqa: PLR0913 - all parts of one result
    kernel: KernelProblem,
    worst: Wcet,
    residents: Residents,
    machine: Multiprocessor,
    *,
    partition: bool = False,
    waiting: int | None = None,
    clock: str = "",
) -> SmMakespan:
    """The bounds of resident warps and of their grid; with `partition` in the partition model, too.

    Without the memory of the GPU, that of the grid holds for unlimited memory bandwidth. `waiting` is another bound of warps that all take
    the worst path, in cycles, None for none; `clock` is what a bound of the grid rests on as a time, '' where it is none.
    """
    code = _fetched(kernel, machine, residents.warps, residents.grid.beside if residents.grid is not None else None)
    shares = _shares(kernel, machine, code)
    cluster = _cluster(residents)
    whole = _with(code, path_optima(kernel.problem, shares, machine, kernel.barriers, block=residents.block, cluster=cluster))
    whole = _with_columns(whole, kernel, -(-residents.warps // residents.block))
    whole = _in_line(whole, kernel, residents.grid)
    further = (_ANY_PATH, *_evenly(residents))
    bound = whole.bound(lambda optima: resident_bound(optima, residents), *further)
    grid, terms, optima = _grid(kernel, machine, whole, code, residents.grid, clock=clock)
    return SmMakespan(
        residents,
        bound,
        _worst_path(kernel, worst, shares, residents, (bound.value, waiting)),
        _partition(kernel, residents, machine, code) if partition else None,
        grid,
        terms,
        optima,
    )


def _cluster(residents: Residents) -> int:
    """How many blocks wait for each other, 0 where that is not known."""
    return residents.grid.cluster if residents.grid is not None else 0


def _evenly(residents: Residents) -> tuple[str, ...]:
    """What is taken for granted where no more warps are bounded than a grid brings to an SM that could hold more."""
    grid = residents.grid
    fewer = grid is not None and grid.spread and residents.warps <= grid.places * grid.block_warps
    return (_EVEN,) if fewer else ()


def _fetched(kernel: KernelProblem, machine: Multiprocessor, warps: int, beside: int | None = None) -> Fetched:
    """What code takes that `warps` warps on an SM fetch again, with so many bytes of code of other kernels."""
    cfg = kernel.problem.cfg
    # Without latencies, instructions are counted, or were measured with all fetches.
    if kernel.problem.cost_model.tables is None:
        return nothing_fetched(cfg)
    return fetched(cfg, machine.arch, alone=warps == 1 and beside is None, beside=beside or 0)


def _with(code: Fetched, whole: PathOptima) -> PathOptima:
    return replace(whole, assumptions=(*whole.assumptions, *code.assumptions)) if code else whole


def _with_columns(whole: PathOptima, kernel: KernelProblem, blocks: int) -> PathOptima:
    """The optima where the tensor memory of so many blocks fits an SM, else none, and the gap."""
    gap = columns_gap(kernel.problem.cfg, blocks)
    return whole if gap is None else PathOptima(None, whole.assumptions, (*whole.gaps, gap))


def _in_line(whole: PathOptima, kernel: KernelProblem, grid: Grid | None) -> PathOptima:
    """The optima where the blocks of a grid wait for each other, if they do: none where it is not known how many there are."""
    if not kernel.barriers.outside or whole.optima is None:
        return whole
    if grid is None:
        gap = Gap(kernel.barriers.looks[0], "waits-for-blocks", _LINE)
        return PathOptima(None, whole.assumptions, (*whole.gaps, gap))
    return replace(whole, optima=replace(whole.optima, line=grid.blocks))


def _shares(kernel: KernelProblem, machine: Multiprocessor, code: Fetched, *, partition: bool = False) -> tuple[Interference, ...]:
    """The shares of each block of the SM: by letters where each instruction counts as one slot, else by the units of its opcodes."""
    if kernel.problem.cost_model.quantity is Quantity.INSTRUCTIONS:
        return tuple(of_letters(machine, counts, partition=partition) for counts in kernel.letters)
    busy = kernel.problem.traffic.cycles
    nodes = zip(kernel.problem.cfg.nodes, code.shares, strict=True)
    return tuple(of_code(machine, node.code, busy, partition=partition) + lines for node, lines in nodes)


def _block_share(kernel: KernelProblem, machine: Multiprocessor, code: Fetched, warps: int) -> Fraction | None:
    """The largest shares of all warps of a block, None where all warps are alike or nothing is proven."""
    problem = kernel.problem
    if not problem.traffic.warps and not problem.classes:
        return None
    with purpose("block"):
        return block_sum(problem, warps, lambda system, moved: _stalls(system, machine, code, cycles_of(moved)))


def _stalls(problem: WcetProblem, machine: Multiprocessor, code: Fetched, busy: Mapping[int, int]) -> list[Fraction]:
    nodes = zip(problem.cfg.nodes, code.shares, strict=True)
    return [(of_code(machine, node.code, busy) + lines).scheduler_stall for node, lines in nodes]


def _partition(kernel: KernelProblem, residents: Residents, machine: Multiprocessor, code: Fetched) -> Bound:
    shares = _shares(kernel, machine, code, partition=True)
    optima_of_part = path_optima(
        kernel.problem, shares, machine, kernel.barriers, block=residents.block, cluster=_cluster(residents), partition=True
    )
    return _in_line(_with(code, optima_of_part), kernel, residents.grid).bound(
        lambda optima: resident_bound(optima, residents, machine.schedulers), _ANY_PATH, *_evenly(residents)
    )


def _grid(  # noqa: PLR0913 - all that a bound rests on
    kernel: KernelProblem, machine: Multiprocessor, whole: PathOptima, code: Fetched, grid: Grid | None, *, clock: str
) -> tuple[Bound | None, Terms | None, Optima | None]:
    if grid is None:
        return None, None, None
    if code and grid.places * grid.block_warps == 1 and grid.beside is None:
        # One warp is on an SM, however many it could hold.
        code = _fetched(kernel, machine, 1)
        whole = _with(
            code,
            path_optima(
                kernel.problem, _shares(kernel, machine, code), machine, kernel.barriers, block=grid.block_warps, cluster=grid.cluster
            ),
        )
    whole = _in_line(_with_columns(whole, kernel, grid.places), kernel, grid)
    memory, terms, optima = grid.memory, None, None
    placeless = grid.cluster != 1 and not grid.at_once and not grid.resident_clusters
    if whole.optima is not None and not placeless:
        optima = replace(whole.optima, block=_block_share(kernel, machine, code, grid.block_warps))
        terms = grid_terms(optima, grid)
    gaps = list(whole.gaps)
    if placeless:
        gaps.append(Gap(kernel.problem.cfg.function.entry, "cluster-launch", _CLUSTERS))
    gaps += host_gap(kernel.problem, grid)
    if memory is None:
        moved: tuple[str, ...] = (_UNLIMITED,)
    else:
        moved = (*memory.assumptions, _SERVED, *filling(kernel.problem.traffic), *_accessed(grid, memory), *of_host(grid))
        gaps += kernel.problem.traffic.gaps
        terms = _with_memory(kernel, terms, code, grid, memory) if terms is not None else None
        if terms is None and not gaps:
            gaps.append(_unproven(kernel))
    if gaps:
        terms = None
    occupancy = grid.occupancy.assumptions if grid.occupancy is not None else ()
    even = (_EVEN,) if grid.spread else ()
    timed = (*_placed(grid), *((clock,) if clock and terms is not None else ()))
    if grid.beside is not None:
        occupancy = tuple(text for text in occupancy if text != ALONE)
    assumptions = (*whole.assumptions, _ALONE if grid.beside is None else _AMONG_OTHERS, *even, *moved, *occupancy, *timed)
    return Bound(terms.total if terms is not None else None, assumptions, tuple(gaps)), terms, optima


def _placed(grid: Grid) -> tuple[str, ...]:
    """What is taken for granted of the places of clusters."""
    if grid.cluster <= 1:
        return ()
    groups = (
        f"SMs are in {grid.groups} groups at most, and a cluster of {grid.cluster} blocks waits only while each of them has fewer than "
        f"{grid.cluster} SMs with a free place"
    )
    return (_PAIRS,) if grid.pairs else (groups,)


def _accessed(grid: Grid, memory: GpuMemory) -> tuple[str, ...]:
    """What is taken for granted where L2 keeps all that a grid accesses."""
    if grid.allocated is None or grid.allocated > memory.capacity:
        return ()
    return (f"the kernel accesses the {grid.allocated} bytes of the buffers that its arguments point to, no others, and L2 keeps them",)


def _with_memory(kernel: KernelProblem, terms: Terms, fetched_again: Fetched, grid: Grid, memory: GpuMemory) -> Terms | None:
    """The parts of the bound of a grid with those of the GPU's memory, None where no optimum is proven."""
    problem = kernel.problem
    code = [node.code for node in problem.cfg.nodes]

    def taken(moved: Mapping[int, Moved]) -> MemoryDemand:
        beyond = uncached(moved) if grid.pinned else kept(code, moved, memory, grid.resident)
        return demand(code, beyond, memory, fetched_again.bytes)

    with purpose("uncached"):
        missed = block_sum(problem, grid.block_warps, lambda _, moved: taken(moved).uncached)
    with purpose("cached"):
        cached = block_sum(problem, grid.block_warps, lambda _, moved: taken(moved).cached)
    if missed is None or cached is None:
        return None
    cold = cold_start(code_of(problem.cfg), problem.traffic, memory, grid.paged)
    time = memory_time(missed, cached, grid.blocks, memory, grid.allocated)
    chain, sm, drain = (each * memory.slowdown for each in (terms.chain, terms.sm, terms.drain))
    return Terms(chain, sm, drain, time, memory.launch + cold * memory.slowdown + dispatched(grid.blocks, memory))


def _unproven(kernel: KernelProblem) -> Gap:
    return Gap(kernel.problem.cfg.function.entry, "no-proof", "the solver proved no optimum of what a warp takes of memory")


def _worst_path(
    kernel: KernelProblem, worst: Wcet, shares: Sequence[Interference], residents: Residents, others: tuple[int | None, int | None]
) -> int | None:
    """The bound if every warp takes the worst path, which is one of all; None where no path is known.

    `others` bound it too: the bound of all paths, without which there is none, and that by waiting slots.
    """
    bound, waiting = others
    if worst.value is None or worst.path is None or bound is None or kernel.barriers.outside:
        return None
    counts = zip(kernel.problem.cfg.edges, worst.counts, strict=True)
    share = sum((shares[edge.src] * count for edge, count in counts if count), Interference())
    least = min(bound, path_bound(worst.value, share, residents, barriers=bool(kernel.barriers)))
    return least if waiting is None else min(least, waiting)


def path_bound(cost: int, share: Interference, residents: Residents, *, barriers: bool) -> int:
    """The bound if every warp takes the one path with this isolated cost and share of the SM: no bound of the kernel."""
    return resident_bound(Optima(cost + share.self_stall, share.scheduler_stall, share.sm_stall, barriers), residents)
