"""The JSON of `sassan makespan`. Cycles count from 1 there, warps from 0."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sassan.alphabet import Letter
from sassan.app.analysis_fields import MakespanFields, WcetFields, WorstPathFields
from sassan.app.documents import HeadFields, tool
from sassan.app.makespan.description import strings_of
from sassan.app.makespan.kernels import KernelInstances
from sassan.app.makespan.search import InstanceResult
from sassan.fields.field import NONE, Declare, FieldKind, Record, document
from sassan.fields.kinds import AMOUNT, BOUND, COUNT, FIGURE, FLAG, NAME, POSITIVE, STRING, TEXT, array, mapping, merged, nullable, one
from sassan.fields.shared import GAPS, AssumedFields
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


class AnsweredKernel(NamedTuple):
    """A function of a file, and the answers for its paths."""

    kernel: KernelInstances
    answers: Sequence[InstanceResult]


class AnsweredPath(NamedTuple):
    """One of the paths."""

    kernel: KernelInstances
    answer: InstanceResult


def _strings(answer: InstanceResult) -> list[str]:
    return [str(string) for string in answer.instance.strings]


def _capacities(answer: InstanceResult) -> Mapping[str, int | str]:
    used = {letter for string in answer.instance.strings for letter, count in string.counts().items() if count}
    return {
        letter.value: value.numerator if value.denominator == 1 else str(value)
        for letter, value in answer.instance.processor.capacity.items()
        if letter in used
    }


def _by_letter(numbers: Mapping[Letter, int]) -> Mapping[str, int]:
    return {letter.value: slots for letter, slots in numbers.items()}


def _gap(answer: InstanceResult) -> str:
    known = answer.known
    return "exact" if known.exact is not None else NONE if known.gap is None else f"{100 * known.gap:.1f}%"


def _lower(outcome: EngineResult) -> int | None:
    return outcome.lower if outcome.schedule is not None else None


def schedule(answer: InstanceResult) -> list[list[int | str]] | None:
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


def estimates(answer: InstanceResult) -> list[tuple[str, int, str]]:
    """Return the formulas of Berezovskyi et al. 2011, which are no bounds: name, value, and what must be said of it."""
    problem, lower = answer.instance.problem, answer.known.lower
    if not (problem.identical and problem.one_slot):
        return []
    from_papers = [papers.pessimistic(problem)]
    exact = _few(answer)
    if exact:
        from_papers.append(papers.extrapolated(problem.warps, exact))
    exceeded = {estimate.name: "; the schedule found is longer" for estimate in from_papers if lower is not None and lower > estimate.slots}
    return [(estimate.name, estimate.slots, estimate.caution + exceeded.get(estimate.name, "")) for estimate in from_papers]


def _few(answer: InstanceResult) -> dict[int, int]:
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


def program(answer: InstanceResult, form: str, rows: str) -> str:
    """Return the integer program of an instance as LP or MPS text; its horizon is the best bound that is known.

    Raises UsageError `too-large`.
    """
    horizon = answer.known.upper if answer.known.upper is not None else waiting_slots(answer.instance.problem)
    model = build(answer.instance.problem, horizon, Form(rows)).model
    return write.lp(model) if form == "lp" else write.mps(model)


_of_engine, _of_estimate, _of = Declare[EngineResult](), Declare[tuple[str, int, str]](), Declare[InstanceResult]()
_of_path, _of_kernel = Declare[AnsweredPath](), Declare[AnsweredKernel]()


class EngineFields(Record[EngineResult]):
    """What an engine found."""

    name = _of_engine(STRING, "which engine it is", lambda outcome: outcome.engine, head="engine")
    value = _of_engine(BOUND, "its answer", lambda outcome: outcome.upper if _lower(outcome) is None else _lower(outcome))
    lower = _of_engine(BOUND, "length of its schedule, null without one", _lower, head="lower")
    upper = _of_engine(BOUND, "its bound", head="upper")
    proof = _of_engine(
        STRING, "how the bound is proved", head="proof", head_after="seconds", shown=lambda outcome: outcome.note or outcome.proof
    )
    seconds = _of_engine(
        AMOUNT,
        "how long it took",
        lambda outcome: round(outcome.seconds, 6),
        head="seconds",
        shown=lambda outcome: f"{outcome.seconds:.3f}",
    )
    note = _of_engine(STRING, "a remark")


class FormulaFields(Record[tuple[str, int, str]]):
    """The value of a published formula, which is not a bound."""

    name = _of_estimate(STRING, "which formula it is", lambda each: each[0])
    value = _of_estimate(COUNT, "what it says", lambda each: each[1])
    bound = _of_estimate(FLAG, "whether it is a bound here", lambda _: False)
    note = _of_estimate(STRING, "what must be said of it", lambda each: each[2])


_SCHEDULE: FieldKind[list[list[int | str]] | None] = FieldKind(
    {
        "oneOf": [
            {"type": "null"},
            {
                "type": "array",
                "items": {"type": "array", "prefixItems": [POSITIVE.schema, COUNT.schema, STRING.schema], "minItems": 3, "items": False},
            },
        ]
    }
)


_CAPACITIES: FieldKind[Mapping[str, int | str]] = FieldKind(
    {"type": "object", "additionalProperties": {"type": ["integer", "string"]}}, dict
)


class InstanceFields(Record[InstanceResult]):
    """Warps that run strings on an SM, and the longest makespan of them."""

    string = _of(
        TEXT, "the string, null where there are several", lambda answer: _strings(answer)[0] if len(answer.instance.strings) == 1 else None
    )
    strings = _of(array(STRING), "those of the warps, in turn", _strings, csv=True)
    warps = _of(POSITIVE, "how many there are", lambda answer: answer.instance.warps, csv=True, head="warps", head_after="cost")
    _cost = _of(BOUND, "of one warp", lambda answer: max(answer.instance.costs, default=None), key=None, csv="cost", head="cost")
    capacities = _of(_CAPACITIES, "instructions per slot, by letter", _capacities)
    latency = _of(mapping(COUNT), "slots, by letter", lambda answer: _by_letter(answer.instance.processor.latency))
    interval = _of(
        mapping(COUNT), "slots for which an instruction holds its unit", lambda answer: _by_letter(answer.instance.processor.interval)
    )
    blocks = _of(array(POSITIVE), "warps of each block; empty without barriers", lambda answer: answer.instance.problem.blocks)
    issue = _of(BOUND, "instructions of one slot, null without a limit", lambda answer: answer.instance.processor.issue)
    exact = _of(BOUND, "the longest makespan, null unless proved", lambda answer: answer.known.exact, csv=True, after="upper")
    lower = _of(BOUND, "length of a schedule that the validator accepted", lambda answer: answer.known.lower, csv=True, head="lower")
    upper = _of(BOUND, "no schedule is longer", lambda answer: answer.known.upper, csv=True, head="upper")
    gap = _of(FIGURE, "their difference in relation to `lower`", lambda answer: answer.known.gap, head="gap", shown=_gap)
    engines = _of(array(one(EngineFields)), "what each engine found", lambda answer: answer.known.last.values())
    estimates = _of(array(one(FormulaFields)), "published formulas", estimates)
    _assumed = _of(merged(AssumedFields), "what the bounds rest on", lambda answer: answer.instance.assumptions)
    stopped = _of(TEXT, "why the search ended early", lambda answer: answer.stopped or None, csv=True)
    seconds = _of(AMOUNT, "how long it took", lambda answer: round(answer.seconds, 3), csv=True)
    schedule = _of(_SCHEDULE, "triples of cycle (from 1), warp (from 0), letter, of the best schedule found", schedule)


class AnsweredPathFields(Record[AnsweredPath]):
    """A path of a function, if every warp takes it."""

    _name = _of_path(NAME, "of the function", lambda path: path.answer.instance.name, key=None, head="function", widest=24)
    string = _of_path(TEXT, "its kernel string, null where there are several", lambda path: InstanceFields.string.get(path.answer))
    cost = _of_path(COUNT, "of one warp, in cycles of the cost model", lambda path: max(path.answer.instance.costs))
    condition = _of_path(STRING, "which warps take it", lambda path: path.kernel.label)
    makespan = _of_path(one(InstanceFields), "the longest makespan", lambda path: path.answer, flat=True)
    _bound = _of_path(BOUND, "bound of the warps, whatever paths they take", lambda path: path.kernel.bound, key=None, head="SM-level")
    _strings = _of_path(STRING, "the strings of the warps", lambda path: strings_of(path.answer), key=None, head="warps take")


class MakespanOfFileFields(Record[AnsweredKernel]):
    """What `sassan makespan` says of one function of a file."""

    _head = _of_kernel(merged(HeadFields), "the function", lambda each: each.kernel.result)
    strings = _of_kernel(one(WorstPathFields), "kernel strings", lambda each: each.kernel.result)
    wcet = _of_kernel(one(WcetFields), "the bound of one warp", lambda each: each.kernel.result)
    makespan = _of_kernel(
        nullable(one(MakespanFields)),
        "the bound of the warps of an SM, whatever paths they take",
        lambda each: each.kernel.result if each.kernel.bound is not None else None,
    )
    paths = _of_kernel(array(one(AnsweredPathFields)), "paths", lambda each: [AnsweredPath(each.kernel, answer) for answer in each.answers])
    gaps = _of_kernel(GAPS, "everything that forbids a bound", lambda each: each.kernel.result.gaps)


def text(answer: InstanceResult) -> str:
    """The document of one question about strings, as text."""
    # The schedule may hold 100,000 rows: each on a line of its own, not on five.
    known = document(InstanceFields, answer)
    rows, known["schedule"] = schedule(answer), None
    shown = "null" if rows is None else "[\n    " + ",\n    ".join(json.dumps(row) for row in rows) + "\n  ]"
    return json.dumps({**tool(), **known}, indent=2).replace('"schedule": null', f'"schedule": {shown}') + "\n"
