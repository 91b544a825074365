"""Loops and call contexts as nested clusters: a forest of node sets of which any two are nested or disjoint."""

from dataclasses import dataclass, field

from sassan.warpcfg.graph import Context, WarpCfg


@dataclass(slots=True)
class Cluster:
    """A box in the drawing: a loop (`loop` indexes `WarpCfg.loops`) or a call context; the root is neither.

    `own` are the nodes of no inner box.
    """

    members: frozenset[int]
    loop: int | None = None
    context: Context | None = None
    own: list[int] = field(default_factory=list[int])
    inner: list["Cluster"] = field(default_factory=list["Cluster"])


def forest(cfg: WarpCfg) -> Cluster:
    """Return the root of the boxes; a set that crosses another one is left out (its head is still marked at the block)."""
    root = Cluster(frozenset(range(len(cfg.nodes))))
    for box in sorted(_boxes(cfg), key=lambda one: (-len(one.members), one.loop is not None, min(one.members))):
        home = _home(root, box.members)
        if home is not None:
            home.inner.append(box)
    for at in range(len(cfg.nodes)):
        home = root
        while (deeper := next((one for one in home.inner if at in one.members), None)) is not None:
            home = deeper
        home.own.append(at)
    return root


def _boxes(cfg: WarpCfg) -> list[Cluster]:
    contexts: dict[Context, set[int]] = {}
    for at, node in enumerate(cfg.nodes):
        for depth in range(1, len(node.context) + 1):
            contexts.setdefault(node.context[:depth], set()).add(at)
    boxes = [Cluster(frozenset(members), context=context) for context, members in contexts.items()]
    return boxes + [Cluster(frozenset((*loop.nodes, loop.head)), loop=at) for at, loop in enumerate(cfg.loops)]


def _home(root: Cluster, members: frozenset[int]) -> Cluster | None:
    """Return the smallest box that holds `members`, None when they cross a box."""
    home = root
    while True:
        deeper = None
        for one in home.inner:
            if members <= one.members:
                deeper = one
            elif members & one.members:
                return None
        if deeper is None:
            return home
        home = deeper
