"""The rows of flow facts (docs/proofs/flow-facts.md): what is known of a thread, carried over to its warp, and what is known of a warp."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm, prod

from sassan.ilp.model import Row, combine
from sassan.ipet.facts.model import Exclusive, FunctionFacts, Total
from sassan.ipet.facts.places import inside, loops_at, nodes_at, scopes, spelled
from sassan.ipet.rows import Columns, Term
from sassan.ipet.steps import WARP_SIZE, EdgeIndex, is_back, is_entry
from sassan.warpcfg.graph import CfgLoop

_WIDEST = 10**6
"""Factors of blocks that exclude each other: wider ones would cost the solver its precision."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """A thread counts at most `bound` per scope: executions of `blocks` (node, factor), back edges of `loops`.

    A scope is one entry into a loop, one `iteration` of it, or the run of the function (None).
    """

    what: str
    scope: CfgLoop | None
    iteration: bool
    bound: int
    blocks: tuple[tuple[int, int], ...]
    loops: tuple[CfgLoop, ...] = ()


def fact_rows(steps: EdgeIndex, columns: Columns, facts: FunctionFacts, bounds: Sequence[int]) -> Iterator[Row]:
    """Yield the rows of the facts of a function; `bounds` per loop of the graph."""
    limits = [*_totals(steps, facts.totals), *_exclusives(steps, facts.exclusive, bounds)]
    for number, limit in enumerate(limits):
        yield from _limit_rows(steps, columns, f"fact_{number:05d}", limit)
    for address in facts.never:
        terms = [term for node in nodes_at(steps.cfg, address) for term in _leaving(steps, columns, node, 1)]
        yield Row(f"fact_never_{address:04x}", combine(terms), "<=", 0, f"the block at {spelled(address)} is never executed: sum(x) <= 0")
    for number, constraint in enumerate(facts.constraints):
        terms = [
            term
            for address, factor in constraint.terms
            for node in nodes_at(steps.cfg, address)
            for term in _leaving(steps, columns, node, factor)
        ]
        math = f"a sum over executions of blocks by the warp {constraint.sense} {constraint.limit}"
        yield Row(f"fact_constraint_{number:05d}", combine(terms), constraint.sense, constraint.limit, math)


def _totals(steps: EdgeIndex, totals: Sequence[Total]) -> Iterator[_Limit]:
    for total in totals:
        for scope in scopes(steps.cfg, total.per):
            known = inside(steps.cfg, scope)
            name = spelled(total.counted)
            if total.back:
                loops = tuple(loop for loop in loops_at(steps.cfg, total.counted) if loop.head in known)
                yield _Limit(f"back edges of {name}", scope, iteration=False, bound=total.bound, blocks=(), loops=loops)
            elif isinstance(total.counted, int):
                nodes = tuple((node, 1) for node in nodes_at(steps.cfg, total.counted) if node in known)
                yield _Limit(f"block {name}", scope, iteration=False, bound=total.bound, blocks=nodes)


def _exclusives(steps: EdgeIndex, exclusives: Sequence[Exclusive], bounds: Sequence[int]) -> Iterator[_Limit]:
    """Yield one limit per scope: where a thread that executes a block does so at most M times, a step of the block counts 1/M."""
    for exclusive in exclusives:
        event = "one of the blocks " + ", ".join(map(spelled, exclusive.blocks))
        for scope in scopes(steps.cfg, exclusive.within):
            known = inside(steps.cfg, scope)
            groups = [tuple(node for node in nodes_at(steps.cfg, address) if node in known) for address in exclusive.blocks]
            most = [sum(_most(steps, scope, node, bounds) for node in group) or 1 for group in groups]
            scale = lcm(*most)
            if scale > _WIDEST:
                most = [max(most)] * len(most)
                scale = most[0]
            blocks = tuple((node, scale // times) for group, times in zip(groups, most, strict=True) for node in group)
            yield _Limit(event, scope, iteration=scope is not None, bound=scale, blocks=blocks)


def _most(steps: EdgeIndex, scope: CfgLoop | None, node: int, bounds: Sequence[int]) -> int:
    """How often a thread executes a node in a scope: a loop inside is entered once per iteration of the one around it."""
    known = inside(steps.cfg, scope)
    return prod(
        bound + 1
        for loop, bound in zip(steps.cfg.loops, bounds, strict=True)
        if node in loop.nodes and loop is not scope and known.issuperset(loop.nodes)
    )


def _limit_rows(steps: EdgeIndex, columns: Columns, name: str, limit: _Limit) -> Iterator[Row]:
    """Yield what the threads count in all, and what the warp does: as much as one thread where some thread takes part in all of it."""
    factor, by_step = _witness(steps, limit)
    per = "" if limit.scope is None else f" * sum({'iterations' if limit.iteration else 'entries'} of {steps.names[limit.scope.head]})"
    terms = [*_warp_counts(steps, columns, limit), *_warp_scopes(steps, columns, limit, -factor * limit.bound, by_step=by_step)]
    yield Row(f"{name}_warp", combine(terms), "<=", 0, f"{limit.what}: sum(x) - {factor} * {limit.bound}{per} <= 0")
    if columns.thread:
        terms = [*_thread_counts(steps, columns, limit), *_thread_scopes(steps, columns, limit)]
        yield Row(f"{name}_threads", combine(terms), "<=", 0, f"{limit.what}: sum(y) - {limit.bound}{per} <= 0")


def _witness(steps: EdgeIndex, limit: _Limit) -> tuple[int, bool]:
    """How many threads may share what the warp counts in a scope, and whether its entries are known by the steps of threads alone."""
    counted = {*(node for node, _ in limit.blocks), *(loop.head for loop in limit.loops)}
    if not steps.cfg.waiting_points:
        return WARP_SIZE, False
    reaching = _reaching(steps, limit, counted)
    waiting = {
        point for node in counted for point in steps.cfg.waiting_points[node] if steps.at.get((point.context, point.address)) in reaching
    }
    if not waiting:
        return 1, True
    known = inside(steps.cfg, limit.scope)
    entered = limit.scope is not None and all(known.isdisjoint(steps.pushers.get(point, ())) for point in waiting)
    return (1, False) if entered else (WARP_SIZE, False)


def _reaching(steps: EdgeIndex, limit: _Limit, counted: set[int]) -> set[int]:
    """The nodes of a scope from which a thread may come to one that is counted without leaving the scope or, of an iteration, ending it."""
    known = set(inside(steps.cfg, limit.scope))
    if limit.scope is not None and limit.iteration:
        known.discard(limit.scope.head)
    before: dict[int, list[int]] = {}
    for step in steps.cfg.thread_edges:
        before.setdefault(step.dst, []).append(step.src)
    reaching = counted & known
    todo = list(reaching)
    while todo:
        for node in before.get(todo.pop(), ()):
            if node in known and node not in reaching:
                reaching.add(node)
                todo.append(node)
    return reaching


def _warp_counts(steps: EdgeIndex, columns: Columns, limit: _Limit) -> Iterator[Term]:
    for node, factor in limit.blocks:
        # Threads that run a diverged indirect branch again have executed its block already.
        yield from ((columns.warp[edge], factor) for edge in steps.into[node] if steps.cfg.edges[edge].popped not in steps.reissued)
        if node == steps.cfg.entry:
            yield columns.start, factor
    for loop in limit.loops:
        nodes = frozenset(loop.nodes)
        yield from (
            (columns.warp[edge], 1) for edge in steps.into[loop.head] if is_back(steps, loop, nodes, steps.cfg.edges[edge], by_step=True)
        )


def _warp_scopes(steps: EdgeIndex, columns: Columns, limit: _Limit, factor: int, *, by_step: bool) -> Iterator[Term]:
    known, scope = inside(steps.cfg, limit.scope), limit.scope
    if scope is not None:
        for node in scope.nodes:
            for edge in steps.into[node]:
                if is_entry(steps, known, steps.cfg.edges[edge], by_step=by_step) or (limit.iteration and node == scope.head):
                    yield columns.warp[edge], factor
    if steps.cfg.entry in known:
        yield columns.start, factor


def _thread_counts(steps: EdgeIndex, columns: Columns, limit: _Limit) -> Iterator[Term]:
    factors = dict(limit.blocks)
    back = {pair for loop in limit.loops for pair in loop.back}
    for step, column in zip(steps.cfg.thread_edges, columns.thread, strict=True):
        yield column, factors.get(step.dst, 0) + ((step.src, step.dst) in back)
    yield columns.start, WARP_SIZE * factors.get(steps.cfg.entry, 0)


def _thread_scopes(steps: EdgeIndex, columns: Columns, limit: _Limit) -> Iterator[Term]:
    known, scope = inside(steps.cfg, limit.scope), limit.scope
    if scope is not None:
        for step, column in zip(steps.cfg.thread_edges, columns.thread, strict=True):
            if step.dst in known and (step.src not in known or (limit.iteration and step.dst == scope.head)):
                yield column, -limit.bound
    if steps.cfg.entry in known:
        yield columns.start, -WARP_SIZE * limit.bound


def _leaving(steps: EdgeIndex, columns: Columns, node: int, factor: int) -> list[Term]:
    """Every execution of a block leaves it by one edge."""
    return [(columns.warp[edge], factor) for edge in steps.out[node]]
