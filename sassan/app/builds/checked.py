"""What a check found."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.app.builds.gates import Failure
from sassan.app.builds.saved_results import Measure, SavedResult
from sassan.app.result import AnalysisResult
from sassan.fields.field import Value


@dataclass(frozen=True, slots=True)
class CheckedFunction:
    """A function, its document, and the gates that it fails; `held_by` names those that hold it at all.

    `unheld` are the bounds that the baseline does not know, `conditions` in what its options differ; both None without a baseline.
    """

    result: AnalysisResult
    row: Mapping[str, Value]
    failures: tuple[Failure, ...]
    held_by: tuple[str, ...] = ()
    unheld: tuple[Measure, ...] | None = None
    conditions: tuple[str, ...] | None = None
    now: SavedResult | None = None
    """The numbers as they are compared."""
    old: SavedResult | None = None
    """What the baseline has of the function, None where that is nothing, or more than one."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a verdict leaves open, in words, and for which functions."""

    code: str
    what: str
    names: tuple[str, ...]
