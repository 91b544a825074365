"""What a bound takes for granted: texts, each with its status."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Self


class AssumptionStatus(StrEnum):
    """What backs an assumption; of one with several parts, the weakest counts."""

    PROVED = "proved"
    """A proof of this repository, from other assumptions."""
    CHECKED = "checked"
    """A check on this input, which would have failed."""
    RECORDED = "recorded"
    """A recording of the program, which holds for the data of that run only, or measurements on the target, for runs like those."""
    PUBLISHED = "published"
    """A publication, of the vendor or of others, that a table names."""
    ASSUMED = "assumed"
    """Nothing: what the user gives, what no source says, and how hardware is taken to behave."""


class Assumption(str):
    """An assumption with a status: wherever a text is expected, its text. A plain text is an unverified assumption."""

    __slots__ = ("kind",)
    kind: AssumptionStatus

    def __new__(cls, text: str, kind: AssumptionStatus) -> Self:
        """Return the text with its status."""
        self = super().__new__(cls, text)
        self.kind = kind
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling, so that other processes know the kind too."""
        return type(self), (str(self), self.kind)


def proved(text: str) -> str:
    """Return an assumption that a proof backs."""
    return Assumption(text, AssumptionStatus.PROVED)


def checked(text: str) -> str:
    """Return an assumption that was checked on this input."""
    return Assumption(text, AssumptionStatus.CHECKED)


def recorded(text: str) -> str:
    """Return an assumption that a recording, or a measurement on the target, backs."""
    return Assumption(text, AssumptionStatus.RECORDED)


def published(text: str) -> str:
    """Return an assumption that a publication backs."""
    return Assumption(text, AssumptionStatus.PUBLISHED)


def kind_of(text: str) -> AssumptionStatus:
    """Return what backs an assumption."""
    return text.kind if isinstance(text, Assumption) else AssumptionStatus.ASSUMED


def kinds(texts: Iterable[str]) -> list[str]:
    """Return the kinds of assumptions as documents name them, in order."""
    return [kind_of(text).value for text in texts]


def counted(texts: Sequence[str]) -> str:
    """Return how many assumptions there are, and of each kind: `6 (2 checked, 4 assumed)`."""
    counts = Counter(map(kind_of, texts))
    return f"{len(texts)} ({', '.join(f'{counts[kind]} {kind.value}' for kind in AssumptionStatus if counts[kind])})"
