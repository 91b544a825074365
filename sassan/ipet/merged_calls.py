"""Calls that share a call string (`--call-depth`): a callee that may return behind another call than the one that entered it.

Then the thread-level graph has cycles that no thread walks: call, return elsewhere, call again. A bound on their iterations would be a
bound on the number of calls, which no flow fact gives. Such a graph has a gap in place of a WCET.
"""

from collections.abc import Iterator

from sassan.errors import Gap
from sassan.ipet.steps import EdgeIndex
from sassan.warpcfg.graph import EdgeKind

MERGED = "merged-calls"


def merged_calls(steps: EdgeIndex) -> tuple[Gap, ...]:
    """One gap per call whose return can be reached from itself without the call."""
    cfg = steps.cfg
    after = {(node.context, node.instructions[-1].following): index for index, node in enumerate(cfg.nodes)}
    successors: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges:
        successors[step.src].append(step.dst)
    gaps: dict[int, Gap] = {}
    for source, back in sorted(set(_returns(steps))):
        node = cfg.nodes[back]
        call = after.get((node.context, node.start))
        if call is not None and _reaches(successors, back, source, call):
            site = cfg.nodes[call].end
            gaps[site] = Gap(site, MERGED, "calls share a call string, so that the number of each is unknown: raise --call-depth")
    return tuple(gaps[site] for site in sorted(gaps))


def _returns(steps: EdgeIndex) -> Iterator[tuple[int, int]]:
    """The thread steps of returns: since Volta a return is a jump, until Pascal threads leave to its token."""
    for edge in steps.cfg.edges:
        if edge.kind is EdgeKind.RETURN and edge.dst is not None:
            yield from (
                [(edge.src, edge.dst)] if edge.popped is None else ((source, edge.dst) for source in steps.token_sources.get(edge.dst, ()))
            )


def _reaches(successors: list[list[int]], start: int, goal: int, without: int) -> bool:
    seen, todo = {start, without}, [start]
    while todo:
        for node in successors[todo.pop()]:
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return False
