"""Growth: the numbers of a function held to those of an older build, each failure with the differences that explain it.

What cannot be compared is not an error: another cost model, other warps, another GPU are conditions, and hold nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sassan.app.builds import why
from sassan.app.builds.gates import Failure, GateRule
from sassan.app.builds.numbers import first_gap, growth_text, named, requested_bounds, unknown
from sassan.app.builds.saved_results import BOUNDS, TRANSACTIONS, Measure, SavedResult
from sassan.errors import UsageError


@dataclass(frozen=True, slots=True)
class Growth:
    """How much a number may grow: by a share of what it was, and by a number."""

    share: Fraction = Fraction(0)
    cycles: int = 0

    def allows(self, old: int, new: int) -> bool:
        """Say whether `new` is no more than `old` may become."""
        return new <= old + old * self.share + self.cycles

    def __str__(self) -> str:
        """Return it as it is typed, and where it is both, in words."""
        share = f"{float(self.share * 100):g}%"
        return f"{share} and {self.cycles}" if self.share and self.cycles else str(self.cycles) if self.cycles else share


NONE = Growth()
_REWRITTEN = Growth(Fraction(5, 100), 2)
"""Of instructions and registers where nothing is given: what a compiler makes of code that says the same."""
_LOOSE = frozenset({Measure.INSTRUCTIONS, Measure.REGISTERS})


@dataclass(frozen=True, slots=True)
class Allowed:
    """How much bounds may grow, and figures of the code; None: instructions and registers a little, all others not at all."""

    bounds: Growth = NONE
    code: Growth | None = None

    def of(self, measure: Measure) -> Growth:
        """Return how much a number may grow."""
        if measure in BOUNDS:
            return self.bounds
        return self.code or (_REWRITTEN if measure in _LOOSE else NONE)


def growth(text: str) -> Growth:
    """Return the growth that a text such as `5%`, `2.5%` or `12` (cycles) allows.

    Raises UsageError.
    """
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]{1,6})?(%?)", text.strip(), re.ASCII)
    if match is None or (match[2] and not match[3]):
        raise UsageError("growth", f"'{text}' is not a growth", hint="write it as 5% or, in cycles, as 12")
    if match[3]:
        return Growth(share=Fraction(match[1] + (match[2] or "")) / 100)
    return Growth(cycles=int(match[1]))


def grown(old: SavedResult, new: SavedResult, allowed: Allowed, measures: Iterable[Measure]) -> Iterator[Failure]:
    """Yield which of these numbers grew beyond what is allowed, and bounds that are no longer known; what was not known holds nothing.

    Raises UsageError where the numbers of a side are no bounds.
    """
    refuse_experiments((old, new))
    for measure in measures:
        before, after = old.number(measure), new.number(measure)
        if before is None or not comparable(measure, old, new):
            continue
        explained = why.explained(old, new, measure)
        if after is None:
            if measure in BOUNDS:
                message = f"the {named(new, measure)} was {before} and is now unknown ({unknown(new, measure)})"
                yield Failure(GateRule.GROWTH, message + explained.text, first_gap(new), limit=before, related=explained.places)
        elif not _allows(allowed.of(measure), measure, before, after):
            change = "fell" if measure is Measure.OCCUPANCY else "grew"
            message = (
                f"the {named(new, measure)} {change} from {before} to {after} ({growth_text(before, after)}); "
                f"allowed is {allowed.of(measure)}{explained.text}"
            )
            yield Failure(GateRule.GROWTH, message, explained.address, value=after, limit=before, related=explained.places)


def _allows(allowed: Growth, measure: Measure, before: int, after: int) -> bool:
    """Say whether a change is allowed; of resident warps, more are better."""
    return allowed.allows(after, before) if measure is Measure.OCCUPANCY else allowed.allows(before, after)


def comparable(measure: Measure, old: SavedResult, new: SavedResult) -> bool:
    """Say whether a number counts the same on both sides."""
    if measure in BOUNDS and old.model != new.model:
        return False
    match measure:
        case Measure.MAKESPAN:
            return new.warps is None or old.warps == new.warps
        case Measure.GRID:
            return old.grid is not None and new.grid is not None and (old.grid[1], old.given("gpu")) == (new.grid[1], new.given("gpu"))
        case _ if measure in TRANSACTIONS:
            return old.code is not None and new.code is not None and old.code.block == new.code.block
        case _:
            return True


def unheld(old: Sequence[SavedResult], new: SavedResult) -> tuple[Measure, ...]:
    """Return the bounds of a function that a baseline holds to nothing: none of what it has of the function (`old`) knows them."""
    return tuple(
        measure
        for measure in requested_bounds(new)
        if all(each.number(measure) is None or not comparable(measure, each, new) for each in old)
    )


def refuse_experiments(results: Iterable[SavedResult]) -> None:
    """Raise UsageError where a number is that of an ablation or of the paper's experiment."""
    for result in results:
        if result.experiment:
            message = f"'{result.name}': the numbers are those of --ablate or --paper-experiment, which give no bounds to hold to"
            raise UsageError("experiment", message, hint="analyze without these options")
