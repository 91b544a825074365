"""How often warps of a launch visit each node: counted where they were run to their end, and what is assumed of the others."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sassan.estimate.warps import Sample, slow_paths
from sassan.estimate.watch import Truth, Watch
from sassan.warpcfg.graph import WarpCfg

_WHOLE = 2
"""Visits of the head of a loop, of which one iteration is over."""
_ROLE = 0.25
"""The part of its instructions that a warp executes in loops of its own, where it has a role of its own."""
NOTHING: Mapping[int, int] = MappingProxyType({})
"""No loop with an expectation."""
Figures = npt.NDArray[np.float64]
Role = tuple[int, ...]
"""The loops that some warps of a block run, and others never do."""


@dataclass(frozen=True, slots=True)
class Counted:
    """`executions` of each node by a warp on average, and by one of the `longest` block that was run; as many where memory decides that.

    `leading` are those by the warp of a block that executes most, on average over blocks, and `alone` by the one that does of all warps.
    `followed` are loops with an expectation that does not matter: warps were run through them, and no contents that are drawn decide.

    `assumed` are nodes whose executions are not counted: iterations were leapt over that need not be alike, warps were cut, or contents of
    memory decide. `cut` are the loops in which warps were cut, or which they did not reach: only bounds say how often these iterate.
    `roles`: two sorts of warps of one block that run loops which the others never do; none where there are no two. `iterations`: back edges
    per entry of each loop, where every warp that enters it comes to its end, whatever memory holds; None of others.
    """

    executions: tuple[float, ...]
    longest: tuple[float, ...]
    assumed: frozenset[int]
    cut: frozenset[int]
    roles: tuple[Role, ...] = ()
    iterations: tuple[float | None, ...] = ()
    leading: tuple[float, ...] = ()
    alone: tuple[float, ...] = ()
    followed: frozenset[int] = frozenset()


def counted(  # noqa: PLR0913 - what was run, and what is known of it
    watch: Watch,
    done: Truth,
    chosen: Sample,
    worst: Sequence[int],
    expected: Mapping[int, int] = NOTHING,
    *,
    is_given: bool = True,
) -> Counted:
    """Return how often a warp visits each node. A warp that was cut goes on as on the longest path (`worst`: by edges).

    `expected` are the back edges per entry of loops (by number) which drawn contents of memory say nothing of: no more are counted, unless
    warps iterate as often whatever memory holds. Not `is_given`: numbers among the arguments are assumed, and no count stands against an
    expectation.
    Where contents of memory decide whether a warp comes to its end, those that do stand for all: such contents are likelier.
    """
    short = done & ~watch.leapt
    contents = any(short[warp] != short[copy] and not _alike(watch, warp, copy) for warp, copy in chosen.pairs)
    stands = chosen.inner & short if contents and (chosen.inner & short).any() else chosen.inner
    completed = _Completed(watch, worst)
    visits = watch.visits.astype(np.float64)
    blocks = np.array([chosen.number(warp) for warp in range(len(chosen))])
    first = np.ones(len(chosen), np.bool_)
    first[[copy for _, copy in chosen.pairs]] = False
    assumed, cut = set[int](), set[int]()
    for warp in np.flatnonzero(first).tolist():
        if not done[warp]:
            visits[:, warp] = completed.visits(warp)
        if stands[warp]:
            assumed.update(*(watch.cfg.loops[loop].nodes for loop in np.flatnonzero(watch.leaps.guessed[:, warp]).tolist()))
            if not done[warp]:
                nodes, loops = completed.guessed(warp)
                assumed |= nodes
                cut |= loops
    entries = watch.entries.astype(np.float64)
    known = tuple(_iterations(watch, done, chosen, loop) if is_given else None for loop in range(len(watch.cfg.loops)))
    followed = frozenset(loop for loop in expected if known[loop] is not None)
    guessed = {loop: iterations for loop, iterations in expected.items() if loop not in followed}
    for loop, iterations in sorted(guessed.items(), key=lambda item: -len(watch.cfg.loops[item[0]].nodes)):
        _cap(watch.cfg, visits, entries, loop, iterations)
    decided = {node for warp, copy in chosen.pairs for node in np.flatnonzero(watch.visits[:, warp] != watch.visits[:, copy]).tolist()}
    assumed |= decided
    weights = chosen.weights
    mean = _mean(visits, weights * stands)
    sizes = np.array([len(node.code) for node in watch.cfg.nodes], np.float64)
    each = [_mean(visits, weights * (first & (blocks == block))) for block in np.unique(blocks)]
    roles = _roles(watch.cfg, visits, blocks, first)
    # What contents decide that are drawn says nothing of the longest warp.
    visits[sorted(decided)] = mean[sorted(decided), None]
    order = np.argsort(sizes @ visits, kind="stable")
    leading = [order[stands[order] & (blocks[order] == block)][-1] for block in np.unique(blocks[stands])]
    return Counted(
        tuple(mean.tolist()),
        tuple((mean if decided else max(each, key=lambda of_block: float(sizes @ of_block))).tolist()),
        frozenset(assumed),
        frozenset(cut),
        roles,
        known,
        tuple(visits[:, leading].mean(axis=1).tolist()) if leading else tuple(mean.tolist()),
        tuple(visits[:, order[first[order]][-1]].tolist()),
        followed,
    )


def _mean(visits: Figures, weights: Figures) -> Figures:
    """Return the visits of nodes by warps on average."""
    return np.asarray((visits * weights).sum(axis=1) / max(1.0, float(weights.sum())))


def _alike(watch: Watch, warp: int, copy: int) -> bool:
    """Say whether two warps took the same path; which of them leapt over iterations of it says nothing."""
    return bool((watch.visits[:, warp] == watch.visits[:, copy]).all())


def _iterations(watch: Watch, done: Truth, chosen: Sample, loop: int) -> float | None:
    """Return the back edges per entry of a loop that does not depend on contents of memory; None where warps say nothing of it."""
    visits, entries = watch.visits[watch.cfg.loops[loop].head], watch.entries[loop]
    entered = entries > 0
    pairs = [(warp, copy) for warp, copy in chosen.pairs if entered[warp] or entered[copy]]
    # Where no warp of these was run a second time, all have come to their end.
    if not entered.any() or not done[entered if pairs else slice(None)].all():
        return None
    turns = watch.turns[loop]
    # Each lane: the longest of many is often as long, whatever memory holds.
    if any(entries[warp] != entries[copy] or (turns[warp] != turns[copy]).any() for warp, copy in pairs):
        return None
    return float((visits[entered].sum() - entries[entered].sum()) / entries[entered].sum())


def _cap(cfg: WarpCfg, visits: Figures, entries: Figures, loop: int, iterations: int) -> None:
    """Let warps visit a loop, and all that is inside, no more often than so many back edges per entry say."""
    nodes = list(cfg.loops[loop].nodes)
    most = entries[loop] * (iterations + 1)
    factor = np.minimum(1.0, most / np.maximum(visits[cfg.loops[loop].head], 1.0))
    visits[nodes] *= factor
    inside = [index for index, other in enumerate(cfg.loops) if index != loop and set(other.nodes) < set(nodes)]
    entries[inside] *= factor


def trips(cfg: WarpCfg, worst: Sequence[int]) -> tuple[int, ...]:
    """Return how often the longest path visits the head of each innermost loop per entry; 0 of others, whose iterations may differ."""
    out: list[int] = []
    around = {loop.parent for loop in cfg.loops}
    for index, loop in enumerate(cfg.loops):
        inside = set(loop.nodes)
        to_head = [(edge.src in inside, count) for edge, count in zip(cfg.edges, worst, strict=True) if edge.dst == loop.head]
        entered = sum(count for again, count in to_head if not again)
        out.append(sum(count for _, count in to_head) // entered if entered and index not in around else 0)
    return tuple(out)


class _Completed:
    """Warps that were cut, with what the longest path says of the rest."""

    def __init__(self, watch: Watch, worst: Sequence[int]) -> None:
        cfg = watch.cfg
        self._watch, self._worst = watch, worst
        self._longest = np.zeros(len(cfg.nodes))
        for edge, count in zip(cfg.edges, worst, strict=True):
            self._longest[edge.src] += count
        self._after: list[list[int]] = [[] for _ in cfg.nodes]
        slow = slow_paths(cfg.function)
        for edge in cfg.edges:
            if edge.dst is not None and cfg.nodes[edge.dst].start not in slow:
                self._after[edge.src].append(edge.dst)

    def visits(self, warp: int) -> Figures:
        """Return the visits of a warp to its end."""
        watch, cfg, longest = self._watch, self._watch.cfg, self._longest
        visits = watch.visits[:, warp].astype(np.float64)
        out = visits.copy()
        for index in self._around(warp):
            loop = cfg.loops[index]
            inside = set(loop.nodes)
            entered = sum(
                count for edge, count in zip(cfg.edges, self._worst, strict=True) if edge.dst == loop.head and edge.src not in inside
            )
            iterations = longest[loop.head] / entered if entered else 0.0
            factor = max(1.0, iterations * max(1, int(watch.entries[index, warp])) / max(1.0, visits[loop.head]))
            out[list(loop.nodes)] *= factor
        for node, holds in self._ahead(warp):
            head = cfg.loops[holds].head if holds is not None else None
            out[node] = longest[node] * (out[head] / longest[head] if head is not None and longest[head] else 1.0)
        return out

    def guessed(self, warp: int) -> tuple[set[int], set[int]]:
        """Return the nodes whose visits the longest path says, and the loops whose iterations only their bounds do."""
        around, ahead = self._around(warp), [(node, holds) for node, holds in self._ahead(warp) if self._longest[node]]
        nodes = {node for index in around for node in self._watch.cfg.loops[index].nodes} | {node for node, _ in ahead}
        inner = [index for index, loop in enumerate(self._watch.cfg.loops) if any(node in loop.nodes for node, _ in ahead)]
        return nodes, {*around, *inner}

    def _around(self, warp: int) -> list[int]:
        last = int(self._watch.last[warp])
        return [index for index, loop in enumerate(self._watch.cfg.loops) if last in loop.nodes]

    def _ahead(self, warp: int) -> list[tuple[int, int | None]]:
        """Return the nodes to which control may still come, without those that whole iterations did not visit, and the loop of each."""
        cfg, visits = self._watch.cfg, self._watch.visits[:, warp]
        loops = sorted(self._around(warp), key=lambda index: len(cfg.loops[index].nodes))
        out: list[tuple[int, int | None]] = []
        for node in sorted(_ahead(self._after, int(self._watch.last[warp]))):
            holds = next((index for index in loops if node in cfg.loops[index].nodes), None)
            if not visits[node] and (holds is None or visits[cfg.loops[holds].head] < _WHOLE):
                out.append((node, holds))
        return out


def _ahead(after: Sequence[Sequence[int]], node: int) -> set[int]:
    """Return the nodes to which control may come from one."""
    seen, stack = set[int](), [node]
    while stack:
        new = [each for each in after[stack.pop()] if each not in seen]
        seen.update(new)
        stack += new
    return seen


def _roles(cfg: WarpCfg, visits: Figures, blocks: npt.NDArray[np.int64], first: Truth) -> tuple[Role, ...]:
    """Return two sorts of warps of one block, by the loops that each runs and the other never does, for a good part of its time."""
    sizes = np.array([len(node.code) for node in cfg.nodes], np.float64)
    for block in np.unique(blocks[first]).tolist():
        warps = np.flatnonzero(first & (blocks == block)).tolist()
        for left, right in itertools.combinations(warps, 2):
            roles = _alone(cfg, sizes, visits[:, left], visits[:, right]), _alone(cfg, sizes, visits[:, right], visits[:, left])
            if all(roles):
                return roles
    return ()


def _alone(cfg: WarpCfg, sizes: Figures, visits: Figures, others: Figures) -> Role:
    """Return the loops that one warp runs and another does not, where it spends a good part of its instructions there; else none."""
    loops = [index for index, loop in enumerate(cfg.loops) if visits[loop.head] >= _WHOLE and not others[loop.head]]
    nodes = sorted({node for index in loops for node in cfg.loops[index].nodes})
    return tuple(loops) if sizes[nodes] @ visits[nodes] >= _ROLE * (sizes @ visits) else ()
