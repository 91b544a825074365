"""Which lanes surely execute a node: those that are active at each of its visits (docs/proofs/words-of-lanes.md).

`WordFlow.lanes` says which may. A store covers the sectors that it accesses where both are the same.
"""

from collections.abc import Mapping, Sequence

from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.graph import Edge, EdgeKind, WarpCfg

_ALL = -1
_TOGETHER = frozenset({EdgeKind.TAKEN, EdgeKind.FALLTHROUGH})
"""The edges that all active threads of a branch take together."""


def present(cfg: WarpCfg, facts: Mapping[int, Facts], may: Mapping[int, int], taken: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    """Return, for each node, the lanes whose threads are active at each of its visits: the greatest solution over the edges.

    `may` are the lanes that may come to a block, `taken` those that may take a step between two; all ones where that is not known.
    """
    gone = _gone(cfg, facts, may, taken)
    into: list[list[Edge]] = [[] for _ in cfg.nodes]
    for edge in cfg.edges:
        if edge.dst is not None:
            into[edge.dst].append(edge)
    # Where no thread waits, all that have not ended are active.
    least = [0 if cfg.waiting_points[index] else ~gone[index] for index in range(len(cfg.nodes))]
    out = [_ALL] * len(cfg.nodes)
    changed = True
    while changed:
        changed = False
        for index, edges in enumerate(into):
            lanes = ~gone[index]
            for edge in edges:
                lanes &= _along(cfg, edge, out[edge.src], facts, taken)
            lanes |= least[index]
            if lanes != out[index]:
                out[index], changed = lanes, True
    return tuple(out)


def _along(cfg: WarpCfg, edge: Edge, lanes: int, facts: Mapping[int, Facts], taken: Mapping[tuple[int, int], int]) -> int:
    """Return which of the lanes at a node are surely active behind an edge."""
    if edge.popped is not None:
        return 0
    src = cfg.nodes[edge.src]
    if not src.divergent:
        return lanes
    flow, some = facts[src.end].flow, _taken(cfg, edge, taken)
    if flow in {Flow.BRANCH, Flow.EXIT} and some != _ALL:
        return lanes & some
    return lanes if flow is Flow.BRANCH and edge.kind in _TOGETHER else 0


def _taken(cfg: WarpCfg, edge: Edge, taken: Mapping[tuple[int, int], int]) -> int:
    return _ALL if edge.dst is None else taken.get((cfg.nodes[edge.src].start, cfg.nodes[edge.dst].start), _ALL)


def _gone(cfg: WarpCfg, facts: Mapping[int, Facts], may: Mapping[int, int], taken: Mapping[tuple[int, int], int]) -> Sequence[int]:
    """Return, for each node, the lanes whose threads may have ended before it is visited: the least solution over the edges."""
    ends = {edge.src for edge in cfg.edges if edge.dst is None} | {
        index for index, node in enumerate(cfg.nodes) if facts[node.end].flow is Flow.EXIT
    }
    out = [0] * len(cfg.nodes)
    todo = list(range(len(cfg.nodes)))
    after: list[list[Edge]] = [[] for _ in cfg.nodes]
    for edge in cfg.edges:
        after[edge.src].append(edge)
    while todo:
        src = todo.pop()
        for edge in after[src]:
            if edge.dst is None:
                continue
            lanes = out[src]
            if src in ends and (edge.kind is not EdgeKind.FALLTHROUGH or cfg.nodes[src].divergent):
                some = _taken(cfg, edge, taken)
                here = may.get(cfg.nodes[src].start, _ALL)
                lanes |= here & ~some if some != _ALL and edge.kind is EdgeKind.FALLTHROUGH else here
            if lanes | out[edge.dst] != out[edge.dst]:
                out[edge.dst] |= lanes
                todo.append(edge.dst)
    return out
