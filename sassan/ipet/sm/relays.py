"""The longest walk of a block whose warps hand over to each other at its barriers (docs/proofs/many-warps.md).

All warps of a block wait at the same barrier instructions in the same order. Then the pieces of different warps between them make one walk
from the entry to the end. The rows of a whole path hold for it, but that at a barrier other threads may go on than arrived, that tokens
may be on their stack, and that the iterations of a loop with barriers are taken by several warps.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sassan.ilp.model import Model, Row, combine
from sassan.ipet import rows
from sassan.ipet.rows import Columns
from sassan.ipet.steps import WARP_SIZE, EdgeIndex, is_back, is_entry
from sassan.ipet.system import columns_of, objective, thread_variables, warp_variables

Term = tuple[int, int]


def relays(steps: EdgeIndex, costs: Sequence[int], bounds: Sequence[int], barriers: Collection[int]) -> Model | None:
    """The system whose optimum is the largest cost of such a walk; `barriers` are the nodes that hold some.

    None where warps may take the iterations of a loop with barriers in other places of the common order.
    """
    if not set(steps.reissued.values()).isdisjoint(barriers):
        return None
    iterations: list[int] = []
    crossed: set[int] = set()
    for number, (loop, bound) in enumerate(zip(steps.cfg.loops, bounds, strict=True)):
        inside = [node for node in barriers if node in loop.nodes]
        more = _further_iterations(steps, number, inside, barriers) if inside else 0
        if more is None:
            return None
        iterations.append(bound + more)
        crossed |= {number} if inside else set()
    columns = columns_of(steps.cfg)
    variables = (*warp_variables(steps.cfg), *thread_variables(steps.cfg, len(columns.thread)))
    system = (
        *rows.flow_rows(steps, columns),
        *rows.loop_rows(steps, columns, iterations),
        *_pushes(steps, columns, barriers),
        *rows.arrival_rows(steps, columns),
        *rows.reissue_rows(steps, columns),
        *_threads(steps, columns, bounds, barriers, crossed),
    )
    return Model(f"{steps.cfg.function.name} over its barriers", variables, objective(steps.cfg, columns, costs), system)


def without_barrier(steps: EdgeIndex, model: Model, barriers: Collection[int]) -> Model | None:
    """The same for the walks that pass no barrier, None where there are none."""
    first = _walk(steps, steps.cfg.entry, nodes=barriers)
    if not any(steps.cfg.edges[edge].dst is None for edge in first):
        return None
    passing = [(columns_of(steps.cfg).warp[edge], 1) for node in barriers for edge in steps.out[node]]
    return replace(model, rows=(*model.rows, Row("no_barrier", combine(passing), "=", 0)))


def _pushes(steps: EdgeIndex, columns: Columns, barriers: Collection[int]) -> Iterator[Row]:
    """Yield the rows of pushes: whoever goes on at a barrier may have pushed one token of each point that may be on the stack there."""
    for row, point in zip(rows.push_rows(steps, columns), steps.pops, strict=True):
        there = [node for node in barriers if point.tag and point in steps.cfg.stack_points[node]]
        yield row._replace(terms=combine([*row.terms, *((columns.warp[edge], -1) for node in there for edge in steps.out[node])]), math="")


def _threads(
    steps: EdgeIndex, columns: Columns, bounds: Sequence[int], barriers: Collection[int], crossed: Collection[int]
) -> Iterator[Row]:
    """Yield the rows of threads: 32 may pass a barrier, whoever arrived; the iterations of `crossed` loops are those of several warps."""
    dropped = {f"turns_{number:05d}" for number in crossed}
    behind = {f"threads_{node:05d}": [(columns.warp[edge], -WARP_SIZE) for edge in steps.out[node]] for node in barriers}
    for row in rows.thread_rows(steps, columns, bounds):
        if row.name in behind:
            yield row._replace(terms=combine([*row.terms, *behind[row.name]]), math="")
        elif row.name not in dropped:
            yield row


@dataclass(frozen=True, slots=True)
class _Visits:
    """A loop with its edges: `entries` lead into it, `back` to its head from inside."""

    head: int
    entries: frozenset[int]
    back: frozenset[int]


def _further_iterations(steps: EdgeIndex, number: int, inside: Sequence[int], barriers: Collection[int]) -> int | None:
    """Return how many iterations more than one warp several may take of a loop with barriers, by iterations; None where nothing is known.

    Some barrier is passed once in each iteration, so that its places in the common order count the iterations of every warp.
    """
    visits = _visits(steps, number)
    if visits is None:
        return None
    surplus = [more for node in inside if (more := _iterations_by(steps, visits, node, barriers)) is not None]
    return min(surplus, default=None)


def _visits(steps: EdgeIndex, number: int) -> _Visits | None:
    """The loop with its edges, None where one leads into it elsewhere than to its head."""
    loop = steps.cfg.loops[number]
    nodes, alone = frozenset(loop.nodes), rows.all_are_active(steps, loop)
    arriving = [edge for node in loop.nodes for edge in steps.into[node]]
    entries = frozenset(edge for edge in arriving if is_entry(steps, nodes, steps.cfg.edges[edge], by_step=alone))
    back = frozenset(edge for edge in arriving if is_back(steps, loop, nodes, steps.cfg.edges[edge], by_step=alone))
    return _Visits(loop.head, entries, back) if all(steps.cfg.edges[edge].dst == loop.head for edge in entries) else None


def _iterations_by(steps: EdgeIndex, visits: _Visits, barrier: int, barriers: Collection[int]) -> int | None:
    """Return the same where a barrier is passed once between any two iterations, None for another one."""
    if visits.head in _ends(steps, _walk(steps, visits.head, nodes=(barrier,), edges=visits.entries)):
        return None  # an iteration without it
    if barrier in _ends(steps, _walk(steps, barrier, edges=visits.entries | visits.back)):
        return None  # twice in an iteration
    again = bool(_walk(steps, visits.head) & visits.entries)
    if again and not any(_separates(steps, visits, barrier, other) for other in barriers):
        return None
    before, behind = (
        _leaves(steps, visits, taken) for taken in (_walk(steps, visits.head, nodes=(barrier,)), _walk(steps, barrier, edges=visits.back))
    )
    # One warp may leave in front of its last barrier, and another one behind its own.
    return int(before and behind)


def _separates(steps: EdgeIndex, visits: _Visits, barrier: int, other: int) -> bool:
    """Whether another barrier is passed between any two visits of a loop, and behind the iterations of the first of them."""
    entered_again = _walk(steps, visits.head, nodes=(other,)) & visits.entries
    turns_behind = {visits.head, barrier} & _ends(steps, _walk(steps, other, edges=visits.entries))
    return other != barrier and not entered_again and not turns_behind


def _leaves(steps: EdgeIndex, visits: _Visits, taken: Collection[int]) -> bool:
    return any(steps.cfg.edges[edge].dst is None or edge in visits.entries for edge in taken)


def _ends(steps: EdgeIndex, edges: Collection[int]) -> set[int | None]:
    return {steps.cfg.edges[edge].dst for edge in edges}


def _walk(steps: EdgeIndex, start: int, *, nodes: Collection[int] = (), edges: Collection[int] = ()) -> set[int]:
    """Return the edges that a walk from a node may take which leaves none of `nodes` and takes none of `edges`."""
    taken: set[int] = set()
    todo = [start]
    while todo:
        node = todo.pop()
        for edge in () if node in nodes else steps.out[node]:
            dst = steps.cfg.edges[edge].dst
            if edge not in taken and edge not in edges:
                taken.add(edge)
                todo += [] if dst is None else [dst]
    return taken
