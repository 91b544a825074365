"""Warps of a launch that are run without a GPU: a sample of the grid, with real integers (`sassan/simt`).

What memory holds is drawn, so a branch that data decides is taken every other time, about; what the launch decides is as it would be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from sassan.arch import described
from sassan.estimate.arguments import POINTER
from sassan.estimate.deciding import Deciding
from sassan.estimate.leaps import Leaps
from sassan.estimate.watch import EnoughError, Watch, watched
from sassan.ir import INTERNAL, Function, Instruction
from sassan.isa.facts import Facts, Flow
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.machine.parameters import Setting, places
from sassan.simt.code import ALWAYS, Condition, ExecutableBlock, ExecutableFunction, LocalAccess, lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import Limits, Machine
from sassan.simt.shared import SharedMemory, behind_barriers, is_followed
from sassan.simt.slicing import control_slice, live_slice
from sassan.simt.state import RunStatus, SideOrder
from sassan.simt.values import Rows, Words
from sassan.warpcfg.graph import WarpCfg

_GROUPS = 8
"""Places of a row of blocks from which two neighbouring ones each are taken."""
_SPREAD = 13
"""As many of a grid with rows: of half of its blocks, as a triangle has them, these are between 5 and 8, where 8 may be 2 to 6."""
_GOLDEN, _PLASTIC = (0.6180339887, 0.6180339887), (0.7548776662, 0.5698402910)
"""Steps along the other extents from a place to the next one, as parts of them, that spread any number of places evenly."""
_BEGIN = (0.1, 0.3)
"""Where the first place is: of every two extents either triangle has 6 or 7 of the places."""
_WARPS = 6
"""Warps of each block: the first one, which often does what a block does once, and consecutive ones."""
_COPIES = 8
"""Warps that are run a second time, with other contents of memory."""
_APART = 28
"""Pointers that are not known are so many bits apart."""
_SEED = 2026
_NEVER = Condition(never=True)
_STEPS = 20_000
"""Blocks of code that a warp executes at most."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Warps of a grid. `spots` are block and first warp of each; `inner` says which stand for the grid, the others are its first and last.

    `pairs` are (warp, its copy): the same, but for what memory holds.
    """

    spots: tuple[Spot, ...]
    inner: npt.NDArray[np.bool_]
    pairs: tuple[tuple[int, int], ...]
    warps: int
    """Warps of each block that are run."""
    block_warps: int = 1
    """Warps that a block has."""

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Return how many warps of its block each stands for: the first one for itself, the others for the rest."""
        others = (self.block_warps - 1) / max(1, self.warps - 1)
        return np.array([others if spot.warp else 1.0 for spot in self.spots])

    def number(self, warp: int) -> int:
        """Return a number of the block of a warp."""
        x, y, z = self.spots[warp].block
        return x + (y << 32) + (z << 48)

    def __len__(self) -> int:
        """Return how many warps there are."""
        return len(self.spots)


def sample(block: Shape, grid: Shape) -> Sample:
    """Return warps of neighbouring blocks all over a grid, and of its first and its last block; always the same."""
    random = np.random.default_rng(_SEED)
    blocks, warps = prod(grid), -(-prod(block) // WARP_SIZE)
    inner = sorted({each for first in _spread(grid, random) for each in (first, first + 1) if each < blocks})
    spots: list[Spot] = []
    stands: list[bool] = []
    first, before = 0, -2
    for number in sorted({*inner, 0, blocks - 1}):
        # Of two neighbours the same warps are run: what one of them accesses may begin where the other ends.
        alone = number - 1 != before
        first = int(random.integers(0, max(1, warps - _WARPS + 1))) if alone else first
        before = number if alone else -2
        place = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        block_spots = [Spot(place, first + index if index else 0) for index in range(min(_WARPS, warps))]
        spots += block_spots
        stands += [number in inner] * len(block_spots)
    some = [index for index, stand in enumerate(stands) if stand]
    some = some[:: max(1, len(some) // _COPIES)][:_COPIES]
    pairs = tuple((index, len(spots) + copy) for copy, index in enumerate(some))
    spots += [spots[index] for index in some]
    return Sample(tuple(spots), np.array(stands + [False] * len(some)), pairs, min(_WARPS, warps), warps)


def _spread(grid: Shape, random: np.random.Generator) -> Iterator[int]:
    """Yield the numbers of blocks all over a grid: one from each of as many parts of its last extent, and spread over the others."""
    extents = [extent for extent in grid if extent > 1] or [1]
    *others, last = extents
    groups = _SPREAD if others else _GROUPS
    steps = _PLASTIC if len(others) > 1 else _GOLDEN
    for group in range(groups):
        low = group * last // groups
        number = int(random.integers(low, max(low + 1, (group + 1) * last // groups)))
        for extent, step, first in zip(reversed(others), steps, _BEGIN, strict=False):
            number = number * extent + int((first + group * step) % 1 * extent)
        yield number


def run(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: LaunchConfiguration, chosen: Sample, most: Sequence[int]
) -> tuple[Watch, npt.NDArray[np.bool_]]:
    """Return what warps do, and which of them come to their end; `most`: visits of the head of each loop per entry, as in `Leaps`.

    What decides control and addresses is computed. Raises SassanError where the machine has no rule for an instruction.
    """
    function = cfg.function
    looked_at = watched(cfg, facts_of)
    nodes = [node.start for node in cfg.nodes]
    code = _code(cfg, facts_of, [*nodes, *looked_at.groups], looked_at.registers)
    place, active = warps_at(function, supposed(function, launch), chosen.spots, np.random.default_rng(_SEED))

    def watch_of(code: ExecutableFunction) -> tuple[Watch, Deciding]:
        values = Deciding(place, code, live_slice(control_slice(code), {}))
        return Watch(cfg, code, looked_at, len(chosen), Leaps(most, values, len(chosen))), values

    watch, values = watch_of(code)  # which counts the work of the larger slice
    blocks = np.unique([chosen.number(warp) for warp in range(len(chosen))], return_inverse=True)[1]
    done = _ends(watch, values, live_slice(code, looked_at.reads), active, blocks)
    if done.all():
        return watch, done
    # Without the accesses, there is less to execute.
    code = live_slice(_code(cfg, facts_of, nodes, frozenset()), {})
    again, values = watch_of(code)
    # What spills go through is followed, too: that many operations more for the same iterations.
    spills = any(isinstance(each.exact, LocalAccess) and not each.exact.shared for block in code.blocks for each in block.operations)
    again.only_count(watch.seen, tiles=watch.tiles or spills or bool(watch.leapt.any()))
    more = _ends(again, values, code, active, blocks)
    return (again, more) if more.sum() > done.sum() else (watch, done)


def _code(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], leaders: Sequence[int], registers: frozenset[int]
) -> ExecutableFunction:
    """Return what decides control, and what writes these registers, without the subroutines of the compiler."""
    leaders = [*leaders, *behind_barriers(cfg.function)]
    code = control_slice(lower(cfg.function, TableDecoder(facts_of, cfg.calls, stack=True, shared=True), leaders), registers)
    code = replace(code, registers=tuple(sorted({*code.registers, *registers})))
    return replace(code, blocks=usual_branches(cfg.function, code.blocks))


def _ends(watch: Watch, values: Deciding, code: ExecutableFunction, active: Words, blocks: Rows) -> npt.NDArray[np.bool_]:
    """Return which warps come to their end; warps of one block of the grid, copies among them, find what others stored in shared memory."""
    order = SideOrder.RANDOM if described(code.function.arch).convergence_barriers else SideOrder.TAKEN_FIRST
    try:
        shared = SharedMemory(blocks, set()) if is_followed(code, beside=True) else None
        outcome = Machine(code, values, order, Limits(steps=_STEPS)).run(active, watch, shared=shared, counted=False)
    except EnoughError:
        return watch.ended
    return np.asarray(outcome.status == RunStatus.ENDED)


def usual_branches(function: Function, blocks: Sequence[ExecutableBlock]) -> tuple[ExecutableBlock, ...]:
    """Return blocks that do not go where a subroutine of the compiler is called."""
    slow = slow_paths(function)
    return tuple(_usual(blocks, block, slow) for block in blocks)


def slow_paths(function: Function) -> frozenset[int]:
    """Return where the subroutines of the compiler begin."""
    return frozenset(address for address, name in function.symbols if INTERNAL in name)


def _usual(blocks: Sequence[ExecutableBlock], block: ExecutableBlock, slow: frozenset[int]) -> ExecutableBlock:
    """Return a block that does not go where a subroutine of the compiler is called: for what a fast division or root cannot do."""
    control = block.control
    if control is None or control.flow is not Flow.BRANCH or control.condition == ALWAYS:
        return block
    if _calls(blocks, block.follow, slow):
        return replace(block, control=replace(control, condition=ALWAYS))
    return replace(block, control=replace(control, condition=_NEVER)) if _calls(blocks, block.target, slow) else block


def _calls(blocks: Sequence[ExecutableBlock], number: int, callees: frozenset[int]) -> bool:
    """Say whether the straight code of a block leads to a call of one of these functions."""
    for _ in blocks:
        control = blocks[number].control if number >= 0 else None
        if number < 0 or control is not None:
            return control is not None and control.flow is Flow.CALL and control.target in callees
        number = blocks[number].follow
    return False


def supposed(function: Function, launch: LaunchConfiguration) -> LaunchConfiguration:
    """Return a launch in which every parameter that may be a pointer has a value: those that are not given lie far apart.

    Where nothing says that blocks are launched in clusters, they are not, or in one along x if the code may need some.
    """
    given = {place.offset for _, place in launch.placed(function)}
    missing = [each for each in places(function) if each.size == POINTER and each.offset >= 0 and each.offset not in given]
    made = tuple(Setting("", each.offset, (index + 1) << _APART, POINTER) for index, each in enumerate(missing))
    facts = function.compiler
    cluster = launch.preferred_cluster or launch.cluster_of(function) or (facts.cluster or 1 if facts is not None else 1, 1, 1)
    return replace(launch, parameters=(*launch.parameters, *made), cluster=cluster, preferred_cluster=None)
