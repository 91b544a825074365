"""What an estimate expects where an analysis has nothing: iterations of loops without a bound, and latencies that no table has."""

from collections.abc import Mapping
from dataclasses import replace

from sassan.app.analysis import analyze
from sassan.app.result import AnalysisResult
from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.flow_facts import EXTERNAL, UNBOUNDED
from sassan.ipet.loop_bounds import Ending
from sassan.timing.control import ControlCostModel
from sassan.timing.cycles import CycleCostModel
from sassan.timing.rates import NO_LATENCY, code_of
from sassan.timing.sleeps import is_sleep
from sassan.timing.table import TableCostModel
from sassan.warpcfg.looks import looks
from sassan.warpcfg.waits import elections, idle_code, waits

ITERATIONS = 8
"""Back edges per entry of a loop that nothing bounds, where no run counts them: what most loops over rows, lists and neighbours have."""
_EXPECTED: Mapping[Ending | None, int] = {
    **dict.fromkeys((Ending.WAIT, Ending.PHASE, Ending.REGISTERS, Ending.SWAP), 0),
    Ending.DRAW: 1,
    Ending.VOTE: 4,
}
"""Those of loops that other threads end: what is waited for is there at once, and no other thread comes first."""
_LATENCIES = {"fence": 600, "sleep": 1000}
"""Cycles that are expected of latencies that no table has; a fence waits for what L2 has not answered."""
_LATENCY = 300
_CALL = 2000
"""Cycles that are expected of a function that the input does not hold, such as `vprintf` and `malloc`: no publication, some accesses of L2
one after the other, and a hundred instructions."""


def _only_expected(result: AnalysisResult) -> bool:
    """Say whether nothing is missing but what has an expectation: bounds of loops, latencies, and what functions outside the input take."""
    return {gap.code for gap in result.wcet.gaps} <= {UNBOUNDED, NO_LATENCY, EXTERNAL} and result.settings.solve


def expected_iterations(result: AnalysisResult) -> Mapping[int, int]:
    """The back edges to expect of each loop without a bound, by the address of its head; none where anything else is missing.

    A wait is expected to be over at once, whatever its bound says, and one thread to be elected.
    """
    if not _only_expected(result):
        return {}
    known = {*waits(result.cfg), *looks(result.cfg, result.isa.facts), *elections(result.cfg)}
    waited = {result.cfg.nodes[result.cfg.loops[loop].head].start: 0 for loop in known}
    unknown = {gap.address for gap in result.bounds.gaps if gap.code == UNBOUNDED}
    unknown |= {result.cfg.nodes[result.cfg.loops[loop].head].start for loop in result.bounds.extents}
    return {head: iterations_of(result, head) for head in sorted(unknown)} | waited


def iterations_of(result: AnalysisResult, head: int) -> int:
    """The back edges per entry to expect of the loop with this head: as many as a run of all warps took, else by what ends it.

    No more than its bound.
    """
    seen = seen_iterations(result)
    if head in seen:
        return seen[head]
    starts = (result.cfg.nodes[loop.head].start for loop in result.cfg.loops)
    usual, bound = _EXPECTED.get(endings_of(result).get(head), ITERATIONS), dict(zip(starts, result.bounds.of_loop, strict=True)).get(head)
    return usual if bound is None else min(usual, bound)


def seen_iterations(result: AnalysisResult) -> Mapping[int, int]:
    """The back edges per entry that a run of all warps took of loops, by the address of the head, where no other run takes more."""
    counted = result.run.back_edges if result.run is not None else ()
    seen: dict[int, int] = {}
    for loop, most in zip(result.cfg.loops, counted, strict=False):
        head = result.cfg.nodes[loop.head].start
        if most is not None:
            seen[head] = max(most, seen.get(head, 0))
    return seen


def endings_of(result: AnalysisResult) -> Mapping[int, Ending | None]:
    """What ends loops without a bound, by the address of the head."""
    return dict(zip((result.cfg.nodes[loop.head].start for loop in result.cfg.loops), result.bounds.endings, strict=True))


def expected_latencies(result: AnalysisResult) -> Mapping[str, int]:
    """The cycles to expect of each latency that no table has, by its name; none where anything else is missing."""
    costs = result.settings.costs
    asleep = {each.address for each in code_of(result.cfg) if is_sleep(each)}
    missing = {gap.address for gap in result.wcet.gaps if gap.code == NO_LATENCY} | idle_code(result.cfg) | asleep
    if not missing or not _only_expected(result) or not isinstance(costs, ControlCostModel | CycleCostModel | TableCostModel):
        return {}
    latencies = costs.tables.rates(result.function.arch).latencies
    lacking = [(latencies.of(each.opcode), each) for each in code_of(result.cfg) if each.address in missing]
    kinds = {kind.name for kind, each in lacking if kind is not None and latencies.cycles_of(kind, each.opcode) is None}
    return {name: _LATENCIES.get(name, _LATENCY) for name in sorted(kinds)}


def expected_calls(result: AnalysisResult) -> Mapping[str, int]:
    """The cycles to expect of a call of each function that the input does not hold and no fact is about, by its name; none as above."""
    missing = {gap.address for gap in result.wcet.gaps if gap.code == EXTERNAL}
    return {external.name: _CALL for external in result.cfg.externals if external.address in missing} if _only_expected(result) else {}


def with_expectations(
    result: AnalysisResult, iterations: Mapping[int, int], latencies: Mapping[str, int], calls: Mapping[str, int]
) -> AnalysisResult:
    """The analysis for an estimate, with expectations in the place of bounds and latencies."""
    name, settings = result.function.name, result.settings
    facts = settings.facts or FlowFacts("")
    bounds = replace(result.bounds.facts, bounds=(*result.bounds.facts.bounds, *iterations.items()))
    others = tuple(each for each in facts.functions if each[0] != name)
    costs = settings.costs
    if isinstance(costs, ControlCostModel | CycleCostModel | TableCostModel):
        costs = replace(costs, tables=replace(costs.tables, given={**latencies, **costs.tables.given}))
    # What runs said of bounds holds here, too.
    external = (*facts.external, *calls.items())
    settings = replace(
        settings, facts=replace(facts, functions=(*others, (name, bounds)), external=external), costs=costs, check=False, contention=False
    )
    return analyze(result.function, settings, result.file, before=result)
