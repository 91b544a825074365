"""From edge counts back to a path: an Euler walk over the counts, written with repeats and never expanded.

The counts of a solution are those of a walk from the entry to the end iff the edges that they use are connected. A shortest walk is taken
off first; what remains is a circulation, taken off cycle by cycle, each at a block that is already on the walk. A cycle is repeated as
often as its rarest edge allows, so that there are at most as many cycles as edges; a cycle met in several places is distributed in
proportion.
"""

from collections import deque
from collections.abc import Sequence as Many
from dataclasses import dataclass, field

from sassan.strings.fold import Repeat, Sequence, counts
from sassan.warpcfg.graph import WarpCfg

_MOST_PLACES = 16
"""The largest number of places that a cycle is distributed over, which keeps deep nests small."""


@dataclass(slots=True)
class _Cycle:
    """A closed walk (for the root: the walk from the entry) that runs `total` times; `inner` are (position, cycle) that start before it."""

    edges: tuple[int, ...]
    total: int
    inner: list[tuple[int, "_Cycle"]] = field(default_factory=list["tuple[int, _Cycle]"])


def walk(cfg: WarpCfg, used: Many[int]) -> Sequence | None:
    """A path from the entry to the end that takes every edge as often as `used` says, or None where there is none.

    The items of the path are indices of `cfg.edges`.
    """
    left = list(used)
    out: list[list[int]] = [[] for _ in cfg.nodes]
    for index, edge in enumerate(cfg.edges):
        if left[index]:
            out[edge.src].append(index)
    trunk = _shortest(cfg, out, left, cfg.entry, None)
    if trunk is None:
        return None
    for number in trunk:
        left[number] -= 1
    root = _Cycle(trunk, 1)
    _take_cycles(cfg, out, left, root)
    return None if any(left) else _items(root)


def _take_cycles(cfg: WarpCfg, out: list[list[int]], left: list[int], root: _Cycle) -> None:
    places: dict[int, list[tuple[_Cycle, int]]] = {}
    waiting = deque([root])
    _note_places(cfg, root, places)
    while waiting:
        for edge in waiting.popleft().edges:
            node = cfg.edges[edge].src
            while any(left[after] for after in out[node]):
                closed = _shortest(cfg, out, left, node, node)
                if closed is None:
                    return  # not a circulation: the caller sees the remaining counts
                times = min(left[index] for index in closed)
                for index in closed:
                    left[index] -= times
                cycles = _distribute(closed, times, places[node])
                for cycle in cycles:
                    _note_places(cfg, cycle, places)
                waiting.extend(cycles)


def _note_places(cfg: WarpCfg, cycle: _Cycle, places: dict[int, list[tuple[_Cycle, int]]]) -> None:
    for position, edge in enumerate(cycle.edges):
        here = places.setdefault(cfg.edges[edge].src, [])
        if len(here) < _MOST_PLACES:
            here.append((cycle, position))


def _distribute(edges: tuple[int, ...], times: int, places: list[tuple[_Cycle, int]]) -> list[_Cycle]:
    """Insert a cycle at the places where its first block runs: evenly over all iterations, the remainder at the first place."""
    each, remainder = divmod(times, sum(outer.total for outer, _ in places))
    cycles: list[_Cycle] = []
    for outer, position in places:
        total = each * outer.total + (remainder if outer is places[0][0] and position == places[0][1] else 0)
        if total:
            cycle = _Cycle(edges, total)
            outer.inner.append((position, cycle))
            cycles.append(cycle)
    return cycles


def _shortest(cfg: WarpCfg, out: list[list[int]], left: list[int], start: int, goal: int | None) -> tuple[int, ...] | None:
    """The edges of a shortest walk from `start` to `goal` (None: the end) over edges that are left, at least one edge long."""
    came: dict[int | None, int] = {}
    frontier = deque([start])
    while frontier:
        node = frontier.popleft()
        for index in out[node]:
            after = cfg.edges[index].dst
            if not left[index] or after in came:
                continue
            came[after] = index
            if after == goal:
                return _trace(cfg, came, start, goal)
            if after is not None and after != start:
                frontier.append(after)
    return None


def _trace(cfg: WarpCfg, came: dict[int | None, int], start: int, goal: int | None) -> tuple[int, ...]:
    path = [came[goal]]
    while cfg.edges[path[-1]].src != start:
        path.append(came[cfg.edges[path[-1]].src])
    return tuple(reversed(path))


def _items(cycle: _Cycle) -> Sequence:
    """The items of a cycle: all its iterations alike where the inner cycles divide, else the last iteration takes the remainder."""
    if cycle.total == 1:
        return _iteration(cycle)
    if _is_even(cycle):
        return (Repeat(_iteration(_split(cycle, 1)[0]), cycle.total),)
    most, last = _split(cycle, cycle.total - 1)
    return (*_items(most), *_items(last))


def _is_even(cycle: _Cycle) -> bool:
    """Whether all iterations of a cycle are alike: the inner cycles divide, and theirs, too."""
    return all(inner.total % cycle.total == 0 and _is_even(inner) for _, inner in cycle.inner)


def _iteration(cycle: _Cycle) -> Sequence:
    items: list[int | Repeat] = []
    at: dict[int, list[_Cycle]] = {}
    for position, inner in cycle.inner:
        at.setdefault(position, []).append(inner)
    for position, edge in enumerate(cycle.edges):
        for inner in at.get(position, ()):
            items.extend(_items(inner))
        items.append(edge)
    return tuple(items)


def _split(cycle: _Cycle, first: int) -> tuple[_Cycle, _Cycle]:
    """Split off `first` iterations with equal numbers of inner iterations; the rest takes the remainder."""
    head, tail = _Cycle(cycle.edges, first), _Cycle(cycle.edges, cycle.total - first)
    if not tail.total:
        return cycle, tail
    for position, inner in cycle.inner:
        inner_head, inner_tail = _split(inner, inner.total // cycle.total * first)
        for part, inner_part in ((head, inner_head), (tail, inner_tail)):
            if inner_part.total:
                part.inner.append((position, inner_part))
    return head, tail


def matches(cfg: WarpCfg, path: Sequence, used: Many[int]) -> bool:
    """Whether a path is connected from the entry to the end, every repeat closed, and takes every edge as often as `used` says."""
    taken = counts(path)
    return _ends_at(cfg, path, cfg.entry) == (None, True) and all(taken.get(index, 0) == count for index, count in enumerate(used))


def _ends_at(cfg: WarpCfg, path: Sequence, node: int | None) -> tuple[int | None, bool]:
    """Where a walk along `path` from `node` ends, and whether it could be walked."""
    for item in path:
        if isinstance(item, Repeat):
            if _ends_at(cfg, item.body, node) != (node, True):
                return node, False
        elif cfg.edges[item].src != node:
            return node, False
        else:
            node = cfg.edges[item].dst
    return node, True
