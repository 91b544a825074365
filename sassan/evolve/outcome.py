"""What became of one individual: its fate, its costs, and what they rest on; as JSON and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from sassan.app.documents import Value

INFINITE = float("inf")


class Fate(StrEnum):
    """What became of an individual; all but BOUNDED cost infinity."""

    BOUNDED = "bounded"
    FAILED = "failed"
    """The compiler refused it, or crashed."""
    HUNG = "hung"
    GAP = "gap"
    """A number cannot be given: a loop without a bound, say."""
    REFUSED = "refused"
    """It is compiled and cannot be launched, or is too large."""
    UNEQUAL = "unequal"
    """A GPU ran it, and its results differ."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop with its bound, and where that comes from."""

    head: str
    bound: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`costs` are one per objective, in its unit, empty unless BOUNDED; `cached`: no compiler ran, which is no part of the result."""

    fate: Fate
    costs: tuple[float, ...] = ()
    numbers: Mapping[str, int | float | None] = field(default_factory=dict)
    """Everything that is known: wcet, makespan, grid, instructions, registers, measured."""
    loops: tuple[Loop, ...] = ()
    why: str = ""
    cubin: str = ""
    """SHA-256."""
    assumptions: tuple[str, ...] = ()
    cached: bool = field(default=False, compare=False)

    def fitness(self, objectives: int) -> tuple[float, ...]:
        """Return the costs, infinite unless it is BOUNDED."""
        return self.costs if self.fate is Fate.BOUNDED else (INFINITE,) * objectives


def to_json(one: Outcome) -> dict[str, Value]:
    """Return an outcome as JSON."""
    return {
        "fate": one.fate.value,
        "costs": list(one.costs),
        "numbers": dict(sorted(one.numbers.items())),
        "loops": [{"head": loop.head, "bound": loop.bound, "source": loop.source} for loop in one.loops],
        "why": one.why,
        "cubin": one.cubin,
        "assumptions": list(one.assumptions),
    }


def from_json(value: Mapping[str, object], *, cached: bool = False) -> Outcome:
    """Return the outcome of a JSON object; raises KeyError, TypeError, ValueError for another object."""
    loops = cast("Sequence[Mapping[str, object]]", value["loops"])
    return Outcome(
        Fate(str(value["fate"])),
        tuple(cast("Sequence[float]", value["costs"])),
        dict(cast("Mapping[str, int | float | None]", value["numbers"])),
        tuple(Loop(str(one["head"]), cast("int | None", one["bound"]), str(one["source"])) for one in loops),
        str(value["why"]),
        str(value["cubin"]),
        tuple(map(str, cast("Sequence[object]", value["assumptions"]))),
        cached,
    )
