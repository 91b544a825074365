"""What may still be open at a point of the code, and where sides of a divergence are interleaved (docs/proofs/control-costs.md)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.analysis.graph import weak_order
from sassan.domains.residuals import Residual, ResidualDomain
from sassan.isa.control import BARRIERS
from sassan.timing.control_ops import TimedOp
from sassan.warpcfg.graph import ActivationPoint, EdgeKind, WarpCfg
from sassan.warpcfg.steps import RELEASED

DOMAIN = ResidualDomain(BARRIERS)
NOTHING = DOMAIN.bottom
"""Nothing is open when a warp starts, and when everything has ended."""


def after(residual: Residual, ops: Iterable[TimedOp]) -> Residual:
    """Return what is left when instructions have issued and their stalls have passed (only that surely has), and what they leave open."""
    now, barriers, units, ends = 0, list(residual.barriers), dict(residual.units), residual.all
    for op in ops:
        if op.drains:
            barriers, units, ends = [0] * BARRIERS, {}, 0
        if op.clears:
            barriers = [0 if op.clears >> barrier & 1 else until for barrier, until in enumerate(barriers)]
        for barrier, cycles in op.sets:
            barriers[barrier] = max(barriers[barrier], now + cycles)
        units[op.unit] = max(units.get(op.unit, 0), now + op.interval)
        ends = max(ends, now + op.ends)
        now += op.least
    open_units = {unit: until - now for unit, until in units.items() if until > now}
    return Residual(tuple([max(until - now, 0) for until in barriers]), open_units, max(ends - now, 0))


def _opened(op: TimedOp, elapsed: int) -> Residual:
    barriers = [0] * BARRIERS
    for barrier, cycles in op.sets:
        barriers[barrier] = max(barriers[barrier], cycles - elapsed)
    units = {op.unit: op.interval - elapsed} if op.interval > elapsed else {}
    return Residual(tuple(barriers), units, max(op.ends - elapsed, 0))


def anything(ops: Iterable[TimedOp]) -> Residual:
    """Return a bound on what any execution of these instructions leaves open, in any order."""
    worst = NOTHING
    for op in ops:
        worst = DOMAIN.join(worst, _opened(op, 0))
    return worst


def opened_beside(block: Sequence[TimedOp]) -> Residual:
    """Return how far what a block opens may keep back a side that runs beside it.

    The last instruction has its own delay charged where its block ends: only what lasts longer is charged to others.
    """
    return DOMAIN.join(anything(block[:-1]), _opened(block[-1], block[-1].most)) if block else NOTHING


@dataclass(frozen=True, slots=True)
class BlockFlow:
    """The blocks of a graph, as far as times go; `steps` are successors by index."""

    blocks: Sequence[Sequence[TimedOp]]
    steps: Sequence[Sequence[int]]
    _known: dict[int, tuple[Residual, Residual]] = field(default_factory=dict[int, tuple[Residual, Residual]], compare=False, repr=False)
    """What was asked last of each block, with the answer."""

    def left(self, block: int, entered: Residual) -> Residual:
        """Return what may be open where a block ends."""
        known = self._known.get(block)
        if known is None or known[0] is not entered:
            known = self._known[block] = entered, after(entered, self.blocks[block])
        return known[1]

    def residuals(self, entry: int) -> tuple[Residual, ...]:
        """Return what may be open at the start of each block, of what ran before it on its own side or as the side before."""

        def transfer(block: int, entered: Residual) -> Iterator[tuple[int, Residual]]:
            left = self.left(block, entered)
            return ((step, left) for step in self.steps[block])

        order = weak_order(len(self.steps), self.steps, entry)
        place = {block: position for position, block in enumerate(order)}
        problem = FixpointProblem(DOMAIN, transfer, {entry: NOTHING}, rank=lambda block: (place[block],))
        states = solve(problem).states
        verify(problem, states, name=lambda block: f"residuals of block {block}")
        return tuple(states.get(block, NOTHING) for block in range(len(self.blocks)))


def _runs(point: ActivationPoint) -> bool:
    """Say whether the threads of a point may run as soon as others leave them a turn: those of no token."""
    return point.tag in {"", RELEASED}


def interleaved_blocks(cfg: WarpCfg) -> frozenset[int]:
    """Return the blocks that run while another side of a divergence may: some stack holds one there, or what stacks hold is unknown."""
    if not cfg.stack_points:
        return frozenset(range(len(cfg.nodes)))
    return frozenset(index for index, points in enumerate(cfg.stack_points) if any(map(_runs, points)))


def beside(cfg: WarpCfg, steps: Sequence[Sequence[int]], interleaving: frozenset[int]) -> dict[int, frozenset[int]]:
    """Return, for each block that may be interleaved, the blocks that other sides may run meanwhile (docs/proofs/control-costs.md)."""
    run: dict[ActivationPoint, set[int]] = {}
    for block in interleaving if cfg.stack_points else ():
        for point in filter(_runs, cfg.stack_points[block]):
            run.setdefault(point, set()).add(block)
    others = _other_sides(cfg, run)
    region = _regions(steps, interleaving)
    pairs = {
        (block, other)
        for block in interleaving
        for other in (
            {other for point in filter(_runs, cfg.stack_points[block]) for side in others[point] for other in run[side]}
            if cfg.stack_points and all(others[point] for point in filter(_runs, cfg.stack_points[block]))
            else region[block]
        )
    }
    partners: dict[int, set[int]] = {block: set() for block in interleaving}
    for block, other in pairs:
        partners[block].add(other)
        partners[other].add(block)
    return {block: frozenset(blocks) for block, blocks in partners.items()}


def _other_sides(cfg: WarpCfg, points: Collection[ActivationPoint]) -> dict[ActivationPoint, set[ActivationPoint]]:
    """Return where the sides wait, should they be the ones to wait, that run while threads wait at a point; none where that is unknown."""
    others: dict[ActivationPoint, set[ActivationPoint]] = {point: set() for point in points}
    unknown: set[ActivationPoint] = set()
    for edge in cfg.edges:
        pending = edge.pushed
        if edge.kind is not EdgeKind.DIVERGE or edge.dst is None or pending is None or pending not in others:
            continue
        first, branch = cfg.nodes[edge.dst], cfg.nodes[edge.src].end
        side = ActivationPoint(first.context, first.start, "", -1 if pending.origin >= 0 else branch)
        if side in others:
            others[pending].add(side)
        else:
            unknown.add(pending)
    return {point: sides if point not in unknown else set() for point, sides in others.items()}


def _regions(steps: Sequence[Sequence[int]], interleaving: frozenset[int]) -> dict[int, frozenset[int]]:
    """Return the region of each block that may be interleaved: blocks that are pending together have the same.

    While a side is pending, the blocks that run follow each other along steps, and its first block follows the one where it split off.
    """
    parent = {block: block for block in interleaving}

    def root(block: int) -> int:
        while parent[block] != block:
            block = parent[block]
        return block

    for block, after_it in enumerate(steps):
        together = [neighbour for neighbour in ((block, *after_it) if block in interleaving else after_it) if neighbour in interleaving]
        for neighbour in together[1:]:
            parent[root(neighbour)] = root(together[0])
    members: dict[int, set[int]] = {}
    for block in interleaving:
        members.setdefault(root(block), set()).add(block)
    return {block: frozenset(members[root(block)]) for block in interleaving}
