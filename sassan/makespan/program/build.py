"""What the forms of the integer linear program share: unknowns, names, rows that hold in every form.

Three forms of the same question (makespan-ilp-2011, Figure 3):

* `short`: the paper's, with one work-conserving row per warp, instruction and slot, rows (32) and (35);
* `long`: the paper's, with these rows added up per warp, unit and slot, rows (31) and (34);
* `counted`: added here. Warps that run the same string are not told apart: unknowns count the warps that stand at, and run, an
  instruction in a slot.

All are extended to L, C, S, D, to sigma_U > 1, to an issue limit and to strings that differ; README.md says what was corrected. In
comments and names, warps w, instructions i and slots t count from 1, as in the paper.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sassan.errors import UsageError
from sassan.ilp.model import Model, Row, Sense, Variable, combine
from sassan.makespan.start import Instance

MOST_VARIABLES = 30_000
"""Beyond this no solver known to us ends, and building the rows takes minutes."""


class OutOfTime(Exception):  # noqa: N818 - no error: the caller goes on without a program
    """Ends the building of a program whose caller does not want it any more."""


class Form(StrEnum):
    """Which unknowns, and which work-conserving rows."""

    SHORT = "short"
    LONG = "long"
    COUNTED = "counted"


@dataclass(frozen=True, slots=True)
class Program:
    """A model and what its unknowns mean: `runs` maps (group, instruction, slot), from 0, to the index of the unknown that counts it.

    `groups[g]` are the warps that the unknowns of group `g` speak of: one warp in the paper's forms, all warps of one string in `counted`.
    """

    model: Model
    form: Form
    groups: tuple[tuple[int, ...], ...]
    runs: dict[tuple[int, int, int], int]


class Builder:
    """Collects unknowns and rows; names are padded with zeros to one width, so that they sort as they count.

    `full` maps (unit, slot), or (None, slot) for the issue limit, to the unknown that may be 1 only where there is no room left.
    """

    def __init__(self, case: Instance, groups: tuple[tuple[int, ...], ...], horizon: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Take the instance, its warps in groups, the number of slots, and who says, before each row, whether it is still wanted."""
        self._stop = stop
        self.case = case
        self.groups = groups
        self.horizon = horizon
        self.variables: list[Variable] = []
        self.rows: list[Row] = []
        self.runs: dict[tuple[int, int, int], int] = {}
        self.full: dict[tuple[int | None, int], int] = {}
        longest = max((len(one) for one in case.units), default=0)
        self._width = tuple(len(str(most)) for most in (len(groups), longest, horizon))

    def name(self, group: int | None = None, index: int | None = None, slot: int | None = None) -> str:
        """Return the common end of names that speak of these."""
        marks = zip("wit", (group, index, slot), self._width, strict=True)
        return "_".join(f"{mark}{value + 1:0{width}}" for mark, value, width in marks if value is not None)

    def unknown(self, name: str, math: str = "") -> int:
        """Add an unknown and return its index."""
        self.variables.append(Variable(name, math))
        return len(self.variables) - 1

    def row(self, name: str, terms: Iterable[tuple[int, int]], sense: Sense, rhs: int, math: str) -> None:
        """Add a row; one without unknowns that holds anyway is left out.

        Raises OutOfTime.
        """
        if self._stop():
            raise OutOfTime
        combined = combine(terms)
        if combined or not {"<=": rhs >= 0, "=": rhs == 0, ">=": rhs <= 0}[sense]:
            self.rows.append(Row(name, combined, sense, rhs, math))

    def units(self, group: int) -> tuple[int, ...]:
        """Return the string of a group, as units."""
        return self.case.units[self.groups[group][0]]

    def moment(self, group: int, index: int, factor: int = 1) -> Iterator[tuple[int, int]]:
        """Yield Y: the slot, from 1, in which a warp runs an instruction, as a linear form (19)."""
        return ((self.runs[group, index, slot], factor * (slot + 1)) for slot in range(self.horizon))

    def in_slot(self, slot: int, unit: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield what runs in a slot, on a unit or on all, each with factor 1."""
        for group in range(len(self.groups)):
            for index, own in enumerate(self.units(group)):
                if unit is None or own == unit:
                    yield self.runs[group, index, slot], 1


def groups_of(case: Instance, form: Form) -> tuple[tuple[int, ...], ...]:
    """Return the warps that unknowns tell apart."""
    if form is not Form.COUNTED:
        return tuple((warp,) for warp in range(case.warps))
    of: dict[tuple[int, ...], list[int]] = {}
    for warp, units in enumerate(case.units):
        of.setdefault(units, []).append(warp)
    return tuple(tuple(one) for one in of.values())


def size(case: Instance, form: Form, horizon: int) -> int:
    """Return about how many unknowns the program has."""
    instructions = sum(len(case.units[group[0]]) for group in groups_of(case, form))
    return horizon * (instructions * (2 if form is Form.COUNTED else 1) + len(case.capacity) + 1)


def guard(case: Instance, form: Form, horizon: int) -> None:
    """Refuse a program that nobody could solve.

    Raises UsageError `too-large` with the number of unknowns.
    """
    count = size(case, form, horizon)
    if count > MOST_VARIABLES:
        raise UsageError(
            "too-large",
            f"an integer program of {count} unknowns ({case.total} instructions in all, {horizon} slots) is more than a solver handles",
            hint="--engine exact or --engine beam take more",
        )


def binding(case: Instance) -> bool:
    """Say whether an issue limit can be what is short while units have room."""
    return case.issue < min(case.warps, sum(case.capacity))


def room(build: Builder) -> None:
    """Add the capacities of every slot, the issue limit, and the unknowns that say where they are used up."""
    case = build.case
    for slot in range(build.horizon):
        for unit, capacity in enumerate(case.capacity):
            _room(build, unit, slot, capacity, case.letters[unit].value)
        if binding(case):
            _room(build, None, slot, case.issue, "issue")


def _room(build: Builder, unit: int | None, slot: int, capacity: int, word: str) -> None:
    at = f"{word}_{build.name(slot=slot)}"
    full = build.full[unit, slot] = build.unknown(f"full_{at}", f"1: slot {slot + 1} has no room left, {word}")
    run = tuple(build.in_slot(slot, unit))
    # (14), (15): sum_{w,i} x[w,i,t] <= sigma_U
    build.row(f"room_{at}", run, "<=", capacity, f"(14),(15) sum_{{w,i}} x[w,i,{slot + 1}] <= {capacity}, {word}")
    # (38): E >= 1 - sigma_U + sum x, redundant here: being 1 only loosens other rows
    build.row(f"used_{at}", (*run, (full, -1)), "<=", capacity - 1, f"(38) E[{slot + 1}] >= 1 - {capacity} + sum x, {word}")
    # (39): E * sigma_U <= sum x
    build.row(f"spare_{at}", (*run, (full, -capacity)), ">=", 0, f"(39) {capacity} E[{slot + 1}] <= sum x, {word}")


def excuses(build: Builder, unit: int, slot: int, factor: int = 1) -> tuple[tuple[int, int], ...]:
    """Return what may keep a ready warp from running: its unit is full, or all that may issue do."""
    return tuple((build.full[one, slot], factor) for one in (unit, None) if (one, slot) in build.full)
