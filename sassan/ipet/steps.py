"""The thread steps of the edges of a warp: the classification that every row is built on.

A warp edge moves active threads, or resumes threads that a push suspended earlier. In both cases each of these threads makes one *thread
step* (src, dst). docs/proofs/ipet-rows.md, "What an edge means for a thread".
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sassan.errors import SelfCheckError
from sassan.warpcfg.graph import ActivationPoint, CfgLoop, Context, Edge, EdgeKind, WarpCfg

POPS = frozenset({EdgeKind.REACTIVATE, EdgeKind.RECONVERGE, EdgeKind.RETURN})
WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class EdgeIndex:
    """Indexes over a WarpCfg; lists hold indices of `edges`, in order.

    `names`, `into` and `out` are per node. `pushers` maps a point to the nodes that push it, `token_sources` a node to the nodes whose
    threads may step to it by leaving to a token, `pops` a point to the edges that pop it. `reissued` are the points of diverged indirect
    branches, which resume at the branch itself, mapped to the node of the branch.
    """

    cfg: WarpCfg
    names: tuple[str, ...]
    into: tuple[tuple[int, ...], ...]
    out: tuple[tuple[int, ...], ...]
    at: dict[tuple[Context, int], int]
    pushers: dict[ActivationPoint, tuple[int, ...]]
    pushing_edges: dict[ActivationPoint, tuple[int, ...]]
    pops: dict[ActivationPoint, tuple[int, ...]]
    reissued: dict[ActivationPoint, int]
    token_sources: dict[int, tuple[int, ...]]


def steps_of(cfg: WarpCfg) -> EdgeIndex:
    """The indexes of a graph.

    Raises SelfCheckError for a graph that no exploration may produce: a block without an end, a pop of something that nothing pushes.
    """
    into: list[list[int]] = [[] for _ in cfg.nodes]
    out: list[list[int]] = [[] for _ in cfg.nodes]
    for index, edge in enumerate(cfg.edges):
        out[edge.src].append(index)
        if edge.dst is not None:
            into[edge.dst].append(index)
    at = {(node.context, node.start): index for index, node in enumerate(cfg.nodes)}
    pushing = _grouped((edge.pushed, index) for index, edge in enumerate(cfg.edges))
    pushers = _grouped(
        (
            *((edge.pushed, edge.src) for edge in cfg.edges),
            *((point, index) for index, node in enumerate(cfg.nodes) for point in node.pushes),
        )
    )
    pops = _grouped((edge.popped, index) for index, edge in enumerate(cfg.edges))
    _check(cfg, out, pops, pushers)
    reissued, sources = _reissued(cfg, out), _token_sources(cfg, out)
    names = tuple(node.id for node in cfg.nodes)
    steps = EdgeIndex(cfg, names, tuple(map(tuple, into)), tuple(map(tuple, out)), at, pushers, pushing, pops, reissued, sources)
    _check_threads(steps)
    return steps


def _grouped(pairs: Iterable[tuple[ActivationPoint | None, int]]) -> dict[ActivationPoint, tuple[int, ...]]:
    groups: dict[ActivationPoint, dict[int, None]] = {}
    for point, index in pairs:
        if point is not None:
            groups.setdefault(point, {})[index] = None
    return {point: tuple(groups[point]) for point in sorted(groups)}


def _check(
    cfg: WarpCfg, out: list[list[int]], pops: dict[ActivationPoint, tuple[int, ...]], pushers: dict[ActivationPoint, tuple[int, ...]]
) -> None:
    for index, node in enumerate(cfg.nodes):
        if not out[index]:
            raise SelfCheckError("dead-end", f"block {node.id} has no successor and does not end the warp")
    for edge in cfg.edges:
        # A return pops its token until Pascal; since Volta it is a jump.
        popping = edge.kind in POPS and not (edge.kind is EdgeKind.RETURN and edge.popped is None)
        if popping != (edge.popped is not None) or (edge.kind is EdgeKind.EXIT) != (edge.dst is None):
            raise SelfCheckError("malformed-edge", f"an edge of kind {edge.kind} leaves {cfg.nodes[edge.src].id} with the wrong ends")
    for point in pops:
        if point not in pushers:
            raise SelfCheckError("pop-without-push", f"{point} resumes, and nothing pushes it")


def _check_threads(steps: EdgeIndex) -> None:
    """Check that each thread step of a warp edge is an edge of the thread-level graph: the thread rows depend on it."""
    known = {(step.src, step.dst) for step in steps.cfg.thread_edges}
    for edge in steps.cfg.edges:
        if edge.dst is None or edge.popped is not None:
            continue
        needed = {(edge.src, edge.dst)}
        if edge.pushed is not None and not is_reissue(steps, edge):
            needed.add((edge.src, side_of(steps, edge.pushed)))
        if not needed <= known:
            name = f"{steps.cfg.nodes[edge.src].id} -> {steps.cfg.nodes[edge.dst].id}"
            raise SelfCheckError("no-thread-step", f"the warp edge {name} moves threads without a thread edge")


def side_of(steps: EdgeIndex, point: ActivationPoint) -> int:
    """The node where a suspended side resumes.

    Raises SelfCheckError where there is none.
    """
    node = steps.at.get((point.context, point.address))
    if node is None:
        raise SelfCheckError("no-such-point", f"{point} resumes where no block starts")
    return node


def _reissued(cfg: WarpCfg, out: list[list[int]]) -> dict[ActivationPoint, int]:
    """The points at which diverged indirect branches wait: no other block pushes its own last address as a side."""
    reissued: dict[ActivationPoint, int] = {}
    for index, node in enumerate(cfg.nodes):
        again = ActivationPoint(node.context, node.end, "")
        if any(cfg.edges[edge].pushed == again for edge in out[index]):
            if node.start != node.end:
                raise SelfCheckError("malformed-reissue", f"the indirect branch of block {node.id} is not a block of its own")
            reissued[again] = index
    return reissued


def is_reissue(steps: EdgeIndex, edge: Edge) -> bool:
    """Whether this edge pushes the rest of a diverged indirect branch, which has made no step yet."""
    return edge.pushed is not None and steps.reissued.get(edge.pushed) == edge.src


def _token_sources(cfg: WarpCfg, out: list[list[int]]) -> dict[int, tuple[int, ...]]:
    """Per node, the nodes from which threads step to it by leaving to a token.

    A block that ends in SYNC, BRK, CONT, RET or EXIT is known by its edges: some of them pop or end the warp. A thread step from such a
    block is a step to a token, unless it is plainly the fall-through of a guarded one.
    """
    targets = dict(cfg.token_targets)
    sources: dict[int, list[int]] = {}
    for step in cfg.thread_edges:
        edges = [cfg.edges[edge] for edge in out[step.src]]
        leaves = any(edge.popped is not None or edge.dst is None for edge in edges)
        falls = any(edge.dst == step.dst and edge.popped is None for edge in edges)
        known = cfg.nodes[step.dst].start in targets.get(cfg.nodes[step.src].end, ())
        if leaves and (known or not falls):
            sources.setdefault(step.dst, []).append(step.src)
    return {node: tuple(of_node) for node, of_node in sources.items()}


def is_back(steps: EdgeIndex, loop: CfgLoop, inside: frozenset[int], edge: Edge, *, by_step: bool = False) -> bool:
    """Whether every thread that this edge activates has just stepped from inside the loop to its header."""
    waits_there = edge.popped is not None and edge.popped in steps.reissued
    return edge.dst == loop.head and not waits_there and _from_inside(steps, inside, edge, by_step=by_step)


def is_entry(steps: EdgeIndex, inside: frozenset[int], edge: Edge, *, by_step: bool = False) -> bool:
    """Whether some thread that this edge activates may have just stepped into the loop from outside."""
    return edge.dst in inside and not _from_inside(steps, inside, edge, by_step=by_step)


def _from_inside(steps: EdgeIndex, inside: frozenset[int], edge: Edge, *, by_step: bool) -> bool:
    """Whether all threads activated by this edge certainly come from inside; False where a push is shared or unknown.

    Threads that wait at a diverged indirect branch come from that branch itself, and it is inside wherever they resume. With `by_step`,
    threads of a token come from where they left to it, whoever pushed it.
    """
    if edge.popped is None:
        return edge.src in inside
    pushed_inside = inside.issuperset(steps.pushers[edge.popped])
    if not edge.popped.tag or edge.dst is None:
        return pushed_inside
    return (by_step or pushed_inside) and inside.issuperset(steps.token_sources.get(edge.dst, ()))
