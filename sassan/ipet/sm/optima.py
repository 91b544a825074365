"""How long many warps of one kernel take on one SM when each may take any path: optima over one warp graph (docs/proofs/many-warps.md).

The only property required of the SM is work conservation: no warp waits while its unit and an issue slot are free. The page proves

    without block barriers   T <= max_v (C(v) + self_stall(v)) + (W - 1) * max_v stall(v)
    with block barriers      T <= p * max_v (C(v) + self_stall(v)) + (W - p) * max_v stall(v)       (blocks of p warps)
                     and     T <= (openings + 1) * max_segment (C + self_stall) + W * max_v stall(v)   where barriers open in order
                     and     T <= relay + W * max_v stall(v)                where they are also the same ones

for the isolated cost C(v) of a warp v; self_stall(v) and stall(v) are sums over its instructions (`shares`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from sassan.assumptions import published
from sassan.errors import Gap
from sassan.ilp.model import Model
from sassan.ilp.solve import Status, solve
from sassan.ipet.rows import Columns
from sassan.ipet.sm.barriers import NO_BARRIERS, BlockBarriers
from sassan.ipet.sm.bounds import Optima
from sassan.ipet.sm.relays import relays, without_barrier
from sassan.ipet.sm.segments import EndCosts, segments
from sassan.ipet.sm.shares import Interference
from sassan.ipet.steps import steps_of
from sassan.ipet.system import objective
from sassan.ipet.wcet import WcetProblem
from sassan.machine import Multiprocessor
from sassan.timing import Quantity
from sassan.warpcfg.graph import WarpCfg

_ONCE = "an access keeps its unit as long as the tables say, however many addresses or bank conflicts it has (--machine may say more)"
_CONSERVING = "the SM is work-conserving: no warp waits while its unit and an issue slot are free"
_POOLED = "any warp may use any unit of the SM (whole-SM model)"
_BLOCKS = published("block barriers: warps of different blocks never wait for each other")
_SAME = published(
    "the warps of a block wait at the same barrier instructions: a condition around one is the same for the whole block, as CUDA asks"
)
TOGETHER = "a warp arrives at a block barrier with all its threads that have not ended, and all warps of its block arrive"


@dataclass(frozen=True, slots=True)
class Bound:
    """`value` in cycles of the cost model; None where there is no bound, and `gaps` say why."""

    value: int | None
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class PathOptima:
    """The optima over all paths of a kernel on an SM; `optima` is None where `gaps` forbid them."""

    optima: Optima | None
    assumptions: tuple[str, ...]
    gaps: tuple[Gap, ...] = ()

    def bound(self, formula: Callable[[Optima], int], *further: str) -> Bound:
        """The bound that a formula of `bounds` gives under further assumptions."""
        value = formula(self.optima) if self.optima is not None else None
        return Bound(value, (*self.assumptions, *further), self.gaps)


def path_optima(
    problem: WcetProblem,
    shares: Sequence[Interference],
    machine: Multiprocessor,
    barriers: BlockBarriers = NO_BARRIERS,
    *,
    partition: bool = False,
) -> PathOptima:
    """The optima over all paths; `shares` per node of the graph; with `partition` in the partition model."""
    contention = machine.partition_assumptions if partition else (*machine.assumptions, _POOLED)
    once = () if problem.cost_model.quantity is Quantity.INSTRUCTIONS or problem.traffic.moved else (_ONCE,)
    assumptions = (*problem.assumptions, *contention, _CONSERVING, *once, *((_BLOCKS,) if barriers else ()))
    if problem.model is None or barriers.clusters:
        return PathOptima(None, assumptions, (*problem.gaps, *barriers.gaps))
    costs = [cost + share.self_stall for cost, share in zip(problem.costs, shares, strict=True)]
    isolated = _maximum(problem, problem.model, costs)
    scheduler_stall = _maximum(problem, problem.model, [share.scheduler_stall for share in shares])
    sm_stall = _maximum(problem, problem.model, [share.sm_stall for share in shares]) if partition else scheduler_stall
    if isolated is None or scheduler_stall is None or sm_stall is None:
        entry = problem.cfg.nodes[problem.cfg.entry].start
        return PathOptima(None, assumptions, (Gap(entry, "no-proof", "the solver proved no optimum of the contention of the warps"),))
    optima = Optima(isolated, scheduler_stall, sm_stall, bool(barriers))
    if not (barriers and barriers.in_order):
        return PathOptima(optima, assumptions)
    pieces = {node: _pieces(problem, node, costs, shares, barriers) for node, count in enumerate(barriers.arrivals) if count}
    segment, relay = _longest_segment(problem, problem.model, costs, pieces, barriers), _longest_relay(problem, costs, pieces)
    if segment is not None:
        optima, assumptions = replace(optima, segment=segment[0], openings=segment[1]), (*assumptions, TOGETHER)
    if relay is not None:
        optima, assumptions = replace(optima, relay=relay), (*dict.fromkeys((*assumptions, TOGETHER)), _SAME)
    return PathOptima(optima, assumptions)


def _longest_relay(problem: WcetProblem, costs: Sequence[Fraction], pieces: Mapping[int, tuple[Fraction, ...]]) -> Fraction | None:
    """The largest cost of a walk in which the warps of a block take over from each other at its barriers, None without a proof.

    A warp that ends without a barrier may hold up the first opening: it is charged beside the walk.
    """
    steps = steps_of(problem.cfg)
    scale, scaled = _scaled([max(cost, sum(pieces.get(node, ()), Fraction(0))) for node, cost in enumerate(costs)])
    model = relays(steps, scaled, problem.loop_bounds, pieces.keys())
    relay = _optimum(problem, model, scale) if model is not None else None
    if model is None or relay is None:
        return None
    alone = without_barrier(steps, model, pieces.keys())
    if alone is None:
        return relay
    before = _optimum(problem, alone, scale)
    return None if before is None else relay + before


def _longest_segment(
    problem: WcetProblem, model: Model, costs: Sequence[Fraction], pieces: Mapping[int, tuple[Fraction, ...]], barriers: BlockBarriers
) -> tuple[Fraction, int] | None:
    """The largest cost from barrier to barrier, and how many barriers a warp waits at, None where either has no proof."""
    every_piece = [piece for of_node in pieces.values() for piece in of_node]
    scale, scaled = _scaled([*costs, *every_piece])
    begin, stop = ({node: int(of_node[end] * scale) for node, of_node in pieces.items()} for end in (-1, 0))
    system = segments(steps_of(problem.cfg), scaled[: len(costs)], problem.loop_bounds, EndCosts(begin, stop))
    segment = _optimum(problem, system, scale) if system is not None else None
    openings = _maximum(problem, model, [Fraction(count) for count in barriers.arrivals])
    if segment is None or openings is None:
        return None
    return max(segment, *every_piece), int(openings)


def _pieces(
    problem: WcetProblem, node: int, costs: Sequence[Fraction], shares: Sequence[Interference], barriers: BlockBarriers
) -> tuple[Fraction, ...]:
    """The costs of a block up to, between and behind its barriers, with its own stalls; the whole cost each where they are unknown."""
    known = problem.pieces[node] if problem.pieces else ()
    number = barriers.arrivals[node] + 1
    return tuple(min(costs[node], piece + shares[node].self_stall) for piece in known) if len(known) == number else (costs[node],) * number


def maximum(problem: WcetProblem, costs: Sequence[Fraction]) -> Fraction | None:
    """The largest sum of rational block costs over all paths, or None without a system or a proof."""
    return _maximum(problem, problem.model, costs) if problem.model is not None else None


def block_maximum(problem: WcetProblem, of_warps: Iterable[tuple[Sequence[Fraction], int]]) -> Fraction | None:
    """The largest sum of costs over the paths of all warps of a block, each with its own costs; None without a system or a proof.

    `of_warps` are costs of the nodes of the graph, and how many warps have them.
    """
    alike = Counter[tuple[Fraction, ...]]()
    for costs, warps in of_warps:
        alike[tuple(costs)] += warps
    most = [(maximum(problem, costs), warps) for costs, warps in alike.items()]
    known = [warps * each for each, warps in most if each is not None]
    return sum(known, Fraction(0)) if len(known) == len(most) else None


def executions(problem: WcetProblem, costs: Sequence[Fraction]) -> tuple[int, ...] | None:
    """Return how often a path with the largest sum of rational block costs executes each block, or None without a system or a proof."""
    if problem.model is None:
        return None
    columns = Columns(0, tuple(range(1, 1 + len(problem.cfg.edges))))
    model = replace(problem.model, objective=objective(problem.cfg, columns, _scaled(costs)[1]))
    solution = solve(model, problem.setup.solver, problem.setup.time_limit)
    if solution.status is not Status.OPTIMAL:
        return None
    return out_of(problem.cfg, solution.values[1 : 1 + len(problem.cfg.edges)])


def out_of(cfg: WarpCfg, counts: Sequence[int]) -> tuple[int, ...]:
    """Return how often each node is executed by a path that takes the edges so often."""
    totals = [0] * len(cfg.nodes)
    for edge, count in zip(cfg.edges, counts, strict=True):
        totals[edge.src] += count
    return tuple(totals)


def _maximum(problem: WcetProblem, model: Model, costs: Sequence[Fraction]) -> Fraction | None:
    """The largest sum of rational block costs over the paths of the system, or None without a proof."""
    scale, scaled = _scaled(costs)
    columns = Columns(0, tuple(range(1, 1 + len(problem.cfg.edges))))
    return _optimum(problem, replace(model, objective=objective(problem.cfg, columns, scaled)), scale)


def _scaled(costs: Sequence[Fraction]) -> tuple[int, list[int]]:
    scale = lcm(*(cost.denominator for cost in costs))
    return scale, [int(cost * scale) for cost in costs]


def _optimum(problem: WcetProblem, model: Model, scale: int) -> Fraction | None:
    solution = solve(model, problem.setup.solver, problem.setup.time_limit)
    if solution.status is not Status.OPTIMAL or solution.value is None:
        return None
    return Fraction(solution.value, scale)
