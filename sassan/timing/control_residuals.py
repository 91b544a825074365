"""What may still be open at a point of the code, and where sides of a divergence are interleaved (README.md, "control")."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.analysis.fixpoint import Problem, solve, verify
from sassan.analysis.graph import weak_order
from sassan.domains.residuals import Residual, ResidualDomain
from sassan.isa.control import BARRIERS
from sassan.timing.control_ops import Op
from sassan.warpcfg.graph import WarpCfg

DOMAIN = ResidualDomain(BARRIERS)
NOTHING = DOMAIN.bottom
"""Nothing is open when a warp starts, and when everything has ended."""


def passed(residual: Residual, op: Op) -> Residual:
    """Return what is left when an instruction has issued and its stall has passed: only that time surely has."""
    if op.drains:
        return NOTHING
    barriers = tuple(0 if op.clears >> barrier & 1 else max(left - op.least, 0) for barrier, left in enumerate(residual.barriers))
    units = {unit: left - op.least for unit, left in residual.units.items() if left > op.least}
    return Residual(barriers, units, max(residual.all - op.least, 0))


def after(residual: Residual, op: Op) -> Residual:
    """Return the same, with what the instruction itself leaves open."""
    return DOMAIN.join(passed(residual, op), _opened(op, op.least))


def _opened(op: Op, elapsed: int) -> Residual:
    barriers = [0] * BARRIERS
    for barrier, cycles in op.sets:
        barriers[barrier] = max(barriers[barrier], cycles - elapsed)
    units = {op.unit: op.interval - elapsed} if op.interval > elapsed else {}
    return Residual(tuple(barriers), units, max(op.ends - elapsed, 0))


def anything(ops: Iterable[Op]) -> Residual:
    """Return a bound on what any execution of these instructions leaves open, in any order."""
    worst = NOTHING
    for op in ops:
        worst = DOMAIN.join(worst, _opened(op, 0))
    return worst


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks of a graph, as far as times go.

    `steps` are successors by index. `region` numbers the blocks that may be interleaved; blocks of different regions never are.
    """

    blocks: Sequence[Sequence[Op]]
    steps: Sequence[Sequence[int]]
    region: Mapping[int, int]

    def worst(self) -> dict[int, Residual]:
        """Return what the blocks of each region leave open at most."""
        members: dict[int, list[Op]] = {}
        for block, region in self.region.items():
            members.setdefault(region, []).extend(self.blocks[block])
        return {region: anything(ops) for region, ops in members.items()}

    def left(self, block: int, entered: Residual, step: int, worst: Mapping[int, Residual]) -> Residual:
        """Return what may be open where a block ends and `step` begins; behind a region that is anything of it."""
        inside = block in self.region
        left = entered
        for op in self.blocks[block]:
            left = passed(left, op) if inside else after(left, op)
        return DOMAIN.join(left, worst[self.region[block]]) if inside and step not in self.region else left

    def residuals(self, entry: int) -> tuple[Residual, ...]:
        """Return what may be open at the start of each block; of a block that may be interleaved, what was issued outside its region."""
        worst = self.worst()

        def transfer(block: int, entered: Residual) -> Iterator[tuple[int, Residual]]:
            return ((step, self.left(block, entered, step, worst)) for step in self.steps[block])

        order = weak_order(len(self.steps), self.steps, entry)
        place = {block: position for position, block in enumerate(order)}
        problem = Problem(DOMAIN, transfer, {entry: NOTHING}, rank=lambda block: (place[block],))
        states = solve(problem).states
        verify(problem, states, name=lambda block: f"residuals of block {block}")
        return tuple(states.get(block, NOTHING) for block in range(len(self.blocks)))


def interleaved_blocks(cfg: WarpCfg) -> frozenset[int]:
    """Return the blocks that run while another side of a divergence may: some stack holds one there, or what stacks hold is unknown."""
    if not cfg.stack_points:
        return frozenset(range(len(cfg.nodes)))
    return frozenset(index for index, points in enumerate(cfg.stack_points) if any(not point.tag for point in points))


def regions(steps: Sequence[Sequence[int]], interleaving: frozenset[int]) -> dict[int, int]:
    """Return a number for each block that may be interleaved: blocks that are pending together have the same.

    While a side is pending, the blocks that run follow each other along steps, and its first block follows the one where it split off.
    """
    parent = {block: block for block in interleaving}

    def root(block: int) -> int:
        while parent[block] != block:
            block = parent[block]
        return block

    for block, after in enumerate(steps):
        together = [neighbour for neighbour in ((block, *after) if block in interleaving else after) if neighbour in interleaving]
        for neighbour in together[1:]:
            parent[root(neighbour)] = root(together[0])
    return {block: root(block) for block in sorted(interleaving)}
