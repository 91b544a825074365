"""The remedy of branches of which the lanes of a warp take both sides."""

from collections.abc import Iterator, Mapping, Sequence

from sassan.app.advise.changes import counts_of
from sassan.app.advise.code import with_executions
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.plurals import count_of
from sassan.warpcfg.graph import EdgeKind, WarpCfg

_BOTH = 1.1
"""Sides of a branch that are executed so many times as often as it is: warps take both."""


def merged(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy by which each warp takes one side of its branches, as many warps each side as take it now."""
    kernel = launched.prepared.kernel
    if kernel.traced is not None:
        return
    executions = counts_of(kernel)
    scaled, places = list(executions), dict[int, float]()
    for branch, sides in divergent(kernel.cfg).items():
        first, second = (scaled[target] for target in sides)
        if scaled[branch] and first and second and first + second > _BOTH * scaled[branch]:
            for node in frozenset().union(*sides.values()):
                scaled[node] *= scaled[branch] / (first + second)
            places[kernel.cfg.nodes[branch].end] = (first + second) / scaled[branch]
    if places:
        why = f"{count_of(len(places), 'branch', 'branches')} of which the lanes of a warp take both sides, one after the other"
        sure = "upper limit: each warp takes one side; what brings lanes of one side together is not counted"
        changed = with_executions(launched.prepared, scaled)
        yield Remedy(AdviceCode.DIVERGENCE, tuple(sorted(places)), why, changed, sure, EXAMPLES[AdviceCode.DIVERGENCE])


def divergent(cfg: WarpCfg) -> Mapping[int, Mapping[int, frozenset[int]]]:
    """Return both sides of each branch that may split a warp, by its node, outer branches first: the nodes of each by its first one.

    Branches with one side are omitted.
    """
    after: dict[int, list[int]] = {}
    for edge in cfg.thread_edges:
        after.setdefault(edge.src, []).append(edge.dst)
    split = sorted({edge.src for edge in cfg.edges if edge.kind is EdgeKind.DIVERGE})
    out: dict[int, Mapping[int, frozenset[int]]] = {}
    for branch in split:
        targets = list(dict.fromkeys(after.get(branch, ())))
        if len(targets) != 2:  # noqa: PLR2004 - a branch that is taken, or not
            continue
        first, second = (frozenset(_from(after, target, branch)) for target in targets)
        if targets[0] not in second and targets[1] not in first:
            out[branch] = {targets[0]: first - second, targets[1]: second - first}
    return dict(sorted(out.items(), key=lambda item: -sum(map(len, item[1].values()))))


def _from(after: Mapping[int, Sequence[int]], start: int, branch: int) -> set[int]:
    """Return the nodes to which a thread comes from one before it is at a branch again."""
    seen, stack = {start}, [start]
    while stack:
        for each in after.get(stack.pop(), ()):
            if each not in seen and each != branch:
                seen.add(each)
                stack.append(each)
    return seen
