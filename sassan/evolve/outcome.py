"""The outcome of an individual: status, costs and assumptions; conversion to and from JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from sassan.app import documents
from sassan.app.documents import Value
from sassan.assumptions import Assumption, Kind

INFINITE = float("inf")


class OutcomeStatus(StrEnum):
    """The status of an individual; all except BOUNDED have infinite cost."""

    BOUNDED = "bounded"
    FAILED = "failed"
    """The compiler reported an error, or crashed."""
    HUNG = "hung"
    """The compiler exceeded its time limit."""
    GAP = "gap"
    """A cost is unknown, for example because of an unbounded loop."""
    REFUSED = "refused"
    """It was compiled but cannot be launched, or is too large."""
    UNEQUAL = "unequal"
    """Its results on a GPU differ from those of the default."""


@dataclass(frozen=True, slots=True)
class LoopBound:
    """A loop with its bound (None if unknown) and the source of the bound."""

    head: str
    bound: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`costs` has a value per objective, in its unit, empty unless BOUNDED; `cached`: no compiler ran, not part of the result."""

    status: OutcomeStatus
    costs: tuple[float, ...] = ()
    numbers: Mapping[str, int | float | None] = field(default_factory=dict)
    """All known numbers: wcet, makespan, grid, instructions, registers, measured, estimate."""
    loops: tuple[LoopBound, ...] = ()
    why: str = ""
    cubin: str = ""
    """SHA-256."""
    assumptions: tuple[str, ...] = ()
    bound_by: str = ""
    """What an estimate is bound by."""
    cached: bool = field(default=False, compare=False)

    def fitness(self, objectives: int) -> tuple[float, ...]:
        """Return the costs, infinite unless BOUNDED."""
        return self.costs if self.status is OutcomeStatus.BOUNDED else (INFINITE,) * objectives


def to_json(outcome: Outcome) -> dict[str, Value]:
    """Return an outcome as JSON."""
    return {
        "fate": outcome.status.value,
        "costs": list(outcome.costs),
        "numbers": dict(sorted(outcome.numbers.items())),
        "loops": [{"head": loop.head, "bound": loop.bound, "source": loop.source} for loop in outcome.loops],
        "why": outcome.why,
        "cubin": outcome.cubin,
        **documents.assumptions(outcome.assumptions),
        "bound_by": outcome.bound_by,
    }


def from_json(value: Mapping[str, object], *, cached: bool = False) -> Outcome:
    """Return the outcome of a JSON object; raises KeyError, TypeError, ValueError for another object."""
    texts, kinds = (map(str, cast("Sequence[object]", value[key])) for key in ("assumptions", "assumption_kinds"))
    loops = cast("Sequence[Mapping[str, object]]", value["loops"])
    return Outcome(
        OutcomeStatus(str(value["fate"])),
        tuple(cast("Sequence[float]", value["costs"])),
        dict(cast("Mapping[str, int | float | None]", value["numbers"])),
        tuple(LoopBound(str(loop["head"]), cast("int | None", loop["bound"]), str(loop["source"])) for loop in loops),
        str(value["why"]),
        str(value["cubin"]),
        tuple(Assumption(text, Kind(kind)) for text, kind in zip(texts, kinds, strict=True)),
        str(value["bound_by"]),
        cached,
    )
