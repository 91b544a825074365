"""Calls that share a call string (`--call-depth`): where a callee may be left behind another call than it was entered by.

Then the thread-level graph has cycles that no thread walks: call, return elsewhere, call again. A bound on their turns would be a bound
on how often the function is called, and no flow fact says that. Such a graph has a gap in place of a WCET.
"""

from collections.abc import Iterator

from sassan.errors import Gap
from sassan.ipet.steps import Steps
from sassan.warpcfg.graph import Kind

MERGED = "merged-calls"


def merged_calls(steps: Steps) -> tuple[Gap, ...]:
    """Return one gap per call whose return can be reached from itself without the call."""
    cfg = steps.cfg
    after = {(node.context, node.instructions[-1].following): index for index, node in enumerate(cfg.nodes)}
    successors: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges:
        successors[step.src].append(step.dst)
    found: dict[int, Gap] = {}
    for source, back in sorted(set(_returns(steps))):
        node = cfg.nodes[back]
        call = after.get((node.context, node.start))
        if call is not None and _reaches(successors, back, source, call):
            site = cfg.nodes[call].end
            found[site] = Gap(site, MERGED, "calls share a call string, so that how often each is made is not known: raise --call-depth")
    return tuple(found[site] for site in sorted(found))


def _returns(steps: Steps) -> Iterator[tuple[int, int]]:
    """Yield the thread steps of returns: since Volta a return is a jump, until Pascal threads leave to its token."""
    for edge in steps.cfg.edges:
        if edge.kind is Kind.RETURN and edge.dst is not None:
            yield from [(edge.src, edge.dst)] if edge.popped is None else ((one, edge.dst) for one in steps.token_sources.get(edge.dst, ()))


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
