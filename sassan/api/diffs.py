"""`diff`: what changed between two builds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Unpack, overload

from sassan.api import checking, tables
from sassan.api.choices import Choices, checked, settings_of
from sassan.api.inputs import IN_MEMORY
from sassan.api.subjects import Subject, functions_of
from sassan.app import analysis
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.builds import saved_results
from sassan.app.builds.change_fields import ChangeFields, summary, unknown
from sassan.app.builds.changes import ChangeState, FunctionChange, changes
from sassan.app.builds.saved_results import SavedResult
from sassan.app.documents import tool
from sassan.app.inputs import matches
from sassan.app.settings import Settings
from sassan.errors import UsageError
from sassan.fields.field import NONE, Value, document


@dataclass(frozen=True, slots=True, repr=False)
class BuildDifference(Sequence[FunctionChange]):
    """What became of each function between two builds: `found`, in the order of the new build, then removed ones.

    `old` and `new` are the names of the sides. Each has its `state` (same, changed, added, removed) and the numbers that differ.
    """

    old: str
    new: str
    found: tuple[FunctionChange, ...]

    def __repr__(self) -> str:
        """Return how many functions there are of each state in a line."""
        return f"<BuildDifference: {', '.join(f'{count} {state}' for state, count in self.summary.items()) or 'no functions'}>"

    def __len__(self) -> int:
        """Return how many functions there are on either side."""
        return len(self.found)

    @overload
    def __getitem__(self, key: int) -> FunctionChange: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[FunctionChange, ...]: ...
    def __getitem__(self, key: int | slice) -> FunctionChange | tuple[FunctionChange, ...]:
        """Return what became of a function by its place; raises IndexError."""
        return self.found[key]

    @property
    def changed(self) -> tuple[FunctionChange, ...]:
        """The functions that differ, each with its `state`, the `numbers` that differ and the `lines` of the code.

        A number has its `measure` and the values `old` and `new`, None where it is unknown.
        """
        return tuple(each for each in self.found if each.state is not ChangeState.SAME)

    @property
    def summary(self) -> Mapping[str, int]:
        """How many functions there are of each state: `same`, `changed`, `added`, `removed`."""
        return summary(self.found)

    def to_dict(self) -> Mapping[str, Value]:
        """Return the document of `sassan diff --json`: `summary`, `functions` with old and new numbers; ready for `json.dumps`."""
        doubts = {remark.code: list(remark.names) for remark in unknown(self.found, growth=True)}
        rows = [document(ChangeFields, each) for each in self.found]
        return {**tool(), "old": self.old, "new": self.new, "summary": self.summary, "unknown": doubts, "functions": rows}

    def _repr_html_(self) -> str:
        return _table(self.changed)


def diff(old: Subject, new: Subject, *, function: str | None = None, **choices: Unpack[Choices]) -> BuildDifference:
    """Return what changed between two builds (of the functions of either side that match `function`, a name or glob).

    `old` and `new` are each what `analyze` takes, analyzed with these `choices`, or the path of what `sassan analyze --json` printed (then
    with the choices of that time). Functions go by name and architecture, else by their instructions. Numbers are those of `sassan diff`:
    bounds in cycles of the cost model, counts of instructions, registers, transactions. A difference is not an error.
    Raises what `analyze` raises, InputError `bad-results`, and UsageError `unknown-function` where neither side has one.
    """
    settings = settings_of(checked(choices))
    pattern = None if function is None else checking.text("function", function)
    (before, was), (after, now) = (_side(side, settings, pattern) for side in (old, new))
    if pattern is not None and not (was or now):
        raise UsageError("unknown-function", f"no function of either side matches '{pattern}'")
    return BuildDifference(before, after, changes(was, now))


def _side(subject: Subject, settings: Settings, pattern: str | None) -> tuple[str, tuple[SavedResult, ...]]:
    """Return the name of one side, and its functions that match the pattern."""
    if isinstance(subject, str | PathLike):
        path = fspath(subject)
        with saved_results.is_results(path) as is_saved:
            if is_saved:
                return path, tuple(each for each in saved_results.load(path).results if pattern is None or matches(each.name, pattern))
    name, functions = functions_of(subject, settings, None, IN_MEMORY)
    chosen = (each for each in functions if pattern is None or matches(each.name, pattern))
    results = (analysis.analyze(each, settings, name) for each in chosen)
    return name, tuple(saved_results.of(document(AnalysisFields, result)) for result in results)


def _table(changed: Sequence[FunctionChange]) -> str:
    """Return a row for each number of a function that differs, one for a function without any, for notebooks."""
    rows = ((change.latest.name, change.state.value, *cells) for change in changed for cells in _cells(change))
    return tables.of_rows(("function", "state", "number", "old", "new"), rows)


def _cells(change: FunctionChange) -> Sequence[tuple[str, str, str]]:
    numbers = [(each.measure.value, _number(each.old), _number(each.new)) for each in change.numbers]
    return numbers or [(NONE, NONE, NONE)]


def _number(value: int | None) -> str:
    return NONE if value is None else str(value)
