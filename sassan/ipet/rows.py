"""The rows of the IPET system: what every execution of a warp obeys (each argument in docs/proofs/ipet-rows.md).

Variables: x[e] counts the executions of warp edge e; y[f] counts, over the 32 threads, the steps of a thread over thread edge f.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.ilp.model import Row, combine
from sassan.ipet.steps import WARP_SIZE, EdgeIndex, is_back, is_entry, is_reissue, side_of
from sassan.warpcfg.graph import ActivationPoint, CfgLoop

NO_PUSH_ROWS = "no-push-rows"
NO_ARRIVAL_ROWS = "no-arrival-rows"
NO_THREAD_ROWS = "no-thread-rows"
ROW_SWITCHES = (NO_PUSH_ROWS, NO_ARRIVAL_ROWS, NO_THREAD_ROWS)
"""Families of rows that an experiment may switch off; without them a bound is looser, never wrong."""

Term = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Columns:
    """The variables of the model: for the start, each warp edge, each thread edge (empty without thread rows)."""

    start: int
    warp: tuple[int, ...]
    thread: tuple[int, ...] = ()


def flow_rows(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    """Yield the rows of flow: the warp starts once, and leaves every block as often as it enters it."""
    yield Row("start", ((columns.start, 1),), "=", 1, "x_start = 1")
    for node, (into, out) in enumerate(zip(steps.into, steps.out, strict=True)):
        terms = [*_terms(columns.warp, into, 1), *_terms(columns.warp, out, -1)]
        if node == steps.cfg.entry:
            terms.append((columns.start, 1))
        name = steps.names[node]
        yield Row(f"flow_{node:05d}", combine(terms), "=", 0, f"sum(x into {name}) - sum(x out of {name}) = 0")
    ends = [index for index, edge in enumerate(steps.cfg.edges) if edge.dst is None]
    yield Row("stop", combine(_terms(columns.warp, ends, 1)), "=", 1, "sum(x_end) = 1")


def loop_rows(steps: EdgeIndex, columns: Columns, bounds: Sequence[int]) -> Iterator[Row]:
    """Yield the rows of loops: N back edges per entry of a thread are at most k N of the warp (k = 1 where one thread takes them all)."""
    for index, (loop, bound) in enumerate(zip(steps.cfg.loops, bounds, strict=True)):
        inside = frozenset(loop.nodes)
        arriving = [(number, steps.cfg.edges[number]) for node in loop.nodes for number in steps.into[node]]
        alone = all_are_active(steps, loop)
        back = [number for number, edge in arriving if is_back(steps, loop, inside, edge, by_step=alone)]
        entry = [number for number, edge in arriving if is_entry(steps, inside, edge, by_step=alone)]
        factor = 1 if alone or has_single_witness(steps, loop) else WARP_SIZE
        terms = [*_terms(columns.warp, back, 1), *_terms(columns.warp, entry, -factor * bound)]
        if steps.cfg.entry in inside:
            terms.append((columns.start, -factor * bound))
        name = steps.names[loop.head]
        math = f"loop at {name}: sum(x_back) - {factor} * {bound} * sum(x_entry) <= 0"
        yield Row(f"loop_{index:05d}_{steps.cfg.nodes[loop.head].start:04x}", combine(terms), "<=", 0, math)


def all_are_active(steps: EdgeIndex, loop: CfgLoop) -> bool:
    """Whether every thread inside the loop is active when the header runs: no thread waits at a point inside, whoever pushed it."""
    inside = frozenset(loop.nodes)
    known = steps.cfg.waiting_points
    return bool(known) and all(steps.at.get((point.context, point.address)) not in inside for point in known[loop.head])


def has_single_witness(steps: EdgeIndex, loop: CfgLoop) -> bool:
    """Whether one thread takes every back edge of the loop, by the exploration and by who waits at the header."""
    if not steps.cfg.waiting_points:
        return loop.single_witness
    inside = frozenset(loop.nodes)
    waiting = any(
        steps.at.get((point.context, point.address)) in inside and not inside.isdisjoint(steps.pushers.get(point, ()))
        for point in steps.cfg.waiting_points[loop.head]
    )
    return loop.single_witness and not waiting


def push_rows(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    """Yield the rows of pushes: a pushed entry resumes at most once."""
    for index, (point, pops) in enumerate(steps.pops.items()):
        pushing = steps.pushing_edges.get(point, ())
        terms = [*_terms(columns.warp, pops, 1), *_terms(columns.warp, pushing, -1)]
        for node in steps.pushers[point]:
            terms += _terms(columns.warp, steps.out[node], -steps.cfg.nodes[node].pushes.count(point))
        math = f"{_name(point)}: sum(x that resume it) - sum(x that push it) <= 0"
        yield Row(f"push_{index:05d}", combine(terms), "<=", 0, math)


def arrival_rows(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    """Yield the rows of arrivals: a token resumes only threads that left to it, not more often than blocks with such a leave have run."""
    for index, (node, sources) in enumerate(sorted(steps.token_sources.items())):
        pops = [edge for edge in steps.into[node] if _pops_token(steps, edge)]
        terms = _terms(columns.warp, pops, 1)
        for source in sources:
            terms += _terms(columns.warp, steps.out[source], -1)
        math = f"tokens to {steps.names[node]}: sum(x that resume them) - sum(x of blocks that leave to them) <= 0"
        yield Row(f"arrive_{index:05d}", combine(terms), "<=", 0, math)


def reissue_rows(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    """Yield the rows of indirect branches: a diverged one with k targets runs again at most k - 1 times per arrival."""
    for index, (point, node) in enumerate(steps.reissued.items()):
        again = steps.pops.get(point, ())
        others = [edge for edge in steps.into[node] if edge not in again]
        # Another branch may have pushed the indirect branch as its own other side: then it also resumes once per such push.
        sides = [edge for edge in steps.pushing_edges[point] if not is_reissue(steps, steps.cfg.edges[edge])]
        targets = {steps.cfg.edges[edge].dst for edge in steps.out[node]}
        factor = min(len(targets), WARP_SIZE) - 1
        terms = [
            *_terms(columns.warp, again, 1),
            *_terms(columns.warp, others, -factor),
            *_terms(columns.warp, sides, -factor - 1),
        ]
        if node == steps.cfg.entry:
            terms.append((columns.start, -factor))
        name = steps.names[node]
        yield Row(
            f"again_{index:05d}",
            combine(terms),
            "<=",
            0,
            f"{name}: sum(x_again) - {factor} * sum(x_arrive) - {factor + 1} * sum(x_other_push) <= 0",
        )


def thread_rows(steps: EdgeIndex, columns: Columns, bounds: Sequence[int]) -> Iterator[Row]:
    """Yield the rows of threads: 32 threads walk the thread-level graph, and each execution of a warp edge moves at least one of them."""
    yield from _thread_flow(steps, columns)
    yield from _thread_loops(steps, columns, bounds)
    yield from _thread_moves(steps, columns)


def _thread_flow(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    into: list[list[Term]] = [[] for _ in steps.cfg.nodes]
    for step, column in zip(steps.cfg.thread_edges, columns.thread, strict=True):
        into[step.src].append((column, 1))
        into[step.dst].append((column, -1))
    for node, terms in enumerate(into):
        if node == steps.cfg.entry:
            terms.append((columns.start, -WARP_SIZE))
        name = steps.names[node]
        yield Row(f"threads_{node:05d}", combine(terms), "<=", 0, f"sum(y out of {name}) - sum(y into {name}) <= 0")


def _thread_loops(steps: EdgeIndex, columns: Columns, bounds: Sequence[int]) -> Iterator[Row]:
    into: list[list[Term]] = [[] for _ in steps.cfg.nodes]
    for step, column in zip(steps.cfg.thread_edges, columns.thread, strict=True):
        into[step.dst].append((step.src, column))
    for index, (loop, bound) in enumerate(zip(steps.cfg.loops, bounds, strict=True)):
        inside, back = frozenset(loop.nodes), frozenset(loop.back)
        terms: list[Term] = []
        for node in loop.nodes:
            for src, column in into[node]:
                if (src, node) in back:
                    terms.append((column, 1))
                elif src not in inside:
                    terms.append((column, -bound))
        if steps.cfg.entry in inside:
            terms.append((columns.start, -WARP_SIZE * bound))
        name = steps.names[loop.head]
        yield Row(f"turns_{index:05d}", combine(terms), "<=", 0, f"loop at {name}: sum(y_back) - {bound} * sum(y_entry) <= 0")


def _thread_moves(steps: EdgeIndex, columns: Columns) -> Iterator[Row]:
    moved = _moving_edges(steps)
    column_of = {(step.src, step.dst): column for step, column in zip(steps.cfg.thread_edges, columns.thread, strict=True)}
    for index, (pair, column) in enumerate(column_of.items()):
        if pair[0] in steps.token_sources.get(pair[1], ()):
            continue
        terms = [*_terms(columns.warp, moved.get(pair, ()), 1), (column, -1)]
        yield Row(f"move_{index:05d}", combine(terms), "<=", 0, f"sum(x or pushes over {_pair(steps, pair)}) - y <= 0")
    for index, (node, sources) in enumerate(sorted(steps.token_sources.items())):
        terms = _terms(columns.warp, [edge for edge in steps.into[node] if _pops_token(steps, edge)], 1)
        for source in sources:
            terms += [*_terms(columns.warp, moved.get((source, node), ()), 1), (column_of[source, node], -1)]
        math = f"tokens to {steps.names[node]}: sum(x that resume them) - sum(y that leave to them) <= 0"
        yield Row(f"gather_{index:05d}", combine(terms), "<=", 0, math)


def _moving_edges(steps: EdgeIndex) -> Mapping[tuple[int, int], list[int]]:
    """Map each thread step to the warp edges that move at least one thread over it, now or when what they push resumes."""
    moved: dict[tuple[int, int], list[int]] = {}
    for index, edge in enumerate(steps.cfg.edges):
        if edge.dst is not None and edge.popped is None:
            moved.setdefault((edge.src, edge.dst), []).append(index)
        if edge.pushed is not None and not is_reissue(steps, edge):
            side = side_of(steps, edge.pushed)
            moved.setdefault((edge.src, side), []).append(index)
    return moved


def _pops_token(steps: EdgeIndex, edge: int) -> bool:
    popped = steps.cfg.edges[edge].popped
    return popped is not None and popped.tag != ""


def _terms(columns: Sequence[int], edges: Sequence[int], factor: int) -> list[Term]:
    return [(columns[edge], factor) for edge in edges]


def _name(point: ActivationPoint) -> str:
    return f"{point}{''.join(f' in call {site:04x}' for site in point.context)}"


def _pair(steps: EdgeIndex, pair: tuple[int, int]) -> str:
    return f"{steps.names[pair[0]]} -> {steps.names[pair[1]]}"
