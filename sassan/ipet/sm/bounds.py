"""From optima over the paths of one warp to bounds of many: of the warps that are resident on an SM, and of the blocks of a grid.

docs/proofs/many-warps.md and docs/proofs/grid-bound.md prove what stands here; `optima` computes the optima. All is in cycles of the
cost model.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from sassan.ipet.sm.residency import Grid, Residents


@dataclass(frozen=True, slots=True)
class Optima:
    """Maxima over all paths of a warp: `isolated` is C + self_stall; the others are sums of the shares of that name.

    `barriers` says whether warps wait for each other at block barriers. `segment` is the largest C + self_stall from one block barrier to
    the next, `openings` how many block barriers a warp waits at; None where the barriers of a block may open in different orders for its
    warps. `relay` is the largest of warps of a block that take over from each other at barriers; None where that is not known.
    `block` is the sum over the warps of a block of the largest `scheduler_stall` of each, None where each has the same. `alone` is that
    of what each takes in turn with the others, and `engines` what engines of the SM work on beside them: docs/proofs/warps-with-roles.md.
    """

    isolated: Fraction
    scheduler_stall: Fraction
    sm_stall: Fraction
    barriers: bool = False
    segment: Fraction | None = None
    openings: int | None = None
    relay: Fraction | None = None
    block: Fraction | None = None
    alone: Fraction | None = None
    engines: Fraction = Fraction(0)
    cluster: int = 1
    """Blocks that wait for each other, each on an SM of its own."""
    line: int = 0
    """Blocks of the grid, where any may wait for any: while the others wait, one of them works. 0 where none waits for another one."""

    def stall(self, warps: int) -> Fraction:
        """The shares of all warps of a block, on each of the SMs on which a cluster waits."""
        alike = warps * self.scheduler_stall
        return self.cluster * (alike if self.block is None else min(alike, self.block))


def block_lifetime(optima: Optima, warps: int) -> Fraction:
    """The lifetime of a block of `warps` warps, without the cycles in which only warps of other blocks are in its way."""
    if not optima.barriers:
        return optima.isolated + min((warps - 1) * optima.scheduler_stall, optima.stall(warps))
    chains = [warps * optima.isolated if optima.alone is None else optima.alone + optima.engines]
    if optima.segment is not None and optima.openings is not None:
        chains.append((optima.openings + 1) * optima.segment + optima.stall(warps))
    if optima.relay is not None:
        chains.append(optima.relay + optima.stall(warps))
    if optima.cluster > 1:
        # A warp between two block barriers may wait for another block.
        chains = chains[:1]
    return optima.cluster * min(chains)


def resident_bound(optima: Optima, residents: Residents, schedulers: int = 1) -> int:
    """The bound for warps that start together on one SM; with `schedulers` above 1 in the partition model.

    Where blocks wait for each other wherever they are, that is the bound of all of them.
    """
    if optima.line:
        return floor(optima.line * (block_lifetime(optima, residents.block) + optima.stall(residents.block)))
    if optima.barriers:
        others = optima.cluster * (residents.warps - residents.block) * optima.scheduler_stall
        return floor(block_lifetime(optima, residents.block) + others)
    partition = residents.per_scheduler(schedulers)
    return floor(optima.isolated + (partition - 1) * optima.scheduler_stall + (residents.warps - partition) * optima.sm_stall)


@dataclass(frozen=True, slots=True)
class Terms:
    """The parts of the bound of a grid, in cycles: docs/proofs/grid-bound.md and docs/proofs/gpu-memory.md.

    `chain`: blocks that follow each other until the last dispatch; `sm`: what others on their SM take until then; `drain`: the time from
    there to the end; `memory`: what all blocks take of L2 and DRAM; `launch`: before the first instruction and behind the last one.
    """

    chain: Fraction
    sm: Fraction
    drain: Fraction
    memory: Fraction = Fraction(0)
    launch: Fraction = Fraction(0)

    @property
    def total(self) -> int:
        """The bound."""
        return floor(self.chain + self.sm + self.drain + self.memory + self.launch)


def grid_terms(optima: Optima, grid: Grid) -> Terms:
    """The parts of the bound for a whole grid on SMs alone, for every dispatcher that fills a free place at once."""
    lifetime, others = block_lifetime(optima, grid.block_warps), optima.stall(grid.block_warps)
    if optima.line:
        return Terms((optima.line - 1) * lifetime, (optima.line - 1) * others, lifetime + others)
    if grid.cluster > 1:
        return _cluster_terms(grid, lifetime, others)
    drain = lifetime + (min(grid.blocks, grid.places) - 1) * others
    if grid.blocks <= grid.sms * grid.places:
        return Terms(Fraction(0), Fraction(0), drain)
    before = (grid.blocks - 1) // grid.sms
    # k blocks follow each other before the last dispatch, 0 <= k <= before / places: the bound is linear in k.
    return max((Terms(k * lifetime, (before - k) * others, drain) for k in (0, before // grid.places)), key=lambda terms: terms.total)


def _cluster_terms(grid: Grid, lifetime: Fraction, others: Fraction) -> Terms:
    """The parts of the bound where blocks are launched in clusters; `lifetime` and `others` are those of a cluster."""
    drain = lifetime + (min(grid.blocks, grid.places) - 1) * others
    if grid.at_once:
        return Terms(Fraction(0), Fraction(0), drain)
    # Until the last cluster is dispatched, so many live at a time, and each delays those that share an SM with it.
    waves = Fraction(grid.clusters, grid.resident_clusters)
    return Terms(waves * lifetime, waves * others * (grid.places - 1), drain)


def grid_bound(optima: Optima, grid: Grid) -> int:
    """The bound for a whole grid on SMs alone."""
    return grid_terms(optima, grid).total
