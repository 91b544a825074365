"""`check`: the functions of an input held to limits, as a build is held to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, cast, overload

from sassan.api import checking, tables
from sassan.api.choices import CHECKS, Choices, Path, checked_by, options_of
from sassan.api.subjects import Subject, inputs_of
from sassan.app.builds.build import build_of
from sassan.app.builds.check_fields import CheckFields, FailurePlace, places
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.checker import Checker, CheckRequest, gates_of
from sassan.app.builds.gates import GateRule, mix
from sassan.app.documents import tool
from sassan.app.inputs import RequestObserver
from sassan.app.options import library
from sassan.app.request import AnalysisRequest
from sassan.fields.field import Value, document
from sassan.plurals import count_of


class GateChoices(Choices, total=False):
    """The limits, which are those of `sassan check`, beside the choices of `analyze`; a number that is unknown fails every limit on it."""

    max_wcet: int
    """Of one warp, in cycles of the cost model."""
    max_makespan: int
    """Of the warps of an SM, in cycles of the cost model."""
    max_us: float
    """Bound of one launch, in microseconds."""
    max_grid_cycles: int
    """Bound of one launch, in cycles."""
    max_total_us: float
    """Bound of all recorded launches, one after the other, in microseconds."""
    max_registers: int
    """Per thread."""
    max_divergent: int
    """Branches that may split a warp."""
    max_waste: int
    """Memory transactions of one warp beyond those that the same bytes need."""
    max_spills: int
    """Loads and stores of places of the stack."""
    max_shared: int
    """Shared memory of a block, in bytes."""
    max_local: int
    """Local memory of a thread, in bytes."""
    min_occupancy: int
    """Resident warps of an SM, in percent of those that it can hold."""
    max_mix: Mapping[str, int]
    """Instructions of a letter, in percent of all: `{"D": 0}`."""
    min_mix: Mapping[str, int]
    """The same, at least."""
    require_bounded: bool
    """Every function has a bound."""
    no_gaps: bool
    """No function has a gap."""
    control: bool
    """Every instruction waits for the results that it reads, by its control code."""
    gates: Path
    """A file with a table of limits for each pattern of names."""
    baseline: Path
    """What `sassan analyze --json` printed of an older build: nothing is to be larger."""
    max_growth: str
    """How much bounds may grow: `5%`."""
    max_code_growth: str
    """How much figures of the code may grow."""
    launches: Path
    """A recording, each of whose launches is held to the limits."""


_WHOLE = (
    *(GateRule.MAX_WCET, GateRule.MAX_MAKESPAN, GateRule.MAX_GRID_CYCLES, GateRule.MAX_REGISTERS, GateRule.MAX_DIVERGENT),
    *(GateRule.MAX_WASTE, GateRule.MAX_SPILLS, GateRule.MAX_SHARED, GateRule.MAX_LOCAL, GateRule.MIN_OCCUPANCY),
)
_TIMES, _MIXES = (GateRule.MAX_US, GateRule.MAX_TOTAL_US), (GateRule.MAX_MIX, GateRule.MIN_MIX)
_FLAGS = (GateRule.REQUIRE_BOUNDED, GateRule.NO_GAPS)


def _name(rule: GateRule) -> str:
    return rule.value.replace("-", "_")


_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    **dict.fromkeys(map(_name, _WHOLE), checking.whole),
    **dict.fromkeys(map(_name, _TIMES), checking.quantity),
    **dict.fromkeys(map(_name, _MIXES), checking.mapping),
    **dict.fromkeys((*map(_name, _FLAGS), "control"), checking.flag),
    **dict.fromkeys(("gates", "baseline", "launches"), checking.path),
    **dict.fromkeys(("max_growth", "max_code_growth"), checking.text),
}


@dataclass(frozen=True, slots=True, repr=False)
class CheckOutcome(Sequence[CheckedFunction]):
    """The functions that were checked, in the order of the input, each with the `failures` of its limits.

    `found` are these functions, `remarks` what the limits do not hold (in words, and for which functions), `missing` the names that only
    the baseline has, None without a baseline. A number that is unknown fails every limit on it.
    """

    found: tuple[CheckedFunction, ...]
    remarks: tuple[Remark, ...] = ()
    """What the limits do not hold, in words, and for which functions."""
    missing: tuple[str, ...] | None = None
    """Functions that only the baseline has, None without one."""

    def __repr__(self) -> str:
        """Return how many functions failed in a line."""
        return f"<CheckOutcome: {sum(bool(each.failures) for each in self.found)} of {len(self)} functions failed>"

    def __len__(self) -> int:
        """Return how many functions were checked."""
        return len(self.found)

    @overload
    def __getitem__(self, key: int) -> CheckedFunction: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[CheckedFunction, ...]: ...
    def __getitem__(self, key: int | slice) -> CheckedFunction | tuple[CheckedFunction, ...]:
        """Return a function by its place; raises IndexError."""
        return self.found[key]

    @property
    def passed(self) -> bool:
        """Whether no function fails a limit: that `sassan check` ends with status 0."""
        return not self.failures

    @property
    def failures(self) -> tuple[FailurePlace, ...]:
        """Each limit that a function fails: `entry`, the function, and `failure` with its `rule`, `message`, `value` and `limit`."""
        return tuple(place for entry in self.found for place in places(entry))

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan check --json`: `functions` with their numbers and failures, `missing`; ready for `json.dumps`."""
        rows = [document(CheckFields, each) for each in self.found]
        return {**tool(), "missing": None if self.missing is None else list(self.missing), "functions": rows}

    def _repr_html_(self) -> str:
        return _table(self.failures, len(self))


def check(subject: Subject, *, function: str | None = None, **choices: Unpack[GateChoices]) -> CheckOutcome:
    """Return which functions of an input fail which limits (those functions that match `function`, a name or glob).

    `subject` is what `analyze` takes; `choices` are its keywords and the limits below, of which one has to be there. Limits are in the
    units of their names: cycles of the cost model, microseconds (`max_us`), bytes (`max_shared`), percent (`min_occupancy`). Numbers are
    those of `sassan check`; `passed` says whether no function fails, `failures` which limit, the value and the place. A failure is not
    an error.
    Raises what `analyze` raises, and UsageError `no-gate` without a limit, or for limits that contradict each other or the choices.
    """
    known = dict(checked_by({**CHECKS, **_CHECKS}, choices))
    held: dict[str, Any] = {name: known.pop(name) for name in _CHECKS if name in known}
    recording = held.pop("launches", None)
    options = replace(options_of(cast("Choices", known)), launches=recording)
    settings = options.settings(library)
    request = AnalysisRequest((), settings, recording=options.recording(), launches=recording or "")
    checker = Checker(request, _request(held))
    build = build_of(request, RequestObserver(), changed=checker.against_baseline, inputs=inputs_of(subject, settings, function))
    results = checker.checked(build)
    for refused in checker.refused:
        raise refused.error
    missing = None if checker.missing is None else tuple(checker.missing)
    return CheckOutcome(tuple(results), tuple(checker.remarks(results)), missing)


def _request(held: Mapping[str, Any]) -> CheckRequest:
    """Return the limits of keywords as a request; raises UsageError."""
    limits = {rule: held.get(_name(rule)) for rule in (*_WHOLE, *_TIMES)}
    flags = {rule: bool(held.get(_name(rule))) for rule in _FLAGS}
    mixes = (mix(rule, f"{letter}={share}") for rule in _MIXES for letter, share in held.get(_name(rule), {}).items())
    return CheckRequest(
        gates=(*mixes, *gates_of(limits, flags)),
        control=held.get("control", False),
        gates_file=held.get("gates"),
        baseline=held.get("baseline"),
        growth=held.get("max_growth"),
        code_growth=held.get("max_code_growth"),
    )


def _table(places: Sequence[FailurePlace], count: int) -> str:
    """Return the limits that functions fail, and of how many functions."""
    rows = ((place.entry.result.function.name, place.failure.rule.value, place.failure.message) for place in places)
    verdict = f"{count_of(count, 'function')} checked, {count_of(len({id(place.entry) for place in places}), 'function')} failed"
    return f"<p>{verdict}</p>" + tables.of_rows(("function", "limit", "failure"), rows)
