"""The makespan of a function for its report: a schedule that exists, and, where an engine was asked for, how its bounds moved."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sassan.app.makespan import kernels
from sassan.app.makespan.description import chart, units
from sassan.app.makespan.description import verdict as search_verdict
from sassan.app.makespan.instances import MakespanInstance
from sassan.app.makespan.kernels import Paths
from sassan.app.makespan.search import INTERRUPT, InstanceResult
from sassan.app.result import AnalysisResult
from sassan.assumptions import kinds
from sassan.errors import InputError, UsageError
from sassan.makespan import start
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.configuration import MakespanConfiguration
from sassan.makespan.engine import EngineResult
from sassan.makespan.engines import load
from sassan.makespan.merge import Merged
from sassan.makespan.problem import Problem
from sassan.makespan.timed.beam import beam
from sassan.makespan.timed.states import TimedStates
from sassan.render.html.chart import MOST_CELLS, SearchRecord, chart_record, trace
from sassan.timing import Quantity

_SIMPLE = "as soon as possible"
"""The name of no engine: simple rules say which warp goes first."""
_MOST = 200_000
"""Instructions of all warps together that are placed by simple rules: beyond this, a report of many functions would wait for them."""
_MOST_WAITING = 5_000
"""The same where warps wait at barriers."""
_NOTE = "one execution that is possible; --engine all searches for the longest"


@dataclass(frozen=True, slots=True)
class PageSearch:
    """Which engine searches, and how long for each function; None: simple rules make a schedule. `run` is `search`, or watches it."""

    engine: str | None
    seconds: float
    seed: int
    run: Callable[..., InstanceResult]


def searched(result: AnalysisResult, how: PageSearch) -> SearchRecord | None:
    """Return what is known of the warps when each takes the worst path, None where no warps, or no path, were asked for.

    Raises KeyboardInterrupt: an interrupt of a search ends the report.
    """
    bound = result.makespan
    if bound is None or result.worst_path is None:
        return None
    chosen = MakespanConfiguration(warps=bound.residents.warps, machine=result.settings.machine)
    try:
        kernel = kernels.kernel_of(result, chosen, Paths.WORST, 1)
        problem = kernel.instances[0]
        if kernel.barrier:
            return _with_cycles(_without("", kernels.BARRIER), result)
        moves: list[tuple[float, int | None, int | None]] = []
        answer = _simple(problem) if how.engine is None else _engine(problem, how, moves)
        _every_path(answer, result)
    except (InputError, UsageError) as error:
        return _with_cycles(_without("longest makespan: not known", f"{error.code}: {error.message}"), result)
    verdict = search_verdict(answer) if how.engine is not None else _verdict(answer.known)
    return _with_cycles(_record(kernel.label, answer, moves, verdict), result)


def _with_cycles(record: SearchRecord, result: AnalysisResult) -> SearchRecord:
    """Return a record that says how its slots relate to the bound in cycles, where there is one."""
    bounds, scheduled = result.makespan, result.scheduled
    if bounds is None or bounds.bound.value is None or scheduled is None:
        return record
    warps = f"{bounds.residents.warps} warps on one SM take"
    if scheduled.cycles is None:
        text = f"In cycles, {warps} {bounds.bound.value} at most, whatever paths they take (no schedule in cycles: {scheduled.why})."
    else:
        text = (
            f"In cycles, {warps} {scheduled.cycles} to {bounds.bound.value} at worst: the least is a schedule in which each takes the "
            f"worst path ({scheduled.rule}), the most the bound, whatever paths they take."
        )
    return {**record, "cycles": f"{text} Below, a slot is one instruction without its latency: slots and cycles are not comparable."}


def _every_path(answer: InstanceResult, result: AnalysisResult) -> None:
    """Take in the bound over all paths: with unit costs, its cycles are slots."""
    bound = result.makespan
    if bound is not None and bound.bound.value is not None and result.quantity is Quantity.INSTRUCTIONS:
        answer.known(EngineResult("every path", upper=bound.bound.value, proof="integer program over the graph"))


def _engine(problem: MakespanInstance, how: PageSearch, moves: list[tuple[float, int | None, int | None]]) -> InstanceResult:
    begin = time.monotonic()

    def watch(now: Merged) -> None:
        moves.append((time.monotonic() - begin, now.lower, now.upper))

    answer = how.run(problem, load(how.engine or "all"), seconds=how.seconds, seed=how.seed, watch=watch)
    if answer.stopped == INTERRUPT:
        raise KeyboardInterrupt
    moves.append((answer.seconds, answer.known.lower, answer.known.upper))
    return answer


def _simple(problem: MakespanInstance) -> InstanceResult:

    begin = time.monotonic()
    known = Merged(problem.problem)
    known(EngineResult("waiting slots", upper=waiting_slots(problem.problem), proof="waiting-slots"))
    known(_schedule(problem.problem))
    return InstanceResult(problem, known, time.monotonic() - begin)


def _schedule(problem: Problem) -> EngineResult:
    """Return the longest schedule that a few simple rules make, or why there is none."""
    total = sum(string.length for string in problem.strings)
    if total > _MOST:
        return EngineResult(_SIMPLE, note=f"the warps run {total} instructions, too many for a report; sassan makespan takes them")
    if not problem.one_slot:
        return _with_barriers(problem, total)
    case = start.instance(problem)
    rules = (start.Start.ROUND_ROBIN, start.Start.FIXED_PRIORITY, start.Start.MOST_PENDING)
    made = [start.construct(case, start.start(case, rule)) for rule in rules]
    best = max(made, key=lambda schedule: schedule.makespan)
    return EngineResult(_SIMPLE, lower=best.makespan, schedule=best, note=_NOTE)


def _with_barriers(problem: Problem, total: int) -> EngineResult:
    """Return the longest of a few random schedules of warps that wait for each other."""
    if total > _MOST_WAITING:
        return EngineResult(_SIMPLE, note=f"the warps run {total} instructions, too many for a report; sassan makespan takes them")
    schedule = beam(TimedStates(problem), 1, 0, lambda: False)
    assert schedule is not None
    return EngineResult(_SIMPLE, lower=schedule.makespan, schedule=schedule, note=_NOTE)


def _verdict(known: Merged) -> str:
    if known.lower is None:
        return f"no execution takes more than {known.upper} slots"
    return f"this execution takes {known.lower} slots, and none more than {known.upper}"


def _record(label: str, answer: InstanceResult, moves: list[tuple[float, int | None, int | None]], verdict: str) -> SearchRecord:

    known = answer.known
    warps = answer.instance.warps
    texts = list(dict.fromkeys(answer.instance.assumptions))
    drawn = known.schedule is not None and known.schedule.makespan * warps <= MOST_CELLS
    said = [outcome.note for outcome in known.last.values() if outcome.note]
    large = f"the schedule has {known.lower} slots of {warps} warps: too large to draw" if known.schedule is not None else ""
    return {
        "label": label,
        "string": " ".join(str(string) for string in answer.instance.strings),
        "units": units(answer),
        "verdict": verdict,
        "cycles": "",
        "lower": known.lower,
        "upper": known.upper,
        "engines": [
            {
                "name": outcome.engine,
                "lower": outcome.lower if outcome.schedule is not None else None,
                "upper": outcome.upper,
                "seconds": round(outcome.seconds, 3),
                "proof": outcome.note or outcome.proof,
            }
            for outcome in known.last.values()
        ],
        "trace": trace(moves),
        "chart": chart_record(chart(answer)) if drawn else None,
        "why": "" if drawn else large or "; ".join(said) or "no schedule was found in the time given",
        "assumptions": texts,
        "assumption_kinds": kinds(texts),
    }


def _without(verdict: str, why: str) -> SearchRecord:
    return {
        "label": "",
        "string": "",
        "units": "",
        "verdict": verdict,
        "cycles": "",
        "lower": None,
        "upper": None,
        "engines": [],
        "trace": [],
        "chart": None,
        "why": why,
        "assumptions": [],
        "assumption_kinds": [],
    }
