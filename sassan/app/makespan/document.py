"""The JSON of `sassan makespan`. Cycles count from 1 there, warps from 0."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sassan.app import documents
from sassan.app.documents import Value
from sassan.app.makespan.kernels import KernelInstances
from sassan.app.makespan.search import Answer
from sassan.ilp import write
from sassan.makespan import estimates as papers
from sassan.makespan.all import states
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.engines import load
from sassan.makespan.program.build import Form
from sassan.makespan.program.engine import program as build

_MOST_WARPS = 9
_FEW_STATES = 500


def text(answer: Answer) -> str:
    """The document of one question about strings, as text."""
    # The schedule may hold 100,000 rows: each on a line of its own, not on five.
    document = json.dumps({**documents.tool(), **numbers(answer), "schedule": None}, indent=2)
    rows = schedule(answer)
    shown = "null" if rows is None else "[\n    " + ",\n    ".join(json.dumps(row) for row in rows) + "\n  ]"
    return document.replace('"schedule": null', f'"schedule": {shown}') + "\n"


def numbers(answer: Answer) -> dict[str, Value]:
    """Return what is known of one instance."""
    known, processor = answer.known, answer.instance.processor
    strings = [str(string) for string in answer.instance.strings]
    used = {letter for string in answer.instance.strings for letter, count in string.counts().items() if count}
    capacities: dict[str, Value] = {
        letter.value: value.numerator if value.denominator == 1 else str(value)
        for letter, value in processor.capacity.items()
        if letter in used
    }
    latency: dict[str, Value] = {letter.value: slots for letter, slots in processor.latency.items()}
    interval: dict[str, Value] = {letter.value: slots for letter, slots in processor.interval.items()}
    return {
        "string": strings[0] if len(strings) == 1 else None,
        "strings": strings,
        "warps": answer.instance.warps,
        "capacities": capacities,
        "latency": latency,
        "interval": interval,
        "blocks": list(answer.instance.problem.blocks),
        "issue": processor.issue,
        "exact": known.exact,
        "lower": known.lower,
        "upper": known.upper,
        "gap": known.gap,
        "engines": [_engine(outcome) for outcome in known.last.values()],
        "estimates": [{"name": name, "value": value, "bound": False, "note": unsafe} for name, value, unsafe in estimates(answer)],
        **documents.assumptions(answer.instance.assumptions),
        "stopped": answer.stopped or None,
        "seconds": round(answer.seconds, 3),
        "schedule": None,
    }


def _engine(outcome: EngineResult) -> Value:
    lower = outcome.lower if outcome.schedule is not None else None
    return {
        "name": outcome.engine,
        "value": outcome.upper if lower is None else lower,
        "lower": lower,
        "upper": outcome.upper,
        "proof": outcome.proof,
        "seconds": round(outcome.seconds, 6),
        "note": outcome.note,
    }


def schedule(answer: Answer) -> list[list[int | str]] | None:
    """Return the best schedule as rows of cycle (from 1), warp (from 0), unit, by cycle and warp."""
    best = answer.known.schedule
    if best is None:
        return None
    cells = [
        (slot + 1, warp, letter.value)
        for warp, (string, row) in enumerate(zip(answer.instance.problem.strings, best.slots, strict=True))
        for letter, slot in zip(string.expand(), row, strict=True)
    ]
    return [list(cell) for cell in sorted(cells)]


def function(kernel: KernelInstances, answers: Sequence[Answer]) -> Mapping[str, Value]:
    """Return the entry of one function of a listing."""
    result = kernel.result
    paths: list[Value] = [
        {
            "string": str(answer.instance.strings[0]) if len(answer.instance.strings) == 1 else None,
            "cost": max(answer.instance.costs),
            "condition": kernel.label,
            "makespan": {**numbers(answer), "schedule": schedule(answer)},
        }
        for answer in answers
    ]
    return {
        **documents.head(result),
        "strings": {"worst_path": documents.string(result.worst_path)},
        "wcet": documents.wcet(result),
        "makespan": documents.makespan(result.makespan) if kernel.bound is not None else None,
        "paths": paths,
        "gaps": documents.gaps(result.gaps),
    }


def estimates(answer: Answer) -> list[tuple[str, int, str]]:
    """Return the formulas of the 2011 paper, which are no bounds: name, value, and what must be said of it."""
    problem, lower = answer.instance.problem, answer.known.lower
    if not (problem.identical and problem.one_slot):
        return []
    from_papers = [papers.pessimistic(problem)]
    exact = _few(answer)
    if exact:
        from_papers.append(papers.extrapolated(problem.warps, exact))
    exceeded = {estimate.name: "; the schedule found is longer" for estimate in from_papers if lower is not None and lower > estimate.slots}
    return [(estimate.name, estimate.slots, estimate.caution + exceeded.get(estimate.name, "")) for estimate in from_papers]


def _few(answer: Answer) -> dict[int, int]:
    """Return the longest makespans of fewer warps, as far as they cost next to nothing."""
    problem = answer.instance.problem
    exact: dict[int, int] = {}
    for warps in range(1, min(problem.warps, _MOST_WARPS)):
        fewer = replace(problem, strings=problem.strings[:warps])
        if states(fewer) > _FEW_STATES:
            break
        outcome = load("exact").run(fewer, Budget(), lambda _: None)
        if outcome.upper is not None and outcome.upper == outcome.lower:
            exact[warps] = outcome.upper
    return exact


def program(answer: Answer, form: str, rows: str) -> str:
    """Return the integer program of an instance as LP or MPS text; its horizon is the best bound that is known.

    Raises UsageError `too-large`.
    """
    horizon = answer.known.upper if answer.known.upper is not None else waiting_slots(answer.instance.problem)
    model = build(answer.instance.problem, horizon, Form(rows)).model
    return write.lp(model) if form == "lp" else write.mps(model)
