"""The estimate of a launch: one SM is simulated, and the rest of the grid follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

import numpy as np

from sassan.access.access import Access
from sassan.access.opcodes import MemorySpace
from sassan.access.transactions import HALF, LINE, SECTOR
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.answer import LaunchEstimate, StallShare
from sassan.estimate.demand import Demands, LaunchMemory
from sassan.estimate.figures import Usual
from sassan.estimate.path import PathSource, Visits, Weighted, shortest, visits
from sassan.estimate.policy import Policy
from sassan.estimate.program import TICK, SimulatedRun, Sm, Stall, WarpProgram
from sassan.estimate.roles.traced_block import TracedBlock
from sassan.estimate.sampled_launch import SampledLaunch
from sassan.estimate.simulate import simulate
from sassan.estimate.timeline import timeline
from sassan.estimate.traffic import Expected, copied, expected
from sassan.estimate.watch import Key
from sassan.estimate.work import ResourceWork
from sassan.ipet.sm.gpu import memory_of
from sassan.ipet.sm.residency import Grid
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.products import Product
from sassan.warpcfg.graph import WarpCfg

_ISSUES = 500_000
"""Instructions that are simulated at most, about: the others are extrapolated."""
_VISITED = 2_000
"""Instructions of a warp that are simulated at least, where it has so many."""
_WAVES = 3
"""Waves of blocks that are simulated at least, where there are so many."""
_AGAIN = 0.5
"""The part of what a warp reads again through one pointer that DRAM gives again."""
_BINDS = 0.6
"""A resource that is busy for less of the time in which warps run than this does not bind."""
_SHOWN = 0.001
"""Shares of stalls below this are omitted."""
_LATENCIES = (Stall.WAIT, Stall.BRANCH_RESOLVING, Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD, Stall.MEMBAR)
HOST = "host"
"""The link to memory of the host, where a launch uses it."""
_UNCACHED = "no cache of the GPU keeps pinned memory of the host, which is DRAM of the chip: each access goes there"
_KILO = 1000
WAITS = ("latency", "barrier", "tail", "launch")
"""Shares of the time in which warps wait; the others are those of resources that work."""
_NAMED = 4
"""Blocks of code that an assumption names."""
LONGEST = "blocks of the launch take different paths, and it takes as long as the longest one that was run"
LEADING = "warps of a block take different paths, and blocks take as long as their longest warps do without the others"
ALONE = "warps of the launch take different paths, and it takes as long as the longest one that was run"
_ALIKE = "every warp takes the same path, and each block of it as often as a warp does on average"
_GUESSES = (
    "transactions where addresses are not known, hits of caches, and usual latencies are guesses, and numbers of which nothing is known "
    "are neither very large nor very small (docs/developer/design/estimate.md)"
)


@dataclass(frozen=True, slots=True)
class LongerPath:
    """A path that some blocks or warps take, longer than that of all: the launch takes no less time than this part of it, `grid`, does."""

    path: Weighted
    grid: Grid
    assumption: str


@dataclass(frozen=True, slots=True)
class EstimatedKernel:
    """The graph of a kernel with its accesses, the expected path with its source, the longest one, and what warps did that were run.

    `assumed` are nodes whose executions nothing counts. `longer` are paths of blocks and warps that take longer than others. `traced`:
    warps of a block, where each has a path of its own; what of `path` is not theirs is extrapolated. `called`: cycles of functions that
    the input does not hold, by the addresses of their calls.
    """

    cfg: WarpCfg
    accesses: Sequence[Access]
    path: Weighted
    source: PathSource
    longest: Weighted
    sampled: SampledLaunch | None = None
    assumed: frozenset[int] = frozenset()
    longer: tuple[LongerPath, ...] = ()
    traced: TracedBlock | None = None
    called: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def sizes(self) -> list[int]:
        """Return the instructions of each node."""
        return [len(node.code) for node in self.cfg.nodes]

    @property
    def accessed(self) -> Mapping[Key, AverageAccess]:
        """Return what accesses did where warps were run."""
        return self.sampled.accessed if self.sampled is not None else {}

    def fetched(self, walked: Visits) -> int:
        """Return the lines of code of a path: none is in a cache of an SM when a launch begins."""
        return len({each.address // LINE for node in set(walked.nodes) for each in self.cfg.nodes[node].code})

    def beyond(self, walked: Visits) -> float:
        """Return how many times the instructions that are simulated a block executes, where each warp has a path of its own."""
        if self.traced is None:
            return 1.0
        sizes = np.array(self.sizes, np.float64)
        every = self.traced.every if self.traced.every is not None else len(self.traced.traces) * np.array(walked.counts(len(sizes)))
        return max(1.0, float(sizes @ every) / float(sizes @ self.traced.executions(len(sizes))))

    @property
    def hosted(self) -> tuple[float, float]:
        """Return how many bytes of memory of the host all blocks read, and write."""
        return self.sampled.hosted if self.sampled is not None else (0.0, 0.0)

    def uncached(self, walked: Visits, moved: Mapping[int, Expected]) -> tuple[float, float]:
        """Return how many bytes of memory of the host a warp reads, and writes, where each access goes to DRAM."""
        executions, of_host = self._executions(walked), self.sampled.of_host if self.sampled is not None else ()
        some = [access for access in self.accesses if access.address in of_host and access.address in moved]
        sizes = [(access.opcode.startswith("ST"), executions.get(access.address, 0.0) * moved[access.address].bytes) for access in some]
        return sum(size for stored, size in sizes if not stored), sum(size for stored, size in sizes if stored)

    def slower(self, row: float, at_once: int, scattered: float) -> float:
        """Return how many times as long DRAM takes as for long pieces of memory, where a `row` is opened for each piece.

        Where `at_once` blocks are a row of the grid or more, those of the next one run beside them, and may go on where they end. DRAM
        gives half a line for each sector of the bytes that are `scattered` over memory.
        """
        if self.sampled is None or not (moved := sum(self.sampled.footprint) + scattered):
            return 1.0
        row_of_grid = self.sampled.across <= at_once
        several = zip(self.sampled.footprint, self.sampled.pieces, strict=True)
        regular = sum(size * (1.0 if row_of_grid else max(1.0, row / piece)) for size, piece in several)
        return (regular + scattered * HALF / SECTOR) / moved

    def _executions(self, walked: Visits) -> Mapping[int, float]:
        """Return how often a warp executes each instruction, by address."""
        executions: dict[int, float] = {}
        for node, count in zip(self.cfg.nodes, walked.counts(len(self.cfg.nodes)), strict=True):
            for each in node.code:
                executions[each.address] = executions.get(each.address, 0.0) + count
        return executions

    def scattered(self, walked: Visits, moved: Mapping[int, Expected], memory: LaunchMemory) -> float:
        """Return the bytes of a warp at random addresses that DRAM gives: L2 holds what fits it of where they lie."""
        executions = self._executions(walked)
        random = {address: each.span for (address, _), each in self.accessed.items() if each.random}
        return sum(memory.beyond(random[each]) * executions[each] * moved[each].bytes for each in random.keys() & moved.keys())

    def missed(  # noqa: PLR0913, PLR0917 - what warps ask for, and what DRAM gives of it
        self,
        walked: Visits,
        moved: Mapping[int, Expected],
        memory: LaunchMemory,
        warps: int,
        fills: float,
        scattered: float,
        uncached: tuple[float, float] = (0.0, 0.0),
    ) -> float:
        """Return which part of what warps request of L2 comes from DRAM, which gives `fills` of the sectors that are stored in part.

        `uncached` are bytes that a warp reads and writes of memory that no cache keeps.

        Half of what a warp reads again through one pointer, or through those that are not known, is a guess where no addresses are known.
        Copies by tensor maps move each byte of a tensor once.
        """
        executions = self._executions(walked)
        known = {address for (address, _), each in self.accessed.items() if not each.drawn}
        copies = self.traced.matched.copies if self.traced is not None else {}
        pointers: dict[tuple[str, int], list[tuple[float, float]]] = {}
        tensors: dict[frozenset[tuple[int, int]], float] = {}
        requested = 0.0
        for access in self.accesses:
            # A copy by warps is an access of shared memory, too: its bytes are those of the other one.
            if access.space is MemorySpace.SHARED:
                continue
            if (size := moved[access.address].bytes) and (count := executions.get(access.address, 0.0)):
                requested += count * size
                alone = 0 if access.opcode.startswith("LD") else access.address
                if access.address in copies and (sources := copies[access.address].tensors):
                    tensors[sources] = tensors.get(sources, 0.0) + count * size
                elif access.address not in known:
                    pointers.setdefault((access.base, alone), []).append((count, size))
        fetched = 0.0
        for (_, alone), several in pointers.items():
            times, some = sum(count for count, _ in several), sum(count * size for count, size in several)
            fetched += some * (1 + (max(times, 1.0) - 1) * _AGAIN) / max(times, 1.0) if not alone else some
        most = float("inf") if memory.allocated is None else memory.allocated
        reads, writes = self.sampled.footprint if self.sampled is not None else (0.0, 0.0)
        copied_once = sum(min(size * warps, sum(bytes_of for _, bytes_of in sources)) for sources, size in tensors.items())
        accessed = min(reads + fetched * warps, most) + scattered + copied_once, min(writes, most)
        filled = fills * self.sampled.parts * accessed[1] if self.sampled is not None else 0.0
        missed = memory.missed(requested * warps, accessed, filled)
        return min(max(1.0, missed), missed + sum(uncached) / requested) if requested else missed


def estimate(kernel: EstimatedKernel, usual: Usual, gpu: Product, grid: Grid, *, policy: Policy = Policy.OLDEST) -> LaunchEstimate:
    """Return the estimate of a launch, no shorter than its longest parts; every instruction has a control code and a time."""
    whole = _estimate(kernel, usual, gpu, grid, policy)
    parts = [_part(kernel, each, usual, gpu, policy) for each in kernel.longer]
    return max((whole, *parts), key=lambda each: each.cycles)


def _part(kernel: EstimatedKernel, longer: LongerPath, usual: Usual, gpu: Product, policy: Policy) -> LaunchEstimate:
    part = _estimate(replace(kernel, path=longer.path, longer=()), usual, gpu, longer.grid, policy)
    return replace(part, assumptions=(*part.assumptions, longer.assumption))


def _estimate(kernel: EstimatedKernel, usual: Usual, gpu: Product, grid: Grid, policy: Policy) -> LaunchEstimate:
    on_sm, sizes = _OnSm(ceil(grid.blocks / gpu.sms), grid), kernel.sizes
    walked = visits(kernel.path, sizes, max(_VISITED, _ISSUES // (on_sm.fewest * grid.block_warps)))
    pipeline = memory_pipeline(usual.rates.machine.arch)
    moved = expected(kernel.accesses, [node.code for node in kernel.cfg.nodes], pipeline, kernel.accessed)
    if kernel.traced is not None:
        moved = {**moved, **copied(kernel.traced.matched.copies, usual.figures)}
    memory = LaunchMemory(memory_of(gpu) if usual.l2_rate is None else memory_of(gpu, Fraction(usual.l2_rate)), grid.allocated)
    warps = grid.blocks * grid.block_warps
    scattered = kernel.scattered(walked, moved, memory) * warps
    uncached = kernel.uncached(walked, moved) if gpu.integrated else (0.0, 0.0)
    missed = kernel.missed(walked, moved, memory, warps, usual.fills, scattered, uncached)
    slower = kernel.slower(usual.figures.row, gpu.sms * on_sm.places, scattered)
    share = memory.share(grid.blocks, on_sm.blocks, missed, slower)
    demands = Demands(kernel.cfg, usual, moved, share, kernel.traced, kernel.called)
    program = demands.program(walked)
    length = sum(sizes[node] for node in walked.nodes) if kernel.traced is None else int(np.take(sizes, program.nodes).mean())
    run, simulated = on_sm.run(program, usual, length, policy=policy)
    work = ResourceWork(program, tuple(demands.pools), usual.rates.machine.schedulers)
    if kernel.traced is None:
        simulated -= max(0.0, run.cycles - work.at_most(walked, len(run.dispatched) * grid.block_warps, run))
    else:
        simulated *= kernel.beyond(walked)
    warps = on_sm.blocks * grid.block_warps
    # What is simulated may end before its stores have left the queues; and an SM gets its blocks one after the other.
    linked = max(kernel.hosted) * gpu.boost_clock / (_KILO * usual.link) if usual.link else 0.0
    cycles = max(simulated, *work.shares(walked, warps).values(), on_sm.blocks * gpu.block_cycles, linked)
    total = cycles + kernel.fetched(walked) * usual.figures.fetch + gpu.launch_cycles * usual.figures.launch
    part = cycles / total
    # How long engines take until what they do is seen is assumed, and so are the waits for them.
    doubtful = run.assumed + (run.stalls[:, Stall.BARRIER] if kernel.traced is not None else 0.0)
    uncounted = run.stalls.sum(axis=1) * np.repeat([node in kernel.assumed for node in range(len(sizes))], sizes)
    balance = grid.blocks / (gpu.sms * on_sm.blocks)
    shares = work.shares(walked, warps / total, balance) | _waits(run, on_sm.places, part, balance)
    shares |= {HOST: linked / total} if linked else {}
    return LaunchEstimate(
        cycles=total,
        us=gpu.us(total),
        gpu=gpu.name,
        bound_by=work.named(_binding(shares), walked),
        shares=shares,
        occupancy=run.resident / run.cycles / usual.rates.machine.warps,
        rows={
            "total": work.row(walked),
            "shortest": work.row(shortest(kernel.cfg)),
            "longest": work.row(visits(kernel.longest, sizes, _VISITED)),
        },
        stalls=_stalls(kernel.cfg, run),
        assumed=1 - part + part * float(np.maximum(doubtful, uncounted).sum() / run.stalls.sum()),
        source=kernel.source,
        assumptions=(
            *memory.assumptions(share),
            *_linked(kernel, usual),
            *((_UNCACHED,) if sum(uncached) else ()),
            *_counts(kernel, float(uncounted.sum() / run.stalls.sum())),
            *_assumptions(kernel),
        ),
        timeline=timeline(run, program, tuple(demands.pools), usual.rates.machine.schedulers),
    )


def _assumptions(kernel: EstimatedKernel) -> tuple[str, ...]:
    """Return what is taken for granted of the paths of warps, and of what is not known of hardware."""
    return (*((_ALIKE,) if kernel.traced is None else kernel.traced.assumptions), _GUESSES)


def _linked(kernel: EstimatedKernel, usual: Usual) -> tuple[str, ...]:
    """Return what is taken for granted of the link to memory of the host, nothing where it is not used."""
    reads, writes = kernel.hosted
    if not usual.link or not reads + writes:
        return ()
    return (f"{reads:.0f} bytes come from memory of the host, {writes:.0f} go there, at {usual.link:g} GB/s either way: each once",)


def _counts(kernel: EstimatedKernel, share: float) -> tuple[str, ...]:
    """Return what is taken for granted of the executions; `share` of the time of warps."""
    if not share:
        return ()
    first = ", ".join(f"0x{start:04x}" for start in sorted({kernel.cfg.nodes[node].start for node in kernel.assumed})[:_NAMED])
    more = ", ..." if len(kernel.assumed) > _NAMED else ""
    return (f"{share:.0%} of the time of warps is spent in code whose executions are not counted: at {first}{more}",)


@dataclass(frozen=True, slots=True)
class _OnSm:
    """The blocks of the SM that runs the most of a grid."""

    blocks: int
    grid: Grid

    @property
    def places(self) -> int:
        """Return how many of them it runs at once."""
        return min(self.grid.places, self.blocks)

    @property
    def fewest(self) -> int:
        """Return how many of them are simulated at least."""
        return min(self.blocks, _WAVES * self.places + 1)

    def run(self, program: WarpProgram, usual: Usual, length: int, *, policy: Policy) -> tuple[SimulatedRun, float]:
        """Return a run of some of them, and the cycles of all; `length`: simulated instructions of a warp."""
        simulated = self.blocks
        if self.blocks * self.grid.block_warps * length > _ISSUES:
            simulated = self.fewest + (self.blocks - self.fewest) % self.places
        sm = Sm(
            schedulers=usual.rates.machine.schedulers,
            places=self.places,
            block_warps=self.grid.block_warps,
            blocks=simulated,
            dispatch=round(usual.figures.dispatch),
            release=round(usual.figures.release),
            backlog=round(usual.figures.backlog * TICK),
            policy=policy,
            phase=round(usual.figures.phase),
        )
        run = simulate(program, sm)
        if simulated == self.blocks:
            return run, run.cycles
        # The others take as long as the last ones that were followed by others.
        wave = float(run.dispatched[simulated - 1] - run.dispatched[simulated - 1 - self.places])
        return run, run.cycles + wave / self.places * (self.blocks - simulated)


def _waits(run: SimulatedRun, places: int, part: float, balance: float) -> dict[str, float]:
    """Return the shares of the time in which warps wait; `part` is that of the time in which they run, on `balance` of the SMs."""
    every = float(run.stalls.sum()) / balance
    return {
        "latency": part * float(run.stalls[:, list(_LATENCIES)].sum()) / every,
        "barrier": part * float(run.stalls[:, Stall.BARRIER].sum()) / every,
        "tail": part * (1 - balance * (1 - run.tail / places / run.cycles)),
        "launch": 1 - part,
    }


def _binding(shares: Mapping[str, float]) -> str:
    """Return what binds: the resource that is busiest, or, where none is busy, what warps wait for most."""
    busy = max((name for name in shares if name not in WAITS), key=lambda name: shares[name])
    launch = shares["launch"]
    return busy if shares[busy] >= max(_BINDS * (1 - launch), launch) else max(WAITS, key=lambda name: shares[name])


def _stalls(cfg: WarpCfg, run: SimulatedRun) -> tuple[StallShare, ...]:
    """Return the shares of all cycles of warps, by address and reason; an instruction in several contexts has one."""
    shares = run.stalls / float(run.stalls.sum())
    every: dict[tuple[int, Stall], float] = {}
    addresses = [instruction.address for node in cfg.nodes for instruction in node.code]
    rows, columns = np.nonzero(shares > 0)
    reasons = list(Stall)
    for row, column, share in zip(rows.tolist(), columns.tolist(), shares[rows, columns].tolist(), strict=True):
        where = addresses[row], reasons[column]
        every[where] = every.get(where, 0.0) + share
    return tuple(StallShare(address, stall, share) for (address, stall), share in sorted(every.items()) if share >= _SHOWN)
