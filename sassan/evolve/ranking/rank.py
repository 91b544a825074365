"""The estimates of many choices, compiled and computed in parallel, and how well their order agrees with measured times."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import inf

from sassan.app import documents
from sassan.app.documents import Value
from sassan.errors import InputError
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.evaluate import EvaluationTask, evaluate_together, lost_together
from sassan.evolve.outcome import Outcome, OutcomeStatus
from sassan.evolve.ranking.candidates import Candidate, Candidates
from sassan.evolve.space.config import Objective
from sassan.executor import Executor
from sassan.measure import agreement

FIRST = (1, 10)
"""The regret is that of a tuner that runs so many choices, in the order of their estimates."""
_TOGETHER = 16
"""Choices that a process evaluates together, at most: the disassembler starts once for all of them."""
_PARTS = 4
"""Groups for each process, at least, so that all of them are at work to the end."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A choice with its outcome."""

    candidate: Candidate
    outcome: Outcome

    @property
    def us(self) -> float | None:
        """Return the estimated time, None where there is none."""
        return self.outcome.numbers.get(Objective.ESTIMATE.value) if self.outcome.status is OutcomeStatus.BOUNDED else None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The choices by estimated time; those without an estimate come last."""

    candidates: Candidates
    rows: tuple[Ranked, ...]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what all estimates rest on."""
        known = [row.outcome.assumptions for row in self.rows if row.us is not None]
        common = set(known[0]).intersection(*known[1:]) if known else set[str]()
        return tuple(text for text in (known[0] if known else ()) if text in common)

    @property
    def without(self) -> Mapping[str, int]:
        """Return how many choices have no estimate, by the reason."""
        return Counter(row.outcome.why for row in self.rows if row.us is None)

    @property
    def measured(self) -> int:
        """Return how many choices have a measured time."""
        return sum(row.candidate.measured_us is not None for row in self.rows)

    @property
    def tau(self) -> float | None:
        """Return Kendall's rank correlation of estimated and measured times."""
        return agreement.tau(self._pairs)

    @property
    def mape(self) -> float | None:
        """Return the mean absolute error relative to the measured times."""
        return agreement.mape(self._pairs)

    def regret(self, first: int) -> float | None:
        """Return the best measured time of the first choices over the best of all: 1.0 without loss."""
        times = ((inf if row.us is None else row.us, row.candidate.measured_us) for row in self.rows)
        return agreement.regret([(us, measured) for us, measured in times if measured is not None], first)

    @property
    def _pairs(self) -> list[tuple[float, float]]:
        return [(row.us, row.candidate.measured_us) for row in self.rows if row.us is not None and row.candidate.measured_us is not None]


def outcomes(candidates: Candidates, tools: Tools, executor: Executor, *, cached: bool = True) -> Iterator[Ranked]:
    """Yield each choice with its outcome, in order; what is known already is taken from the cache of the evolutionary compiler."""
    tasks = [EvaluationTask(candidates.config, tools, each.genome, cached) for each in candidates.entries]
    size = max(1, min(_TOGETHER, len(tasks) // (_PARTS * executor.workers)))
    groups = [tuple(tasks[first : first + size]) for first in range(0, len(tasks), size)]
    in_order = chain.from_iterable(executor.map(evaluate_together, groups, lost=lost_together))
    for candidate, outcome in zip(candidates.entries, in_order, strict=True):
        yield Ranked(candidate, outcome)


def ranking(candidates: Candidates, rows: tuple[Ranked, ...]) -> Ranking:
    """Return the ranking of choices with their outcomes.

    Raises InputError `no-estimate` where there is none at all.
    """
    if rows and all(row.us is None for row in rows):
        raise InputError("no-estimate", f"{candidates.config.file}: no choice has an estimate; the first: {rows[0].outcome.why}")
    return Ranking(candidates, tuple(sorted(rows, key=lambda row: inf if row.us is None else row.us)))


def document(known: Ranking, top: int | None) -> Mapping[str, Value]:
    """Return the JSON document of a ranking: the best `top` choices, None: all."""
    config = known.candidates.config
    assert config.shape.gpu is not None
    return {
        **documents.tool(),
        "file": config.file,
        "kernel": {"source": config.kernel.path, "arch": config.kernel.arch, "function": config.kernel.function},
        "gpu": config.shape.gpu.name,
        "configurations": [row(each) for each in known.rows[:top]],
        "summary": {
            "configurations": len(known.rows),
            "estimated": sum(each.us is not None for each in known.rows),
            "measured": known.measured,
            "tau": known.tau,
            "mape": known.mape,
            "regret": {str(first): known.regret(first) for first in FIRST},
        },
        **documents.assumptions(known.assumptions),
    }


def row(each: Ranked) -> dict[str, Value]:
    """Return what the document says of one choice."""
    return {
        "parameters": dict(each.candidate.values),
        "estimate_us": each.us,
        "measured_us": each.candidate.measured_us,
        "bound_by": each.outcome.bound_by or None,
        "registers": each.outcome.numbers.get(Objective.REGISTERS.value),
        "why": each.outcome.why or None,
    }
