"""The longest piece of a path of the warp from one block barrier to the next (docs/proofs/many-warps.md).

The system is that of the whole path (`rows`) for a walk that begins at the entry or at a block with a barrier, and ends at the next such
block or at the end. Its rows hold because no thread is suspended where it begins: a warp arrives at a block barrier with all its threads.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.ilp.model import IntegerVariable, Model, Row, combine
from sassan.ipet import rows
from sassan.ipet.rows import Columns
from sassan.ipet.steps import WARP_SIZE, EdgeIndex
from sassan.ipet.system import thread_variables, warp_variables
from sassan.warpcfg.graph import ActivationPoint

Term = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EndCosts:
    """Costs of blocks with a barrier where a walk begins or ends there: behind their last barrier, and up to their first one."""

    begin: Mapping[int, int]
    stop: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Places:
    """Further variables, per block with a barrier: whether the walk begins there, and whether it ends there."""

    begin: dict[int, int]
    stop: dict[int, int]


def segments(steps: EdgeIndex, costs: Sequence[int], bounds: Sequence[int], ends: EndCosts) -> Model | None:
    """The system whose optimum is the largest cost from a barrier in one block to one in the next; `ends` are blocks that hold some.

    None where such a block ends in an indirect branch that may run again.
    """
    barriers = list(ends.begin)
    if not set(steps.reissued.values()).isdisjoint(barriers):
        return None
    cfg = steps.cfg
    first = 1 + len(cfg.edges)
    after = first + len(cfg.thread_edges)
    columns = Columns(0, tuple(range(1, first)), tuple(range(first, after)))
    places = _Places(
        {node: after + index for index, node in enumerate(barriers)},
        {node: after + len(barriers) + index for index, node in enumerate(barriers)},
    )
    variables = (*warp_variables(cfg), *thread_variables(cfg, len(cfg.thread_edges)), *_variables(steps, barriers))
    system = (*_flow(steps, columns, places), *_adapted(steps, columns, places, bounds))
    return Model(f"{cfg.function.name} between barriers", variables, _objective(steps, columns, places, costs, ends), system)


def _variables(steps: EdgeIndex, barriers: Sequence[int]) -> Iterator[IntegerVariable]:
    for name, meaning in (("begin", "the walk begins at the barrier of"), ("stop", "the walk ends at the barrier of")):
        for node in barriers:
            yield IntegerVariable(f"{name}{node:05d}", f"{meaning} {steps.cfg.nodes[node].id}")


def _objective(steps: EdgeIndex, columns: Columns, places: _Places, costs: Sequence[int], ends: EndCosts) -> tuple[Term, ...]:
    """The sum of (cost of each block * its executions), and the end costs of the blocks where the walk begins and ends."""
    inner = [(columns.warp[index], costs[edge.src]) for index, edge in enumerate(steps.cfg.edges) if edge.src not in places.begin]
    pairs = ((places.begin, ends.begin), (places.stop, ends.stop))
    outer = [(column, cost[node]) for columns_of, cost in pairs for node, column in columns_of.items()]
    return combine((*inner, *outer))


def _flow(steps: EdgeIndex, columns: Columns, places: _Places) -> Iterator[Row]:
    yield Row("begin", combine([(columns.start, 1), *((column, 1) for column in places.begin.values())]), "=", 1, "the walk begins once")
    for node, (into, out) in enumerate(zip(steps.into, steps.out, strict=True)):
        arrive = [(columns.warp[edge], 1) for edge in into] + [(columns.start, 1)] * (node == steps.cfg.entry)
        leave = [(columns.warp[edge], -1) for edge in out]
        if node not in places.begin:
            yield Row(f"flow_{node:05d}", combine([*arrive, *leave]), "=", 0)
            continue
        # The walk does not pass a barrier: sum(x into b) = stop, sum(x out of b) = begin
        yield Row(f"flow_{node:05d}_stop", combine([*arrive, (places.stop[node], -1)]), "=", 0)
        yield Row(f"flow_{node:05d}_begin", combine([*leave, (places.begin[node], 1)]), "=", 0)
    ends = [(columns.warp[index], 1) for index, edge in enumerate(steps.cfg.edges) if edge.dst is None]
    yield Row("stop", combine([*ends, *((column, 1) for column in places.stop.values())]), "=", 1, "the walk ends once")


def _adapted(steps: EdgeIndex, columns: Columns, places: _Places, bounds: Sequence[int]) -> Iterator[Row]:
    """Yield the rows of the whole path, with the block where the walk begins in the place of the entry."""
    begins = [[(places.begin[node], -WARP_SIZE)] if node in places.begin else [] for node in range(len(steps.cfg.nodes))]
    of_warp = [_in_loop(steps, places, number, _back_edges(steps, number, bounds)) for number in range(len(bounds))]
    of_threads = [_in_loop(steps, places, number, WARP_SIZE * bound) for number, bound in enumerate(bounds)]
    yield from _with(rows.loop_rows(steps, columns, bounds), of_warp)
    yield from _with(rows.push_rows(steps, columns), [_pushed_before(steps, places, point) for point in steps.pops])
    yield from rows.arrival_rows(steps, columns)
    yield from rows.reissue_rows(steps, columns)
    yield from _with(rows.thread_rows(steps, columns, bounds), [*begins, *of_threads])


def _pushed_before(steps: EdgeIndex, places: _Places, point: ActivationPoint) -> list[Term]:
    """The token that may be on the stack where the walk begins; the sides of a divergence hold threads, so none is."""
    return [(column, -1) for node, column in places.begin.items() if point.tag and point in steps.cfg.stack_points[node]]


def _back_edges(steps: EdgeIndex, number: int, bounds: Sequence[int]) -> int:
    """The largest number of back edges of a warp per entry into a loop."""
    return bounds[number] * (1 if rows.has_single_witness(steps, steps.cfg.loops[number]) else WARP_SIZE)


def _in_loop(steps: EdgeIndex, places: _Places, number: int, back_edges: int) -> list[Term]:
    """The back edges of a loop that a walk may still take if it begins inside."""
    inside = steps.cfg.loops[number].nodes
    return [(column, -back_edges) for node, column in places.begin.items() if node in inside]


def _with(before: Iterator[Row], terms: Sequence[list[Term]]) -> Iterator[Row]:
    """Yield rows with further terms, the first rows with the first terms and so on; rows beyond them stay."""
    more = iter(terms)
    for row in before:
        yield row._replace(terms=combine([*row.terms, *next(more, [])]), math="")
