"""The outcome of an individual: status, costs and assumptions; conversion to and from JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from sassan.assumptions import Assumption, AssumptionStatus, kinds
from sassan.evolve.space.config import KernelSource
from sassan.fields.field import Declare, Record, Value, document
from sassan.fields.kinds import AMOUNT, BOUND, FIGURE, SPELLED, STRING, TEXT, array, choice, mapping, one

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
class LoopReport:
    """A loop with its bound (None if unknown) and the source of the bound."""

    head: str
    bound: int | None
    source: str


@dataclass(frozen=True, slots=True)
class GenomeOutcome:
    """`costs` has a value per objective, in its unit, empty unless BOUNDED; `cached`: no compiler ran, not part of the result."""

    status: OutcomeStatus
    costs: tuple[float, ...] = ()
    numbers: Mapping[str, int | float | None] = field(default_factory=dict)
    """All known numbers: wcet, makespan, grid, instructions, registers, measured, estimate."""
    loops: tuple[LoopReport, ...] = ()
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


_of_loop, _of, _of_kernel = Declare[LoopReport](), Declare[GenomeOutcome](), Declare[KernelSource]()


class KernelSourceFields(Record[KernelSource]):
    """The source of a kernel."""

    path = _of_kernel(STRING, "its file", key="source")
    arch = _of_kernel(STRING, "architecture: `sm_61`")
    function = _of_kernel(TEXT, "its name, null where the file has one alone")


class LoopBoundFields(Record[LoopReport]):
    """A loop."""

    head = _of_loop(SPELLED, "address of its header")
    bound = _of_loop(BOUND, "back edges per entry")
    source = _of_loop(STRING, "where the bound comes from")


class OutcomeFields(Record[GenomeOutcome]):
    """What became of an individual."""

    status = _of(choice(*OutcomeStatus), "its status", lambda outcome: outcome.status.value, key="fate")
    costs = _of(array(AMOUNT), "a value per objective, in its unit; empty without a bound")
    numbers = _of(mapping(FIGURE), "all known numbers", lambda outcome: dict(sorted(outcome.numbers.items())))
    loops = _of(array(one(LoopBoundFields)), "bounds of the loops for the one launch")
    why = _of(STRING, "why it has no bound; empty where it has")
    cubin = _of(STRING, "SHA-256 of its machine code; empty where there is none")
    assumptions = _of(array(STRING), "what the numbers rest on", optional=True)
    _kinds = _of(array(STRING), "what backs each assumption", lambda outcome: kinds(outcome.assumptions), key="assumption_kinds")
    bound_by = _of(STRING, "what explains most of the estimated time")


def to_json(outcome: GenomeOutcome) -> dict[str, Value]:
    """Return an outcome as JSON."""
    return document(OutcomeFields, outcome, "assumptions")


def from_json(value: Mapping[str, object], *, cached: bool = False) -> GenomeOutcome:
    """Return the outcome of a JSON object; raises KeyError, TypeError, ValueError for another object."""
    texts, kinds = (map(str, cast("Sequence[object]", value[key])) for key in ("assumptions", "assumption_kinds"))
    loops = cast("Sequence[Mapping[str, object]]", value["loops"])
    return GenomeOutcome(
        OutcomeStatus(str(value["fate"])),
        tuple(cast("Sequence[float]", value["costs"])),
        dict(cast("Mapping[str, int | float | None]", value["numbers"])),
        tuple(LoopReport(str(loop["head"]), cast("int | None", loop["bound"]), str(loop["source"])) for loop in loops),
        str(value["why"]),
        str(value["cubin"]),
        tuple(Assumption(text, AssumptionStatus(kind)) for text, kind in zip(texts, kinds, strict=True)),
        str(value["bound_by"]),
        cached,
    )
