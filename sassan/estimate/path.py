"""The path of a warp that stands for all: visits of nodes, each with how many visits it represents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush

from sassan.strings.fold import Item, Repeat, rename
from sassan.strings.fold import Sequence as Folded
from sassan.warpcfg.graph import WarpCfg


class PathSource(StrEnum):
    """Where the executions of the expected path come from."""

    RECORDED = "recorded executions"
    SAMPLED = "warps of the launch that were run, with drawn contents of memory"
    SAMPLED_DATA = "warps of the launch that were run, with recorded contents of memory where they are known when it begins"
    WORST = "the longest path that the bounds of the loops allow"


@dataclass(frozen=True, slots=True)
class Visits:
    """Nodes in the order in which a warp visits them; a visit represents `weights` visits of the whole path.

    Loops with many iterations are cut short: their visits weigh more. Only a share of all warps makes a visit, and those with one number
    of `turns`, an iteration, are made or skipped by the same warps as far as their shares allow.
    """

    nodes: tuple[int, ...]
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    turns: tuple[int, ...]

    def counts(self, nodes: int) -> tuple[float, ...]:
        """Return how often each node of a graph is visited by a warp on average."""
        out = [0.0] * nodes
        for node, weight, share in zip(self.nodes, self.weights, self.shares, strict=True):
            out[node] += weight * share
        return tuple(out)


Weighted = tuple[Folded, Mapping[int, float]]
"""A folded sequence of nodes, and the weight of a visit of each node within one iteration of the loops around it."""


def worst_path(cfg: WarpCfg, counts: Sequence[int], path: Folded | None) -> Weighted:
    """Return the nodes of a path, given by its edges; where only the executions of the edges are known, a path through them."""
    if path is not None:
        return rename(path, lambda edge: cfg.edges[edge].src), {}
    executions = [0.0] * len(cfg.nodes)
    for edge, count in zip(cfg.edges, counts, strict=True):
        executions[edge.src] += count
    return nested(cfg, executions)


def recorded_path(cfg: WarpCfg, counts: Mapping[int, int], warps: int) -> Weighted | None:
    """Return a path with recorded executions of instructions by all warps; None where they say nothing of single nodes."""
    starts = [node.start for node in cfg.nodes]
    if not counts or len(set(starts)) < len(starts):
        return None  # several contexts share the counts of an instruction
    return nested(cfg, [counts.get(start, 0) / warps for start in starts])


def nested(cfg: WarpCfg, executions: Sequence[float]) -> Weighted:
    """Return a path with given executions: iterations of a loop are alike, and a node visited in some of them weighs less in each."""
    order = _order(cfg)
    innermost: list[int | None] = [None] * len(cfg.nodes)
    for number, loop in sorted(enumerate(cfg.loops), key=lambda pair: -len(pair[1].nodes)):
        for node in loop.nodes:
            innermost[node] = number
    weights: dict[int, float] = {}

    def items(inside: int | None, runs: float) -> Folded:
        out: list[Item] = []
        done: set[int] = set()
        for node in order:
            if executions[node] <= 0 or runs <= 0:
                continue
            child = _child(cfg, innermost[node], inside)
            if child == inside:
                out.append(node)
                weights[node] = executions[node] / runs
            elif child is not None and child not in done and _within(cfg, innermost[node], inside):
                done.add(child)
                times = max(1, round(executions[cfg.loops[child].head] / runs))
                body = items(child, runs * times)
                out.append(Repeat(body, times) if times > 1 else Repeat(body, 1))
        return tuple(out)

    return items(None, 1.0), weights


def _within(cfg: WarpCfg, loop: int | None, outer: int | None) -> bool:
    while loop is not None and loop != outer:
        loop = cfg.loops[loop].parent
    return loop == outer


def _child(cfg: WarpCfg, loop: int | None, outer: int | None) -> int | None:
    """Return the loop directly within `outer` that holds `loop`; `outer` itself where it is the same; None where it is not within."""
    if loop == outer:
        return outer
    while loop is not None:
        parent = cfg.loops[loop].parent
        if parent == outer:
            return loop
        loop = parent
    return None


def _order(cfg: WarpCfg) -> list[int]:
    """Return the nodes in reverse postorder of the graph."""
    after: dict[int, list[int]] = {}
    for edge in cfg.edges:
        if edge.dst is not None:
            after.setdefault(edge.src, []).append(edge.dst)
    seen, order, stack = {cfg.entry}, list[int](), [(cfg.entry, iter(after.get(cfg.entry, ())))]
    while stack:
        node, rest = stack[-1]
        follower = next((each for each in rest if each not in seen), None)
        if follower is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(follower)
            stack.append((follower, iter(after.get(follower, ()))))
    return order[::-1]


def visits(path: Weighted, sizes: Sequence[int], most: int) -> Visits:
    """Return the visits of a path with about `most` instructions: loops are cut to the iterations that fit; `sizes` are those of nodes.

    Outer loops are cut first: iterations of an inner one overlap in a warp, and one that stands for many tells little of them.
    """
    folded, weights = path
    caps = [max((1, *_times(folded)))] * (_height(folded) + 1)
    for height in range(len(caps) - 1, -1, -1):
        while caps[height] > 1 and _length(folded, sizes, caps) > most:
            caps[height] //= 2
    nodes: list[int] = []
    counted: list[float] = []
    shares: list[float] = []
    turns: list[int] = []

    def expand(items: Folded, weight: float) -> None:
        turn = len(nodes)
        for item in items:
            if isinstance(item, Repeat):
                for part in _iterations(item.times, caps[_height(item.body)]):
                    expand(item.body, weight * part)
            else:
                nodes.append(item)
                counted.append(weight * max(1.0, weights.get(item, 1.0)))
                shares.append(min(1.0, weights.get(item, 1.0)))
                turns.append(turn)

    expand(folded, 1.0)
    return Visits(tuple(nodes), tuple(counted), tuple(shares), tuple(turns))


def _iterations(times: int, cap: int) -> list[float]:
    """Return the weight of each iteration that is kept: the first stands for itself, the others share the rest."""
    if times <= cap:
        return [1.0] * times
    return [float(times)] if cap == 1 else [1.0] + [(times - 1) / (cap - 1)] * (cap - 1)


def _times(items: Folded) -> list[int]:
    return [times for item in items if isinstance(item, Repeat) for times in (item.times, *_times(item.body))]


def _height(items: Folded) -> int:
    """Return how many loops are inside each other in a sequence."""
    return max((1 + _height(item.body) for item in items if isinstance(item, Repeat)), default=0)


def _length(items: Folded, sizes: Sequence[int], caps: Sequence[int]) -> int:
    """Return the instructions of a sequence; `caps` are iterations of a loop at most, by the height of its body."""
    return sum(
        min(item.times, caps[_height(item.body)]) * _length(item.body, sizes, caps) if isinstance(item, Repeat) else sizes[item]
        for item in items
    )


def shortest(cfg: WarpCfg) -> Visits:
    """Return a path with the fewest instructions from the entry to the end of the warp, no visits where there is none."""
    after: dict[int, list[int | None]] = {}
    for edge in cfg.edges:
        after.setdefault(edge.src, []).append(edge.dst)
    reached: dict[int, int] = {}
    queue: list[tuple[int, int, int]] = [(0, cfg.entry, -1)]
    while queue:
        cost, node, before = heappop(queue)
        if node in reached:
            continue
        reached[node] = before
        if None in after.get(node, ()):
            nodes = [node]
            while (previous := reached[nodes[-1]]) >= 0:
                nodes.append(previous)
            return Visits(tuple(nodes[::-1]), (1.0,) * len(nodes), (1.0,) * len(nodes), (0,) * len(nodes))
        for follower in after.get(node, ()):
            if follower is not None and follower not in reached:
                heappush(queue, (cost + len(cfg.nodes[node].code), follower, node))
    return Visits((), (), (), ())
