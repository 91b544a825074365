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


def text(one: Answer) -> str:
    """The document of one question about strings, as text."""
    # The schedule may hold 100,000 rows: each on a line of its own, not on five.
    document = json.dumps({**documents.tool(), **answer(one), "schedule": None}, indent=2)
    rows = schedule(one)
    shown = "null" if rows is None else "[\n    " + ",\n    ".join(json.dumps(row) for row in rows) + "\n  ]"
    return document.replace('"schedule": null', f'"schedule": {shown}') + "\n"


def answer(one: Answer) -> dict[str, Value]:
    """Return what is known of one instance."""
    known, processor = one.known, one.instance.processor
    strings = [str(string) for string in one.instance.strings]
    used = {letter for string in one.instance.strings for letter, count in string.counts().items() if count}
    capacities: dict[str, Value] = {
        letter.value: value.numerator if value.denominator == 1 else str(value)
        for letter, value in processor.capacity.items()
        if letter in used
    }
    latency: dict[str, Value] = {letter.value: slots for letter, slots in processor.latency.items()}
    return {
        "string": strings[0] if len(strings) == 1 else None,
        "strings": strings,
        "warps": one.instance.warps,
        "capacities": capacities,
        "latency": latency,
        "issue": processor.issue,
        "exact": known.exact,
        "lower": known.lower,
        "upper": known.upper,
        "gap": known.gap,
        "engines": [_engine(found) for found in known.last.values()],
        "estimates": [{"name": name, "value": value, "bound": False, "note": unsafe} for name, value, unsafe in estimates(one)],
        "assumptions": list(one.instance.assumptions),
        "stopped": one.stopped or None,
        "seconds": round(one.seconds, 3),
        "schedule": None,
    }


def _engine(found: EngineResult) -> Value:
    lower = found.lower if found.schedule is not None else None
    return {
        "name": found.engine,
        "value": found.upper if lower is None else lower,
        "lower": lower,
        "upper": found.upper,
        "proof": found.proof,
        "seconds": round(found.seconds, 6),
        "note": found.note,
    }


def schedule(one: Answer) -> list[list[int | str]] | None:
    """Return the best schedule as rows of cycle (from 1), warp (from 0), unit, by cycle and warp."""
    best = one.known.schedule
    if best is None:
        return None
    cells = [
        (slot + 1, warp, letter.value)
        for warp, (string, row) in enumerate(zip(one.instance.problem.strings, best.slots, strict=True))
        for letter, slot in zip(string.expand(), row, strict=True)
    ]
    return [list(cell) for cell in sorted(cells)]


def function(kernel: KernelInstances, answers: Sequence[Answer]) -> Mapping[str, Value]:
    """Return the entry of one function of a listing."""
    one = kernel.result
    paths: list[Value] = [
        {
            "string": str(found.instance.strings[0]) if len(found.instance.strings) == 1 else None,
            "cost": max(found.instance.costs),
            "condition": kernel.label,
            "makespan": {**answer(found), "schedule": schedule(found)},
        }
        for found in answers
    ]
    return {
        **documents.head(one),
        "strings": {"worst_path": documents.string(one.worst_path)},
        "wcet": documents.wcet(one),
        "makespan": documents.makespan(one.makespan) if kernel.bound is not None else None,
        "paths": paths,
        "gaps": documents.gaps(one.gaps),
    }


def estimates(one: Answer) -> list[tuple[str, int, str]]:
    """Return the formulas of the 2011 paper, which are no bounds: name, value, and what must be said of it."""
    problem, lower = one.instance.problem, one.known.lower
    if not problem.identical:
        return []
    found = [papers.pessimistic(problem)]
    exact = _few(one)
    if exact:
        found.append(papers.extrapolated(problem.warps, exact))
    exceeded = {estimate.name: "; the schedule found is longer" for estimate in found if lower is not None and lower > estimate.slots}
    return [(estimate.name, estimate.slots, estimate.caution + exceeded.get(estimate.name, "")) for estimate in found]


def _few(one: Answer) -> dict[int, int]:
    """Return the longest makespans of fewer warps, as far as they cost next to nothing."""
    problem = one.instance.problem
    exact: dict[int, int] = {}
    for warps in range(1, min(problem.warps, _MOST_WARPS)):
        fewer = replace(problem, strings=problem.strings[:warps])
        if states(fewer) > _FEW_STATES:
            break
        found = load("exact").run(fewer, Budget(), lambda _: None)
        if found.upper is not None and found.upper == found.lower:
            exact[warps] = found.upper
    return exact


def program(one: Answer, form: str, rows: str) -> str:
    """Return the integer program of an instance as LP or MPS text; its horizon is the best bound that is known.

    Raises UsageError `too-large`.
    """
    horizon = one.known.upper if one.known.upper is not None else waiting_slots(one.instance.problem)
    model = build(one.instance.problem, horizon, Form(rows)).model
    return write.lp(model) if form == "lp" else write.mps(model)
