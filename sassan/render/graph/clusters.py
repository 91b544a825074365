"""Loops and call contexts as nested clusters: a forest of node sets of which any two are nested or disjoint."""

from dataclasses import dataclass, field

from sassan.warpcfg.graph import Context, WarpCfg


@dataclass(slots=True)
class Cluster:
    """A box in the drawing: a loop (`loop` indexes `WarpCfg.loops`) or a call context; the root is neither.

    `nodes` are the members that are in no inner box.
    """

    members: frozenset[int]
    loop: int | None = None
    context: Context | None = None
    nodes: list[int] = field(default_factory=list[int])
    inner: list["Cluster"] = field(default_factory=list["Cluster"])


def forest(cfg: WarpCfg) -> Cluster:
    """Return the root of the boxes; a set that overlaps another is omitted (its head is still marked at the block)."""
    root = Cluster(frozenset(range(len(cfg.nodes))))
    for box in sorted(_boxes(cfg), key=lambda cluster: (-len(cluster.members), cluster.loop is not None, min(cluster.members))):
        parent = _parent(root, box.members)
        if parent is not None:
            parent.inner.append(box)
    for at in range(len(cfg.nodes)):
        parent = root
        while (child := next((cluster for cluster in parent.inner if at in cluster.members), None)) is not None:
            parent = child
        parent.nodes.append(at)
    return root


def _boxes(cfg: WarpCfg) -> list[Cluster]:
    contexts: dict[Context, set[int]] = {}
    for at, node in enumerate(cfg.nodes):
        for depth in range(1, len(node.context) + 1):
            contexts.setdefault(node.context[:depth], set()).add(at)
    boxes = [Cluster(frozenset(members), context=context) for context, members in contexts.items()]
    return boxes + [Cluster(frozenset((*loop.nodes, loop.head)), loop=at) for at, loop in enumerate(cfg.loops)]


def _parent(root: Cluster, members: frozenset[int]) -> Cluster | None:
    """Return the smallest box that contains `members`, None when they overlap a box."""
    parent = root
    while True:
        inner = None
        for child in parent.inner:
            if members <= child.members:
                inner = child
            elif members & child.members:
                return None
        if inner is None:
            return parent
        parent = inner
