"""Paths of one warp through a function, with their strings and costs."""

from dataclasses import dataclass
from itertools import islice

from sassan.app.result import AnalysisResult
from sassan.ipet.facts.rows import fact_rows
from sassan.ipet.paths import LONGEST, paths
from sassan.ipet.rows import NO_THREAD_ROWS
from sassan.ipet.steps import steps_of
from sassan.ipet.system import columns_of
from sassan.strings.blocks import path_blocks, path_string
from sassan.strings.kernel_string import KernelString

_TRIED, _TRIED_EACH = 2000, 20
"""Paths that are looked at for each that is listed: many paths have the same string."""


@dataclass(frozen=True, slots=True)
class ListedPath:
    """A path of one warp from the entry to the end: its string, and its cost alone in cycles of the cost model."""

    string: KernelString
    cost: int


def listed_paths(result: AnalysisResult, limit: int) -> tuple[ListedPath, ...]:
    """At most `limit` paths with different strings, the worst first where it is known, then in the order of the graph.

    Where gaps forbid a bound there are none.
    """
    if result.problem.model is None:
        return ()
    listed: dict[str, ListedPath] = {}
    if result.worst_path is not None and result.wcet.value is not None:
        known = result.worst_path.steps() if result.worst_path.length <= LONGEST else ()
        listed["".join(known)] = ListedPath(result.worst_path, result.wcet.value)
    if len(listed) >= limit:
        return tuple(listed.values())
    strings = [string or KernelString() for string in result.strings]
    texts = ["".join(string.steps()) for string in strings]
    bounds = [bound for bound in result.bounds.of_loop if bound is not None]
    steps = steps_of(result.cfg)
    facts = tuple(fact_rows(steps, columns_of(result.cfg, frozenset({NO_THREAD_ROWS})), result.bounds.facts, bounds))
    for path in islice(paths(result.cfg, bounds, facts), max(_TRIED, _TRIED_EACH * limit)):
        blocks = [result.cfg.edges[edge].src for edge in path]
        spelled = "".join([texts[block] for block in blocks])
        if spelled not in listed:
            string = path_string(path_blocks(result.cfg, path), strings)
            listed[spelled] = ListedPath(string, sum(result.problem.costs[block] for block in blocks))
            if len(listed) >= limit:
                break
    return tuple(listed.values())
