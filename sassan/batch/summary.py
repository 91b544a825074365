"""What became of a batch, in numbers that do not grow with it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest

from sassan.batch.lines import LineOutcome
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import AMOUNT, COUNT, STRING, array, mapping, one

_SLOWEST = 5
_REFUSED = 5
"""Refusals that are kept in words: the first ones."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A function and how long its analysis took, in seconds."""

    seconds: float
    name: str
    file: str


@dataclass(slots=True)
class BatchSummary:
    """A tally of the lines so far: files that are done, functions, those with a WCET, those with gaps by code, refusals by code.

    `passed` are files that the rule of directories omitted, `repeated` files that came twice; `before` functions of an earlier run.
    `status` is the exit status that the refusals call for, 0 without any.
    """

    files: int = 0
    functions: int = 0
    bounded: int = 0
    before: int = 0
    passed: int = 0
    repeated: int = 0
    status: int = 0
    seconds: float = 0.0
    gaps: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    slowest: list[Slow] = field(default_factory=list[Slow])
    first_refused: list[LineOutcome] = field(default_factory=list[LineOutcome])

    def add(self, outcomes: Iterable[LineOutcome]) -> None:
        """Count lines."""
        for outcome in outcomes:
            if outcome.error:
                self.refused[outcome.error] += 1
                self.status = max(self.status, outcome.status)
                if len(self.first_refused) < _REFUSED:
                    self.first_refused.append(outcome)
            elif outcome.name:
                self.functions += 1
                self.bounded += outcome.bounded
                self.gaps.update(outcome.gaps)
            if outcome.seconds is not None:
                self.slowest = nlargest(
                    _SLOWEST,
                    [*self.slowest, Slow(outcome.seconds, outcome.name, outcome.file)],
                    key=lambda slow: (slow.seconds, slow.name, slow.file),
                )


_of_slow, _of = Declare[Slow](), Declare[BatchSummary]()


class SlowFields(Record[Slow]):
    """A function whose analysis took long."""

    name = _of_slow(STRING, "of the function, empty for a file")
    file = _of_slow(STRING, "that holds it")
    seconds = _of_slow(AMOUNT, "that it took", lambda slow: round(slow.seconds, 3))


class BatchSummaryFields(Record[BatchSummary]):
    """What became of a batch."""

    files = _of(COUNT, "that are done")
    functions = _of(COUNT, "of these files")
    bounded = _of(COUNT, "functions with a WCET")
    gaps = _of(mapping(COUNT), "functions with gaps, by code", lambda summary: dict(sorted(summary.gaps.items())))
    refused = _of(mapping(COUNT), "files and functions that were refused, by code", lambda summary: dict(sorted(summary.refused.items())))
    passed = _of(COUNT, "files of folders that are no GPU code")
    repeated = _of(COUNT, "files that were named twice")
    before = _of(COUNT, "lines of an earlier run")
    seconds = _of(AMOUNT, "that it took", lambda summary: round(summary.seconds, 3))
    slowest = _of(array(one(SlowFields)), "the functions that took longest")
