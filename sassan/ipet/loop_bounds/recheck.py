"""Inferred bounds held to the concrete SIMT machine: warps of the launch run the part of the program that decides where control goes.

Integer instructions compute what they compute; what memory and everything else hold is drawn. No thread may go back to the head of a loop
more often, between two entries, than its bound says. A run that takes too long is cut: what it did is the prefix of an execution. As in the
inference, threads have uniform registers of their own: drawn words may part those that step one counter together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np

from sassan.arch import described
from sassan.errors import SassanError
from sassan.ipet.loop_bounds.corners import corners
from sassan.ipet.loop_bounds.results import Inferred, Refutation
from sassan.ir import Instruction, Language
from sassan.isa.facts import Facts
from sassan.machine.launch import BLOCK_LIMITS, BLOCK_THREADS, GRID_LIMITS, LaunchConfiguration, Shape
from sassan.simt.code import ExecutableFunction, lower
from sassan.simt.constant_bank import constant_bank
from sassan.simt.decoder import TableDecoder
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Chosen, Integers, at_corner
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice, live_slice
from sassan.simt.state import Session, SideOrder, lanes
from sassan.simt.values import LANES, Rows, Truth, Words, stir
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run: so many warps of each launch, each so many blocks long; `seed` draws places and contents.

    With `corners`, the last third of the warps of a launch find words at the corners of guards, and about half of these always the same.

    `operations` is about how many are executed at most, over all warps: long blocks make runs shorter. Where runs that iterate as
    often as the bounds say, and more, end with fewer than `worth` operations, they are that long. `unbounded` says whether loops
    without a bound are counted, too.
    """

    warps: int = 12
    corners: bool = True
    steps: int = 400
    seed: int = 1
    operations: int | None = None
    worth: int = 0
    unbounded: bool = True

    @property
    def drawn(self) -> int:
        """Return how many warps of a launch, the first ones, find drawn words only."""
        return self.warps - max(1, self.warps // 3) if self.corners else self.warps


SMALL = Effort(operations=6_000, worth=16_000)
_SHORTEST = 24
_MORE = 3
"""So many iterations more than a bound says, so that a wrong one shows."""


class SampledRuns(NamedTuple):
    """What warps did that were run: per launch and loop, the most often that a thread went back between two entries; blocks executed."""

    back_edges: tuple[tuple[int, ...], ...]
    blocks: frozenset[int]


def back_edge_counts(
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launches: Sequence[LaunchConfiguration],
    effort: Effort = SMALL,
    bounds: Sequence[int | None] = (),
) -> tuple[tuple[int, ...], ...] | None:
    """Return the back edges of `seen`."""
    done = seen(cfg, facts_of, launches, effort, bounds)
    return None if done is None else done.back_edges


def seen(
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launches: Sequence[LaunchConfiguration],
    effort: Effort = SMALL,
    bounds: Sequence[int | None] = (),
) -> SampledRuns | None:
    """Return what warps do that are run.

    `bounds` are what runs must be able to exceed, per loop. None where the machine has no rule for an instruction of the function.
    """
    try:
        decoder = TableDecoder(facts_of, cfg.calls, stack=True)
        code = live_slice(control_slice(lower(cfg.function, decoder, [node.start for node in cfg.nodes])), {})
        place, active = _together([warps_of(cfg, launch, effort, index) for index, launch in enumerate(launches)])
        chosen, place = _at_corners(cfg, code, launches, effort, place)
        omitted = [] if effort.unbounded else [index for index, bound in enumerate(bounds) if bound is None]
        watch = BackEdgeCounter(cfg, code, len(place), omitted)
        order = SideOrder.RANDOM if described(cfg.function.arch).convergence_barriers else SideOrder.TAKEN_FIRST
        machine = Machine(code, Integers(place, chosen), order, Limits(steps=_steps(code, effort, _lengths(cfg, bounds))))
        machine.run(active, watch, separate=True, counted=False)
    except SassanError:
        return None
    most = watch.most.reshape(len(cfg.loops), len(launches), effort.warps).max(axis=2)
    return SampledRuns(tuple(tuple(int(count) for count in column) for column in most.T), frozenset(watch.blocks))


@dataclass(frozen=True, slots=True)
class RecheckedBounds:
    """The bounds of loops after the check; `ran`: they were held to runs at all, which executed `blocks`."""

    results: tuple[Inferred, ...]
    ran: bool
    blocks: frozenset[int] = frozenset()

    @property
    def refuted(self) -> tuple[Inferred, ...]:
        """The loops of which a thread took more back edges than was inferred."""
        return tuple(result for result in self.results if result.refutation is not None)


def check(
    cfg: WarpCfg,
    facts_of: Callable[[Instruction], Facts | None],
    launch: LaunchConfiguration,
    results: Sequence[Inferred],
    effort: Effort = SMALL,
) -> RecheckedBounds:
    """Return the bounds, each held to runs; one that a thread goes beyond is none."""
    results = tuple(results)
    if cfg.function.language is Language.PTX or all(result.bound is None for result in results):
        return RecheckedBounds(results, ran=False)
    effort = replace(effort, unbounded=False)
    done = seen(cfg, facts_of, (launch,), effort, [result.bound for result in results])
    if done is None:
        return RecheckedBounds(results, ran=False)
    return RecheckedBounds(
        tuple(_unless_refuted(result, done.back_edges[0][result.loop]) for result in results), ran=True, blocks=done.blocks
    )


def _unless_refuted(result: Inferred, seen: int) -> Inferred:
    if result.bound is None or seen <= result.bound:
        return result
    return replace(result, bound=None, reason="", refutation=Refutation(result.bound, seen, result.reason))


def _steps(code: ExecutableFunction, effort: Effort, lengths: Sequence[int]) -> int:
    """Return how many blocks a run may take: the longest of the lengths that is worth it, if that is more than the effort allows anyway."""
    if effort.operations is None:
        return effort.steps
    each = effort.drawn * (1 + sum(len(block.operations) for block in code.blocks) // len(code.blocks))
    least = max(_SHORTEST, min(effort.steps, effort.operations // each))
    return max([least, *(length for length in lengths if length * each <= effort.worth)])


def _lengths(cfg: WarpCfg, bounds: Sequence[int | None]) -> list[int]:
    """Return, per loop with a bound, after how many blocks at most a thread has counted more often, loops inside included."""
    inside = [len(loop.nodes) for loop in cfg.loops]
    for loop in cfg.loops:
        if loop.parent is not None:
            inside[loop.parent] -= len(loop.nodes)
    total = [0] * len(bounds)
    # Inner loops have fewer nodes than those around them.
    for index in sorted(range(len(bounds)), key=lambda number: len(cfg.loops[number].nodes)):
        bound, parent = bounds[index], cfg.loops[index].parent
        total[index] = (inside[index] + total[index]) * (_MORE + (bound or 0))
        if parent is not None:
            total[parent] += total[index]
    return [len(cfg.nodes) + length for length, bound in zip(total, bounds, strict=True) if bound is not None]


@dataclass(slots=True)
class BackEdgeCounter:
    """An observer that counts, per loop and thread, how often it went back since it entered: `most` (loops, runs)."""

    cfg: WarpCfg
    code: ExecutableFunction
    runs: int
    omitted: Sequence[int] = ()
    """Loops that are not counted."""
    blocks: set[int] = field(default_factory=set[int])
    """The addresses of the blocks that were executed."""
    most: Words = field(init=False)
    _last: Rows = field(init=False)
    _count: Words = field(init=False)
    _nodes: Mapping[tuple[tuple[int, ...], int], int] = field(init=False)
    _inside: Truth = field(init=False)
    """Whether a loop has a node, (loops, nodes and one more for outside)."""
    _around: list[list[int]] = field(init=False)
    """The loops that have a node, by node."""

    def __post_init__(self) -> None:
        """Start with every thread outside."""
        loops, nodes = self.cfg.loops, self.cfg.nodes
        self.most = np.zeros((len(loops), self.runs), dtype=np.uint32)
        self._last = np.full((self.runs, LANES), len(nodes), dtype=np.intp)
        self._count = np.zeros((len(loops), self.runs, LANES), dtype=np.uint32)
        self._nodes = {(node.context, node.start): index for index, node in enumerate(nodes)}
        self._inside = np.zeros((len(loops), len(nodes) + 1), dtype=np.bool_)
        for index, loop in enumerate(loops):
            self._inside[index, list(loop.nodes)] = True
        self._inside[list(self.omitted)] = False
        self._around = [np.flatnonzero(column).tolist() for column in self._inside.T]

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Count the steps of the threads that are about to execute a block."""
        address = self.code.blocks[block].address
        self.blocks.add(address)
        active = lanes(session.warps.active[rows])
        contexts = session.warps.context[rows]
        if (contexts == contexts[0]).all():
            node = self._nodes.get((session.contexts.strings[contexts[0]], address))
            if node is not None:
                self._visit(node, rows, active)
            return
        for context in np.unique(contexts).tolist():
            node = self._nodes.get((session.contexts.strings[context], address))
            if node is not None:
                where = contexts == context
                self._visit(node, rows[where], active[where])

    def _visit(self, node: int, rows: Rows, active: Truth) -> None:
        before = self._last[rows]
        for index in self._around[node]:
            count, stays = self._count[index], self._inside[index][before]
            if self.cfg.loops[index].head == node:
                counts = count[rows]
                counts = count[rows] = np.where(active, np.where(stays, counts + np.uint32(1), np.uint32(0)), counts)
                most = self.most[index]
                most[rows] = np.maximum(most[rows], counts.max(axis=1))  # where no thread is, the count is an older one
            elif not stays.all():
                count[rows] = np.where(active & ~stays, np.uint32(0), count[rows])
        self._last[rows] = np.where(active, node, before)


def _at_corners(
    cfg: WarpCfg, code: ExecutableFunction, launches: Sequence[LaunchConfiguration], effort: Effort, place: WarpInputs
) -> tuple[Chosen | None, WarpInputs]:
    """Return the warps that find words at the corners of guards, and the place in which they do; the first launch says what is given."""
    if not effort.corners:
        return None, place
    banks = [constant_bank(cfg.function, launch) for launch in launches]

    def free(offset: int) -> bool:
        return all(bank.is_free(offset) for bank in banks)

    words_at = corners(code, banks[0].word, cache(free), short=place.short)
    where = np.arange(len(place)) % effort.warps >= effort.drawn

    def bank(offset: int) -> Words:
        words, some = place.bank(offset), words_at.words.get(offset)
        if some is None:
            return words
        return at_corner(stir(place.salt, np.uint32(offset)), some, words, where)

    return Chosen(words_at, where, where & (place.salt & np.uint32(1) != 0)), replace(place, bank=cache(bank))


def warps_of(cfg: WarpCfg, launch: LaunchConfiguration, effort: Effort, index: int = 0) -> tuple[WarpInputs, Words]:
    """Return warps of a launch: the first and the last of the grid, and others; and the threads of each. `index` is that of a draw."""
    random = np.random.default_rng((effort.seed, index))
    block, grid = launch.block or _draw(random, BLOCK_LIMITS), launch.grid or _draw(random, GRID_LIMITS)
    last = -(-prod(block) // LANES) - 1
    spots = [Spot((0, 0, 0), 0)]
    spots += (Spot(_place(random, grid), int(random.integers(0, last + 1))) for _ in range(effort.warps - 2))
    spots.append(Spot((grid[0] - 1, grid[1] - 1, grid[2] - 1), last))
    return warps_at(cfg.function, replace(launch, block=block, grid=grid), spots[: effort.warps], random)


def _place(random: np.random.Generator, grid: Shape) -> Shape:
    x, y, z = (int(random.integers(0, extent)) for extent in grid)
    return x, y, z


def _together(parts: Sequence[tuple[WarpInputs, Words]]) -> tuple[WarpInputs, Words]:
    """Return the warps of several launches as one batch."""
    places = [place for place, _ in parts]
    special = {name: np.concatenate([place.special[name] for place in places]) for name in places[0].special}

    def bank(offset: int) -> Words:
        return np.concatenate([place.bank(offset) for place in places])

    contents = places[0].contents if len({place.contents for place in places}) == 1 else None
    whole = WarpInputs(
        np.concatenate([place.salt for place in places]), special, cache(bank), places[0].short, contents, places[0].literals
    )
    return whole, np.concatenate([active for _, active in parts])


def _draw(random: np.random.Generator, limits: Shape) -> Shape:
    """Return extents of a launch that is not given: some that can be launched."""
    x = int(random.integers(1, min(limits[0], BLOCK_THREADS) + 1))
    return x, 1, 1
