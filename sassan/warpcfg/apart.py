"""Where threads of one warp may be apart: behind a branch that parts them, until all of them meet at a reconvergence barrier."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sassan.analysis.graph import immediate_dominators, reachable
from sassan.warpcfg.graph import EdgeKind, WarpCfg


class Apart(NamedTuple):
    """The nodes at which threads that one branch has parted may be, and those before which they wait for each other."""

    nodes: frozenset[int]
    meets: frozenset[int]


def threads_apart(cfg: WarpCfg) -> tuple[Apart, ...]:
    """Return for each branch that may part threads where these may be until they are together again.

    They surely are at a node that no thread enters but from a reconvergence barrier whose token every way to the branch has pushed. Without
    one, they may be wherever a way leads.
    """
    after: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges:
        after[step.src].append(step.dst)
    above = immediate_dominators(cfg.entry, dict(enumerate(after)))
    gathered = _gathered(cfg)
    out: list[Apart] = []
    for branch in sorted({edge.src for edge in cfg.edges if edge.kind is EdgeKind.DIVERGE}):
        dominators = _dominators(branch, above)
        ends = {node for node, pushing in gathered.items() if pushing and pushing <= dominators}
        inside = [[each for each in several if each not in ends] for several in after]
        nodes = reachable(inside[branch], inside.__getitem__)
        out.append(Apart(frozenset(nodes), frozenset(each for node in {branch, *nodes} for each in after[node] if each in ends)))
    return tuple(out)


def _gathered(cfg: WarpCfg) -> Mapping[int, set[int]]:
    """Return the nodes that are entered from reconvergence barriers alone, each with the nodes that push the token of one."""
    entered: dict[int, set[EdgeKind]] = {}
    for edge in cfg.edges:
        if edge.dst is not None:
            entered.setdefault(edge.dst, set()).add(edge.kind)
    pushing: dict[tuple[Sequence[int], int], set[int]] = {}
    for number, node in enumerate(cfg.nodes):
        for point in node.pushes:
            pushing.setdefault((point.context, point.address), set()).add(number)
    return {
        number: pushing.get((node.context, node.start), set())
        for number, node in enumerate(cfg.nodes)
        if entered.get(number) == {EdgeKind.RECONVERGE}
    }


def _dominators(node: int, above: Mapping[int, int | None]) -> set[int]:
    """Return the nodes through which every way to a node leads, itself among them."""
    out: set[int] = set()
    place: int | None = node
    while place is not None and place not in out:
        out.add(place)
        place = above.get(place)
    return out
