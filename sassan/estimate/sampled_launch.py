"""What warps that were run say of a launch: how often a warp visits each node, and what each access accesses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from sassan.errors import SassanError
from sassan.estimate.accesses.averages import AverageAccess, average_accesses
from sassan.estimate.accesses.footprint import footprint, parts, pinned
from sassan.estimate.accesses.pieces import pieces
from sassan.estimate.arguments import with_numbers
from sassan.estimate.counted import NOTHING, Counted, counted, trips
from sassan.estimate.needed import numbers_needed, pointers_decide
from sassan.estimate.warps import run, sample
from sassan.estimate.watch import Key
from sassan.ir import Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import ParameterLocation
from sassan.simt.values import LANES
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class SampledLaunch:
    """`counted`: how often warps visit each node; `accessed`: averages by access; `footprint`: bytes that all blocks read, and write.

    The footprint leaves out accesses at drawn addresses. `parts`: of the sectors that a block writes, those that L2 has to fetch for it.
    """

    counted: Counted
    accessed: Mapping[Key, AverageAccess]
    footprint: tuple[float, float]
    parts: float = 0.0
    pieces: tuple[float, float] = (inf, inf)
    """Bytes that follow each other where neighbouring blocks read, and write; infinite where each goes on where others end."""
    across: int = 1
    """Blocks of a row of the grid, which begin one after the other."""
    hosted: tuple[float, float] = (0.0, 0.0)
    """Bytes of memory of the host that all blocks read, and write; the footprint leaves them out."""
    of_host: frozenset[int] = frozenset()
    """Addresses of the instructions that access memory which stays in that of the host."""
    assumed: tuple[ParameterLocation, ...] = ()
    """Parameters that are not given, and were assumed."""


def sampled_launch(  # noqa: PLR0913, PLR0917 - a launch and what is known of it
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launch: LaunchConfiguration,
    worst: Sequence[int],
    kept: float,
    expected: Mapping[int, int] = NOTHING,
) -> SampledLaunch | None:
    """Return what warps of a launch do; `worst`: how often the longest path takes each edge; `kept`: sectors of a warp that L1 keeps.

    `expected` is that of `counted`.

    None where the machine has no rule for an instruction. Numbers among the arguments that are not known, and that decide a branch or an
    address, are assumed; not where there are loops and none has an expectation: facts say more of such a launch than an assumed number.
    """
    block, grid = launch.block, launch.grid
    if block is None or grid is None:
        return None
    missing = numbers_needed(cfg, facts_of, launch)
    if missing and cfg.loops and not expected:
        return None
    launch = replace(with_numbers(launch, missing), contents=launch.initial or launch.contents)
    chosen = sample(block, grid)
    # An expectation is not a fact: it does not say how many iterations may be leapt over.
    most = tuple(0 if loop in expected else count for loop, count in enumerate(trips(cfg, worst)))
    try:
        watch, done = run(cfg, facts_of, launch, chosen, most)
    except SassanError:
        return None
    accesses = average_accesses(watch, chosen, kept, launch.allocated)
    drawn = frozenset(key for key, each in accesses.items() if each.drawn or each.random)
    blocks, block_warps = prod(grid), -(-prod(block) // LANES)
    of_host = pinned(watch, launch.pinned)
    bytes_of_all = footprint(watch, chosen, blocks, block_warps, drawn | of_host)
    hosted = footprint(watch, chosen, blocks, block_warps, frozenset(watch.seen) - of_host) if of_host else (0.0, 0.0)
    is_given = not missing and not (expected and pointers_decide(cfg, facts_of, launch))
    counts = counted(watch, done, chosen, worst, expected, is_given=is_given)
    return SampledLaunch(
        counts,
        accesses,
        bytes_of_all,
        parts(watch, chosen, drawn),
        pieces(watch, chosen, drawn),
        grid[0],
        hosted,
        frozenset(at for at, _ in of_host),
        missing,
    )
