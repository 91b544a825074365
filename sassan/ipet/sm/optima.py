"""How long many warps of one kernel take on one SM when each may take any path: optima over one warp graph (docs/proofs/many-warps.md).

The only property required of the SM is work conservation: no warp waits while its unit and an issue slot are free. The page proves

    without block barriers   T <= max_v (C(v) + self_stall(v)) + (W - 1) * max_v stall(v)
    with block barriers      T <= p * max_v (C(v) + self_stall(v)) + (W - p) * max_v stall(v)       (blocks of p warps)
                     and     T <= (openings + 1) * max_segment (C + self_stall) + W * max_v stall(v)   where barriers open in order
                     and     T <= relay + W * max_v stall(v)                where they are also the same ones

for the isolated cost C(v) of a warp v; self_stall(v) and stall(v) are sums over its instructions (`shares`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from sassan.access.opcodes import MemorySpace, space
from sassan.access.traffic import UNKNOWN_BYTES, Moved, unknown_bytes
from sassan.assumptions import published
from sassan.errors import Gap
from sassan.ilp.model import Model
from sassan.ilp.programs import counted, keeping, purpose, solved
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
_TRIES = (
    "a warp that waits for a phase of a barrier in shared memory, or for registers, takes no issue slots from others until that is over, "
    "does not sleep on behind it, and waits for warps of its block and engines alone; every wait ends"
)
_LOOKS = (
    "a warp that waits for a word of memory takes no issue slots and no bandwidth from others until that is written; "
    "the word stays until it is seen; every wait ends; threads of a warp that vote on it go on together"
)
_ENGINES = "the tensor cores of an SM do a product of a warpgroup for its four warps at once; engines serve in order"
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


def path_optima(  # noqa: PLR0913 - all that a bound rests on
    problem: WcetProblem,
    shares: Sequence[Interference],
    machine: Multiprocessor,
    barriers: BlockBarriers = NO_BARRIERS,
    *,
    block: int | None = None,
    cluster: int = 0,
    partition: bool = False,
) -> PathOptima:
    """The optima over all paths; `shares` per node of the graph; with `partition` in the partition model.

    `block`: warps of a block; `cluster`: blocks of a cluster, 0 where that is not known.
    """
    contention = machine.partition_assumptions if partition else (*machine.assumptions, _POOLED)
    once = () if problem.cost_model.quantity is Quantity.INSTRUCTIONS or problem.traffic.moved else (_ONCE,)
    assumptions = (*problem.assumptions, *contention, _CONSERVING, *once, *((_BLOCKS,) if barriers and not barriers.outside else ()))
    if problem.model is None or (barriers.clusters and cluster <= 1):
        return PathOptima(None, assumptions, (*problem.gaps, *barriers.gaps))
    costs = [cost + share.self_stall for cost, share in zip(problem.costs, shares, strict=True)]
    with purpose("isolated"):
        isolated = _maximum(problem, problem.model, costs)
    with purpose("scheduler_stall"):
        scheduler_stall = _maximum(problem, problem.model, [share.scheduler_stall for share in shares])
    sm_stall = _maximum(problem, problem.model, [share.sm_stall for share in shares]) if partition else scheduler_stall
    if isolated is None or scheduler_stall is None or sm_stall is None:
        return PathOptima(None, assumptions, (_unproven(problem),))
    if problem.parted is not None and (unknown := _uncharged(problem)):
        return PathOptima(None, assumptions, unknown)
    optima = Optima(isolated, scheduler_stall, sm_stall, bool(barriers), cluster=max(1, cluster))
    if barriers and block is not None:
        in_turn = _in_turn(problem, optima, shares, block)
        assumptions = (*assumptions, *_waiting(problem, barriers))
        if in_turn is None:
            return PathOptima(None, assumptions, (_unproven(problem),))
        optima = in_turn
    if not (barriers and barriers.in_order):
        return PathOptima(optima, assumptions)
    pieces = {node: _pieces(problem, node, costs, shares, barriers) for node, count in enumerate(barriers.arrivals) if count}
    segment = _longest_segment(problem, problem.model, costs, pieces, barriers)
    with purpose("relay"):
        relay = _longest_relay(problem, costs, pieces)
    if segment is not None:
        optima, assumptions = replace(optima, segment=segment[0], openings=segment[1]), (*assumptions, TOGETHER)
    if relay is not None:
        optima, assumptions = replace(optima, relay=relay), (*dict.fromkeys((*assumptions, TOGETHER)), _SAME)
    return PathOptima(optima, assumptions)


def _unproven(problem: WcetProblem) -> Gap:
    entry = problem.cfg.nodes[problem.cfg.entry].start
    return Gap(entry, "no-proof", "the solver proved no optimum of the contention of the warps")


def _uncharged(problem: WcetProblem) -> tuple[Gap, ...]:
    """The copies in bulk for which it is not known for how long they keep the engine."""
    known = problem.traffic.moved
    code = {each.address: each.opcode for node in problem.cfg.nodes for each in node.code if space(each.opcode) is MemorySpace.BULK}
    missing = [gap for gap in problem.traffic.gaps if gap.address in code]
    silent = [at for at in code if at not in known and at not in {gap.address for gap in missing}]
    return (*missing, *(Gap(at, UNKNOWN_BYTES, unknown_bytes(code[at])) for at in sorted(silent)))


def _in_turn(problem: WcetProblem, optima: Optima, shares: Sequence[Interference], block: int) -> Optima | None:
    """The optima with what the warps of a block take one after the other, and what engines do beside them; None without a proof."""
    parted = problem.parted
    costs_apart = parted.warp if parted is not None else problem.costs

    costs = [cost + share.self_stall for cost, share in zip(costs_apart, shares, strict=True)]
    with purpose("alone"):
        alone = block_sum(problem, block, _alike(costs))
    with purpose("engines"):
        engines = block_sum(problem, block, _alike(parted.engines)) if parted is not None else Fraction(0)
    return None if alone is None or engines is None else replace(optima, alone=alone, engines=engines)


def _alike(costs: Sequence[Fraction]) -> Callable[[WcetProblem, Mapping[int, Moved]], Sequence[Fraction]]:
    """Costs that are the same in all warps."""

    def of_warp(system: WcetProblem, moved: Mapping[int, Moved]) -> Sequence[Fraction]:
        del system, moved
        return costs

    return of_warp


def _waiting(problem: WcetProblem, barriers: BlockBarriers) -> tuple[str, ...]:
    """What is taken for granted of waits for others, and of engines."""
    tries = (*((_TRIES,) if barriers.tries else ()), *((_LOOKS,) if barriers.looks else ()))
    return (*tries, *((_ENGINES,) if problem.parted is not None else ()))


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
    with purpose("segment"):
        segment = _optimum(problem, system, scale) if system is not None else None
    with purpose("openings"):
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


def of_block(problem: WcetProblem, warps: int) -> Iterator[tuple[WcetProblem, Mapping[int, Moved], int]]:
    """Yield the systems of the warps of a block of `warps` warps, with what accesses move in them, and how many warps have both."""
    moved = problem.traffic.warps or (problem.traffic.moved,)
    system = {warp: alike.problem for alike in problem.classes for warp in alike.warps}
    if len(system) != warps:
        system = dict.fromkeys(range(warps), problem)
    kinds = Counter((id(system[warp]), warp % len(moved)) for warp in range(warps))
    by_id = {id(each): each for each in system.values()}
    yield from ((by_id[which], moved[index], count) for (which, index), count in kinds.items())


def block_sum(
    problem: WcetProblem, warps: int, costs_of: Callable[[WcetProblem, Mapping[int, Moved]], Sequence[Fraction]]
) -> Fraction | None:
    """The largest sum of costs over the paths of all warps of a block; None without a system or a proof.

    `costs_of` are those of the nodes of a graph for one of its systems, and for what accesses move.
    """
    total, known = Fraction(0), dict[tuple[int, tuple[Fraction, ...]], Fraction | None]()
    for system, moved, count in of_block(problem, warps):
        costs = tuple(costs_of(system, moved))
        key = id(system), costs
        if key not in known or keeping():
            with counted(count):
                known[key] = maximum(system, costs)
        most = known[key]
        if most is None:
            return None
        total += count * most
    return total


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
    solved(model, solution, scale)
    return Fraction(solution.value, scale)
