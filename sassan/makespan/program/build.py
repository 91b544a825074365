"""The common part of all forms of the integer linear program: unknowns, names, rows that hold in every form.

Three forms of the same question (Berezovskyi et al. 2011, Figure 3):

* `short`: the paper's, with one work-conserving row per warp, instruction and slot, rows (32) and (35);
* `long`: the paper's, with these rows added up per warp, unit and slot, rows (31) and (34);
* `counted`: added here. Warps that run the same string are not distinguished: unknowns count the warps that stand at, and run, an
  instruction in a slot.

All are extended to L, C, S, D, T, to sigma_U > 1, to an issue limit and to strings that differ;
docs/developer/design/makespan.md lists the corrections. In comments
and names, warps w, instructions i and slots t count from 1, as in the paper.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sassan.errors import UsageError
from sassan.ilp.model import IntegerVariable, Model, Row, Sense, combine
from sassan.makespan.start import NumberedProblem

MOST_VARIABLES = 30_000
"""Above this no tested solver ends, and building the rows takes minutes."""


class OutOfTime(Exception):  # noqa: N818 - not an error: the caller continues without a program
    """Ends the construction of a program that is no longer needed."""


class Form(StrEnum):
    """Which unknowns, and which work-conserving rows."""

    SHORT = "short"
    LONG = "long"
    COUNTED = "counted"


@dataclass(frozen=True, slots=True)
class MakespanModel:
    """A model and what its unknowns mean: `runs` maps (group, instruction, slot), from 0, to the index of the unknown that counts it.

    `groups[g]` are the warps of the unknowns of group `g`: one warp in the paper's forms, all warps of one string in `counted`.
    """

    model: Model
    form: Form
    groups: tuple[tuple[int, ...], ...]
    runs: dict[tuple[int, int, int], int]


class ModelBuilder:
    """Collects unknowns and rows; numbers in names are padded with zeros to one width, so that names sort by number.

    `full` maps (unit, slot), or (None, slot) for the issue limit, to the unknown that may be 1 only where no capacity is left.
    """

    def __init__(
        self, case: NumberedProblem, groups: tuple[tuple[int, ...], ...], horizon: int, stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Start without rows; `horizon` is the number of slots, and `stop`, called before each row, ends the construction."""
        self._stop = stop
        self.case = case
        self.groups = groups
        self.horizon = horizon
        self.variables: list[IntegerVariable] = []
        self.rows: list[Row] = []
        self.runs: dict[tuple[int, int, int], int] = {}
        self.full: dict[tuple[int | None, int], int] = {}
        longest = max((len(units) for units in case.units), default=0)
        self._width = tuple(len(str(most)) for most in (len(groups), longest, horizon))

    def name(self, group: int | None = None, index: int | None = None, slot: int | None = None) -> str:
        """Return the common end of the names for this group, instruction and slot."""
        marks = zip("wit", (group, index, slot), self._width, strict=True)
        return "_".join(f"{mark}{value + 1:0{width}}" for mark, value, width in marks if value is not None)

    def unknown(self, name: str, math: str = "") -> int:
        """Add an unknown and return its index."""
        self.variables.append(IntegerVariable(name, math))
        return len(self.variables) - 1

    def row(self, name: str, terms: Iterable[tuple[int, int]], sense: Sense, rhs: int, math: str) -> None:
        """Add a row; a row without unknowns that always holds is omitted.

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
        """Yield the unknowns of the instructions that run in a slot, on a unit or on all, each with factor 1."""
        for group in range(len(self.groups)):
            for index, instruction_unit in enumerate(self.units(group)):
                if unit is None or instruction_unit == unit:
                    yield self.runs[group, index, slot], 1


def groups_of(case: NumberedProblem, form: Form) -> tuple[tuple[int, ...], ...]:
    """Return the groups of warps that unknowns do not distinguish."""
    if form is not Form.COUNTED:
        return tuple((warp,) for warp in range(case.warps))
    groups: dict[tuple[int, ...], list[int]] = {}
    for warp, units in enumerate(case.units):
        groups.setdefault(units, []).append(warp)
    return tuple(tuple(group) for group in groups.values())


def size(case: NumberedProblem, form: Form, horizon: int) -> int:
    """Return about how many unknowns the program has."""
    instructions = sum(len(case.units[group[0]]) for group in groups_of(case, form))
    return horizon * (instructions * (2 if form is Form.COUNTED else 1) + len(case.capacity) + 1)


def guard(case: NumberedProblem, form: Form, horizon: int) -> None:
    """Refuse a program that is too large to solve.

    Raises UsageError `too-large` with the number of unknowns.
    """
    count = size(case, form, horizon)
    if count > MOST_VARIABLES:
        raise UsageError(
            "too-large",
            f"the integer program has {count} unknowns ({case.total} instructions, {horizon} slots), above the limit of {MOST_VARIABLES}",
            hint="use --engine exact or --engine beam, which take larger instances",
        )


def binding(case: NumberedProblem) -> bool:
    """Say whether the issue limit can bind while units have capacity left."""
    return case.issue < min(case.warps, sum(case.capacity))


def add_capacities(build: ModelBuilder) -> None:
    """Add the capacities of every slot, the issue limit, and the unknowns for where they are used up."""
    case = build.case
    for slot in range(build.horizon):
        for unit, capacity in enumerate(case.capacity):
            _add_capacity(build, unit, slot, capacity, case.letters[unit].value)
        if binding(case):
            _add_capacity(build, None, slot, case.issue, "issue")


def _add_capacity(build: ModelBuilder, unit: int | None, slot: int, capacity: int, word: str) -> None:
    at = f"{word}_{build.name(slot=slot)}"
    full = build.full[unit, slot] = build.unknown(f"full_{at}", f"1: slot {slot + 1} has no capacity left, {word}")
    run = tuple(build.in_slot(slot, unit))
    # (14), (15): sum_{w,i} x[w,i,t] <= sigma_U
    build.row(f"room_{at}", run, "<=", capacity, f"(14),(15) sum_{{w,i}} x[w,i,{slot + 1}] <= {capacity}, {word}")
    # (38): E >= 1 - sigma_U + sum x, redundant here: being 1 only loosens other rows
    build.row(f"used_{at}", (*run, (full, -1)), "<=", capacity - 1, f"(38) E[{slot + 1}] >= 1 - {capacity} + sum x, {word}")
    # (39): E * sigma_U <= sum x
    build.row(f"spare_{at}", (*run, (full, -capacity)), ">=", 0, f"(39) {capacity} E[{slot + 1}] <= sum x, {word}")


def excuses(build: ModelBuilder, unit: int, slot: int, factor: int = 1) -> tuple[tuple[int, int], ...]:
    """Return the unknowns that excuse a ready warp from running: its unit is full, or the issue limit is reached."""
    return tuple((build.full[limit, slot], factor) for limit in (unit, None) if (limit, slot) in build.full)
