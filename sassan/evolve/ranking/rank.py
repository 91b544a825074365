"""The estimates of many choices, compiled and computed in parallel, and how well their order agrees with measured times."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import Any

from sassan.app import documents
from sassan.errors import InputError
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.evaluate import EvaluationTask, evaluate_together, lost_together
from sassan.evolve.outcome import GenomeOutcome, KernelSourceFields, OutcomeStatus
from sassan.evolve.ranking.candidates import Candidate, Candidates
from sassan.evolve.space.config import Objective
from sassan.executor import Executor
from sassan.fields import field as fields
from sassan.fields.field import NONE, Declare, FieldKind, Record, Value
from sassan.fields.kinds import COUNT, FIGURE, SIGNED, STRING, TEXT, array, mapping, merged, one
from sassan.fields.shared import AssumedFields
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
    outcome: GenomeOutcome

    @property
    def us(self) -> float | None:
        """Return the estimated time, None where there is none."""
        return self.outcome.numbers.get(Objective.ESTIMATE.value) if self.outcome.status is OutcomeStatus.BOUNDED else None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The choices by estimated time; those without an estimate come last."""

    candidates: Candidates
    rows: tuple[Ranked, ...]
    top: int | None = None
    """How many of them are shown, None for all."""

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


def _tenths(us: float | None) -> str:
    return NONE if us is None else f"{us:.1f}"


_of_choice, _of = Declare[Ranked](), Declare[Ranking]()
_TENTHS: FieldKind[float | None] = replace(FIGURE, shown=_tenths)
_PARAMETERS: FieldKind[Mapping[str, Any]] = FieldKind(
    {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}, dict
)


class RankedFields(Record[Ranked]):
    """A choice of the parameters."""

    parameters = _of_choice(_PARAMETERS, "its values", lambda each: each.candidate.values)
    us = _of_choice(_TENTHS, "expected time, null where there is none", unit="us", key="estimate_us", csv=True, head="estimate us")
    measured_us = _of_choice(
        _TENTHS, "measured time, where it is known", lambda each: each.candidate.measured_us, unit="us", csv=True, head="measured us"
    )
    bound_by = _of_choice(TEXT, "what explains most of the time", lambda each: each.outcome.bound_by or None, csv=True, head="bound by")
    registers = _of_choice(FIGURE, "per thread", lambda each: each.outcome.numbers.get(Objective.REGISTERS.value), csv=True, head="regs")
    why = _of_choice(TEXT, "why there is no estimate", lambda each: each.outcome.why or None, csv=True)


def _gpu(known: Ranking) -> str:
    gpu = known.candidates.config.shape.gpu
    assert gpu is not None
    return gpu.name


class RankingFields(Record[Ranking]):
    """What `sassan rank` says."""

    file = _of(STRING, "the configuration, or the cache", lambda known: known.candidates.config.file)
    kernel = _of(one(KernelSourceFields), "the kernel", lambda known: known.candidates.config.kernel)
    gpu = _of(STRING, "the product", _gpu)
    configurations = _of(array(one(RankedFields)), "the choices, in order", lambda known: known.rows[: known.top])
    total = _of(COUNT, "how many choices there are", lambda known: len(known.rows), key="summary.configurations")
    estimated = _of(
        COUNT, "how many have an estimate", lambda known: sum(each.us is not None for each in known.rows), key="summary.estimated"
    )
    measured = _of(COUNT, "how many have a measured time", key="summary.measured")
    tau = _of(SIGNED, "Kendall's rank correlation of estimated and measured times", key="summary.tau")
    mape = _of(FIGURE, "mean absolute error relative to the measured times", key="summary.mape")
    regret = _of(
        mapping(FIGURE),
        "by number of tries: the best measured time of so many first choices over the best of all",
        lambda known: {str(first): known.regret(first) for first in FIRST},
        key="summary.regret",
    )
    _assumed = _of(merged(AssumedFields), "what all estimates rest on", lambda known: known.assumptions)


def document(known: Ranking, top: int | None) -> Mapping[str, Value]:
    """Return the JSON document of a ranking: the best `top` choices, None: all."""
    return {**documents.tool(), **fields.document(RankingFields, replace(known, top=top))}
