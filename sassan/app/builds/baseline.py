"""What `sassan check` holds functions to growth by: the results of an older build."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sassan.app.builds import saved_results
from sassan.app.builds.changes import counterparts
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.conditions import differing, other
from sassan.app.builds.gates import Failure, GateRule
from sassan.app.builds.growth import Allowed, grown, refuse_experiments, unheld
from sassan.app.builds.numbers import requested_bounds
from sassan.app.builds.saved_results import CODE, Measure, SavedResult
from sassan.app.inputs import wanted
from sassan.app.request import AnalysisRequest
from sassan.errors import InputError, UsageError

_NONE_OF_THEM = (
    "the baseline holds none of the functions that are checked: they go by name and architecture, 'sassan diff' shows what changed; "
    "'sassan check --update-baseline' accepts them"
)


class Baseline:
    """The results of an older build, and how much each number may grow."""

    def __init__(self, request: AnalysisRequest, path: str, allowed: Allowed) -> None:
        """Read the results of the functions that are asked for.

        Raises InputError, UsageError where they are no bounds.
        """
        if path in request.files and path == "-":
            raise UsageError("standard-input", "standard input can be read only once", hint="name - once")
        if path != "-" and not Path(path).exists():
            raise InputError("missing-baseline", f"there is no baseline '{path}'", hint="'sassan check --update-baseline' writes it")
        self._path, self._allowed = path, allowed
        self._old = tuple(result for result in saved_results.load(path).results if wanted(result.name, request.patterns))
        refuse_experiments(self._old)
        self._held: tuple[tuple[SavedResult, ...], ...] = ()
        self.missing: tuple[SavedResult, ...] = ()
        self._none = False

    def pair(self, results: Sequence[SavedResult], *, partial: bool = False) -> None:
        """Find what each function is held to; `partial`: the functions may be a part of a project, of which it knows none."""
        self._held, self.missing = counterparts(self._old, results)
        self._none = bool(results) and not partial and not any(self._held)

    def failures(self, place: int, now: SavedResult, *, bounds: bool) -> Iterator[Failure]:
        """Yield what grew in the function at this place, each failure once; `bounds`: also those of its time."""
        if self._none:
            yield Failure(GateRule.GROWTH, _NONE_OF_THEM)
        measures = (*(requested_bounds(now) if bounds else ()), *CODE)
        yield from dict.fromkeys(each for old in self._held[place] for each in grown(old, now, self._allowed, measures))

    def old(self, place: int) -> SavedResult | None:
        """Return what the function at this place is held to, None where that is nothing, or more than one."""
        return self._held[place][0] if len(self._held[place]) == 1 else None

    def unheld(self, place: int, now: SavedResult) -> tuple[Measure, ...]:
        """Return the bounds of the function at this place that are held to nothing."""
        return unheld(self._held[place], now)

    def conditions(self, place: int, now: SavedResult) -> tuple[str, ...]:
        """Return in what the options of the baseline differ for the function at this place."""
        return tuple(dict.fromkeys(each for old in self._held[place] for each in other(old, now)))

    def holds(self, place: int, now: SavedResult) -> bool:
        """Say whether a number of the function at this place is held to anything."""
        known = any(each.number(measure) is not None for each in self._held[place] for measure in CODE)
        return known or len(self.unheld(place, now)) < len(requested_bounds(now))

    def remarks(self, checked: Sequence[CheckedFunction]) -> Iterator[Remark]:
        """Yield what must not be overlooked: what was not held, what is gone, and what was made under other conditions."""
        archs = {entry.arch for entry in self._old} | {entry.result.function.arch for entry in checked}

        def named(name: str, arch: str) -> str:
            return name if len(archs) == 1 else f"{name} ({arch})"

        free: list[str] = []
        for old, entry in zip(self._held, checked, strict=True):
            function = entry.result.function
            # Of a function that the baseline has, only some bound may be unknown there.
            without = f": {', '.join(entry.unheld or ())}" if old else ""
            free.extend([named(function.name, function.arch) + without] if entry.unheld or not old else [])
        yield Remark("not-in-baseline", "not held by the baseline", tuple(free))
        yield Remark("only-in-baseline", "only in the baseline", tuple(named(result.name, result.arch) for result in self.missing))
        yield differing((entry.result.function.name, entry.conditions or ()) for entry in checked)
