"""What of a graph is drawn: all of it, a part, or an outline, in which loops, calls and equal cases of a switch are one block each."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from sassan.render.graph.blocks import BlockFacts
from sassan.render.graph.clusters import Cluster
from sassan.render.graph.levels import DrawnEdge
from sassan.warpcfg.graph import ThreadEdge, WarpCfg

MOST = 200
"""Blocks of a graph that is drawn whole."""
_OPEN = 60
"""Blocks of the outline of a larger one, unless it has more outside loops and calls."""
_CASES = 3
"""Equal blocks that are drawn as one."""


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """Blocks that are drawn as one: those of a loop or a call (`cluster`), or equal cases between the same neighbours."""

    name: str
    members: tuple[int, ...]
    cluster: Cluster | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """The groups of a drawing, and the blocks that it omits."""

    groups: tuple[BlockGroup, ...] = ()
    omitted: frozenset[int] = frozenset()
    of: Mapping[int, BlockGroup] = field(init=False)
    """The group of each block that is in one."""

    def __post_init__(self) -> None:
        """Index the groups."""
        object.__setattr__(self, "of", {at: group for group in self.groups for at in group.members})

    @property
    def partial(self) -> bool:
        """Whether some blocks are not drawn by themselves."""
        return bool(self.groups or self.omitted)


def part(cfg: WarpCfg, kept: Sequence[int]) -> Outline:
    """Return the outline that draws only these blocks."""
    return Outline(omitted=frozenset(range(len(cfg.nodes))) - frozenset(kept))


def outline(cfg: WarpCfg, root: Cluster, blocks: Sequence[BlockFacts], arcs: Sequence[DrawnEdge]) -> Outline:
    """Return the outline of a large graph: loops and calls that cost most are drawn open while few blocks are drawn."""
    if len(cfg.nodes) <= MOST:
        return Outline()
    # At the level of the warp, the cases of a divergent switch resume each other.
    steps = cfg.thread_edges or arcs
    cases = _cases(root, blocks, steps)
    merged = {at for group in cases for at in group.members}
    drawn = len(set(root.nodes) - merged) + len(cases) + len(root.inner)
    order = count()
    waiting = [(-_weight(box, blocks), next(order), box) for box in root.inner]
    heapq.heapify(waiting)
    closed: list[Cluster] = []
    while waiting:
        _, _, box = heapq.heappop(waiting)
        inside = _cases(box, blocks, steps)
        more = len(box.nodes) - sum(len(group.members) - 1 for group in inside) + len(box.inner) - 1
        if drawn + more > _OPEN:
            closed.append(box)
            continue
        drawn += more
        cases += inside
        for inner in box.inner:
            heapq.heappush(waiting, (-_weight(inner, blocks), next(order), inner))
    groups = [BlockGroup(f"g{blocks[min(box.members)].node.id}", tuple(sorted(box.members)), box) for box in closed]
    return Outline((*sorted(groups, key=lambda group: group.members), *cases))


def equal_cases(cfg: WarpCfg, root: Cluster, blocks: Sequence[BlockFacts], arcs: Sequence[DrawnEdge]) -> Iterator[tuple[int, ...]]:
    """Yield the groups of equal cases of switches, whatever the size of the graph."""
    waiting = [root]
    while waiting:
        box = waiting.pop()
        waiting += box.inner
        yield from (group.members for group in _cases(box, blocks, cfg.thread_edges or arcs))


def _weight(box: Cluster, blocks: Sequence[BlockFacts]) -> int:
    return sum((blocks[at].cost or 0) * (blocks[at].count or 0) for at in box.members)


def _cases(box: Cluster, blocks: Sequence[BlockFacts], steps: Sequence[DrawnEdge | ThreadEdge]) -> list[BlockGroup]:
    """Return the groups of blocks of a box with the same letters and cost, between which a thread has the same steps: cases of a switch."""
    inside = frozenset(box.nodes)
    neighbours: dict[int, set[tuple[bool, int | None]]] = {at: set() for at in box.nodes}
    for step in steps:
        if step.src in inside:
            neighbours[step.src].add((True, step.dst))
        if step.dst is not None and step.dst in inside:
            neighbours[step.dst].add((False, step.src))
    alike: dict[object, list[int]] = {}
    for at in box.nodes:
        block = blocks[at]
        if neighbours[at] and not block.gaps:
            alike.setdefault((frozenset(neighbours[at]), block.letters, block.cost, block.node.divergent), []).append(at)
    return [BlockGroup(f"g{blocks[same[0]].node.id}", tuple(same)) for same in alike.values() if len(same) >= _CASES]
