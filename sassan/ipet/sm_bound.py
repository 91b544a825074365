"""How long many warps of one kernel take on one SM when each may take any path: optima over one warp graph (timing.md).

Work conservation is all that is asked of the SM: no warp waits while its unit and an issue slot are free. README.md, "W warps", proves

    without block barriers   T <= max_v (C(v) + own(v)) + (W - 1) * max_v share(v)
    with block barriers      T <= p * max_v (C(v) + own(v)) + (W - p) * max_v share(v)       (blocks of p warps)
                     and     T <= (openings + 1) * max_segment (C + own) + W * max_v share(v)   where barriers open in order

for the isolated cost C(v) of a warp v; own(v) and share(v) are sums over its instructions (`shares`).
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from sassan.errors import Gap, UsageError
from sassan.ilp.model import Model
from sassan.ilp.solve import Status, solve
from sassan.ipet.block_barriers import Barriers
from sassan.ipet.residents import Grid, Group, Optima, grid, resident
from sassan.ipet.rows import Columns
from sassan.ipet.segments import Ends, segments
from sassan.ipet.shares import Share
from sassan.ipet.steps import steps_of
from sassan.ipet.system import objective
from sassan.ipet.wcet import Problem
from sassan.machine import Multiprocessor
from sassan.machine.occupancy import Occupancy
from sassan.timing import Unit

_ONCE = "an access keeps its unit as long as the tables say, however many addresses or bank conflicts it has (--machine may say more)"
_ANY_PATH = "all warps are resident from the start, each takes any path of its own"
_CONSERVING = "the SM is work-conserving: no warp waits while its unit and an issue slot are free"
_POOLED = "any warp may use any unit of the SM (whole-SM model)"
_BLOCKS = "block barriers: warps of different blocks never wait for each other"
_TOGETHER = "a warp arrives at a block barrier with all its threads that have not ended, and all warps of its block arrive"
_DISPATCH = "a block is dispatched to any SM as soon as one has a free place, and starts with all its warps; nothing else is on the GPU"


@dataclass(frozen=True, slots=True)
class Waits:
    """The block barriers of a kernel, of which there are some, and the bounds of the loops of its graph."""

    barriers: Barriers
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SmBound:
    """`value` in cycles of the cost model for all `warps`; None where there is no bound, and `gaps` say why."""

    warps: int
    value: int | None
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class GridBound:
    """`value` in cycles of the cost model for a whole grid; None where there is no bound, and `gaps` say why."""

    grid: Grid
    value: int | None
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Contention:
    """What the warps of one kernel do to each other on an SM; `optima` is None where `gaps` forbid it."""

    optima: Optima | None
    assumptions: tuple[str, ...]
    barriers: bool
    gaps: tuple[Gap, ...] = ()

    def resident(self, of: Group) -> SmBound:
        """Return the bound for warps that start together on one SM."""
        said = (*self.assumptions, _ANY_PATH)
        if self.optima is None:
            return SmBound(of.warps, None, said, self.gaps)
        return SmBound(of.warps, resident(self.optima, of, barriers=self.barriers), said)

    def grid(self, of: Grid) -> GridBound:
        """Return the bound for a grid, whose blocks are dispatched as places get free."""
        said = (*self.assumptions, _DISPATCH)
        if self.optima is None:
            return GridBound(of, None, said, self.gaps)
        return GridBound(of, grid(self.optima, of, barriers=self.barriers), said)


def contention(
    one: Problem, shares: Many[Share], machine: Multiprocessor, waits: Waits | None = None, *, partition: bool = False
) -> Contention:
    """Return the optima over all paths; `shares` per node of the graph, `waits` where there are block barriers."""
    model = machine.partition_assumptions if partition else (*machine.assumptions, _POOLED)
    once = () if one.cost_name == Unit().name else (_ONCE,)
    said = (*one.assumptions, *model, _CONSERVING, *once, *((_BLOCKS,) if waits else ()))
    barriers = waits is not None
    if one.model is None or (waits is not None and waits.barriers.clusters):
        return Contention(None, said, barriers, (*one.gaps, *(waits.barriers.gaps if waits is not None else ())))
    costs = [cost + share.own for cost, share in zip(one.costs, shares, strict=True)]
    alone = _maximum(one, one.model, costs)
    mine = _maximum(one, one.model, [share.mine for share in shares])
    common = _maximum(one, one.model, [share.common for share in shares]) if partition else mine
    if alone is None or mine is None or common is None:
        gap = Gap(one.cfg.nodes[one.cfg.entry].start, "no-proof", "the solver proved no optimum of what the warps take of the SM")
        return Contention(None, said, barriers, (gap,))
    own = [share.own for share in shares]
    pieces = _pieces(one, one.model, costs, own, waits) if waits is not None and waits.barriers.in_order else None
    if pieces is None:
        return Contention(Optima(alone, mine, common), said, barriers)
    return Contention(Optima(alone, mine, common, *pieces), (*said, _TOGETHER), barriers)


def _pieces(one: Problem, model: Model, costs: Many[Fraction], own: Many[Fraction], waits: Waits) -> tuple[Fraction, int] | None:
    """Return the largest cost from barrier to barrier, and how many barriers a warp waits at, None where either has no proof."""
    parts = {index: _parts(one, index, costs, own, waits) for index, count in enumerate(waits.barriers.arrivals) if count}
    scale, whole = _scaled([*costs, *(part for some in parts.values() for part in some)])
    begin, stop = ({index: int(some[end] * scale) for index, some in parts.items()} for end in (-1, 0))
    system = segments(steps_of(one.cfg), whole[: len(costs)], waits.turns, Ends(begin, stop))
    segment = _optimum(one, system, scale) if system is not None else None
    openings = _maximum(one, model, [Fraction(count) for count in waits.barriers.arrivals])
    if segment is None or openings is None:
        return None
    return max(segment, *(part for some in parts.values() for part in some)), int(openings)


def _parts(one: Problem, node: int, costs: Many[Fraction], own: Many[Fraction], waits: Waits) -> tuple[Fraction, ...]:
    """Return what a block costs up to, between and behind its barriers, with what it may wait for itself; all of it where nobody knows."""
    known = one.pieces[node] if one.pieces else ()
    parts = waits.barriers.arrivals[node] + 1
    return tuple(min(costs[node], part + own[node]) for part in known) if len(known) == parts else (costs[node],) * parts


def check_warps(warps: int, machine: Multiprocessor, known: Occupancy | None = None) -> None:
    """Raise UsageError unless so many warps can be resident on the SM; `known` is how many blocks are, of a launch that is told."""
    if not 1 <= warps <= machine.warps:
        message = f"{warps} warps cannot be resident on an SM of compute capability {machine.capability}"
        raise UsageError("bad-warps", message, hint=f"1 to {machine.warps}")
    if known is not None and warps > known.warps:
        message = f"{warps} warps cannot be resident: {known.blocks} blocks of {known.block_warps} warps are"
        raise UsageError("bad-warps", message, hint=f"1 to {known.warps}, or another --block-dim ({', '.join(known.limited_by)} limit it)")


def path_bound(cost: int, share: Share, of: Group, *, barriers: bool) -> int:
    """Return the bound if every warp takes the one path that costs `cost` alone and takes this of the SM: no bound of the kernel."""
    return resident(Optima(cost + share.own, share.mine, share.common), of, barriers=barriers)


def _maximum(one: Problem, model: Model, costs: Many[Fraction]) -> Fraction | None:
    """Return the largest sum of rational block costs over the paths of the system, or None without a proof."""
    scale, whole = _scaled(costs)
    columns = Columns(0, tuple(range(1, 1 + len(one.cfg.edges))))
    return _optimum(one, replace(model, objective=objective(one.cfg, columns, whole)), scale)


def _scaled(costs: Many[Fraction]) -> tuple[int, list[int]]:
    scale = lcm(*(cost.denominator for cost in costs))
    return scale, [int(cost * scale) for cost in costs]


def _optimum(one: Problem, model: Model, scale: int) -> Fraction | None:
    solution = solve(model, one.setup.solver, one.setup.time_limit)
    if solution.status is not Status.OPTIMAL or solution.value is None:
        return None
    return Fraction(solution.value, scale)
