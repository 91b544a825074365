"""All estimates of a set of samples with their intervals, for each size and delay, and their JSON document."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sassan.errors import InputError
from sassan.fields.field import Declare, Record, row
from sassan.fields.kinds import AMOUNT, COUNT, FIGURE, FLAG, SHARE, STRING, TEXT, array, choice, mapping, nullable, one
from sassan.measure.confidence import Interval, IntervalSettings
from sassan.measure.estimators import Estimator, estimate, mean
from sassan.measure.grouped import interval_of
from sassan.measure.samples import SampleGroup, Samples
from sassan.measure.verdict import Stability, Verdict, finding


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """An estimate in seconds and its confidence interval, None where there is none."""

    estimator: Estimator
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """The estimates over all groups of a size and delay; the warm-up is the mean of the groups' warm-ups."""

    size: float | None
    delay: float
    groups: int
    runs: int
    estimates: tuple[IntervalEstimate, ...]


def rows(samples: Samples, estimators: Sequence[Estimator], settings: IntervalSettings) -> tuple[EstimateRow, ...]:
    """Return the estimates of each size and delay, in order of both.

    Raises InputError `too-few-runs` if no group has enough runs for any of the estimators.
    """
    estimated = tuple(_rows(samples, estimators, settings))
    if not any(row.estimates for row in estimated):
        longest = max(len(group.seconds) for group in samples.groups)
        message = f"the longest group has {longest} run, the warm-up: there are no runs to estimate from"
        raise InputError("too-few-runs", message, hint="measure more runs per group")
    return estimated


def _rows(samples: Samples, estimators: Sequence[Estimator], settings: IntervalSettings) -> Iterator[EstimateRow]:
    for size, groups in samples.by_size().items():
        for delay in sorted({group.delay for group in groups}):
            alike = [group for group in groups if group.delay == delay]
            estimates = tuple(estimated for estimator in estimators if (estimated := _estimate(alike, estimator, settings)) is not None)
            yield EstimateRow(size, delay, len(alike), sum(len(group.seconds) for group in alike), estimates)


def _estimate(groups: Sequence[SampleGroup], estimator: Estimator, settings: IntervalSettings) -> IntervalEstimate | None:
    if estimator is Estimator.WARM_UP:
        return IntervalEstimate(estimator, mean([group.seconds[0] for group in groups]), None)
    if estimator is Estimator.MEAN_ALL:
        durations = [value for group in groups for value in group.seconds]
        return IntervalEstimate(estimator, estimate(durations, estimator), interval_of(groups, estimator, settings))
    warm = [value for group in groups for value in group.warm]
    if not warm:
        return None
    together = [groups[0].seconds[0], *warm]
    return IntervalEstimate(estimator, estimate(together, estimator), interval_of(groups, estimator, settings))


class MeasuredSamples(NamedTuple):
    """A set of samples, what is estimated from it, and how stable that is."""

    file: str
    samples: Samples
    estimates: Sequence[EstimateRow]
    verdicts: Sequence[Verdict]


class EstimatorSpread(NamedTuple):
    """The stability of an estimator, and the tolerance."""

    kind: Stability
    tolerance: float


_of_interval, _of_estimate, _of_row = Declare[Interval](), Declare[IntervalEstimate](), Declare[EstimateRow]()
_of_spread, _of_verdict, _of = Declare[EstimatorSpread](), Declare[Verdict](), Declare[MeasuredSamples]()


class IntervalFields(Record[Interval]):
    """A confidence interval."""

    low = _of_interval(FIGURE, "its lower end, null where it is unknown", unit="seconds", csv=True)
    high = _of_interval(FIGURE, "its upper end, likewise", unit="seconds", csv=True)
    level = _of_interval(SHARE, "level of the interval", key="confidence", csv=True)
    method = _of_interval(STRING, "how it is computed", csv=True)
    resamples = _of_interval(COUNT, "of the bootstrap, 0 without one")
    share = _of_interval(FIGURE, "at most this share of further runs lies beyond the observed extreme", key="share_beyond", csv=True)
    doubts = _of_interval(array(STRING), "why it may miss its level", csv=True)


class EstimatorFields(Record[IntervalEstimate]):
    """What an estimator says."""

    _name = _of_estimate(STRING, "which estimator it is", lambda each: each.estimator.value, key=None, csv="estimator")
    value = _of_estimate(AMOUNT, "its value", unit="seconds", csv=True)
    interval = _of_estimate(nullable(one(IntervalFields)), "its interval, null where there is none", flat=True)


def _estimate_of(name: str) -> Callable[[EstimateRow], IntervalEstimate]:
    return lambda row: next(each for each in row.estimates if each.estimator.value == name)


def _has(name: str) -> Callable[[EstimateRow], bool]:
    return lambda row: any(each.estimator.value == name for each in row.estimates)


class EstimateRowFields(Record[EstimateRow]):
    """The estimates over all groups of a size and delay."""

    size = _of_row(FIGURE, "of the problem, null where it is not given", csv=True)
    delay = _of_row(AMOUNT, "before each run", unit="seconds", csv=True)
    groups = _of_row(COUNT, "how many there are", csv=True)
    runs = _of_row(COUNT, "of all groups", csv=True)
    warm_up = _of_row(
        one(EstimatorFields), "mean of the first runs of the groups", _estimate_of("warm-up"), key="warm-up", when=_has("warm-up")
    )
    mean_all = _of_row(one(EstimatorFields), "mean of all runs", _estimate_of("mean-all"), key="mean-all", when=_has("mean-all"))
    mean = _of_row(one(EstimatorFields), "mean without the first runs", _estimate_of("mean"), key="mean", when=_has("mean"))
    minimum = _of_row(one(EstimatorFields), "the shortest run", _estimate_of("min"), key="min", when=_has("min"))
    median = _of_row(one(EstimatorFields), "median without the first runs", _estimate_of("median"), key="median", when=_has("median"))
    maximum = _of_row(one(EstimatorFields), "the longest run", _estimate_of("max"), key="max", when=_has("max"))


class SpreadFields(Record[EstimatorSpread]):
    """How much an estimator varies between groups, as fractions of its smallest value."""

    spread = _of_spread(FIGURE, "over five groups", lambda each: each.kind.spread)
    same_delay = _of_spread(FIGURE, "the largest among five groups of a delay", lambda each: each.kind.same_delay)
    range = _of_spread(FIGURE, "over all groups", lambda each: each.kind.range)
    bias = _of_spread(FIGURE, "of its mean over the shortest run", lambda each: each.kind.bias, key="above_least_run")
    stable = _of_spread(FLAG, "whether the spread is within the tolerance", lambda each: each.kind.stable(each.tolerance))


_SPREADS = mapping(one(SpreadFields), choice(*Estimator).schema)


class VerdictFields(Record[Verdict]):
    """Which estimators are stable at a size."""

    size = _of_verdict(FIGURE, "of the problem, null where it is not given")
    duration = _of_verdict(AMOUNT, "the shortest run", unit="seconds")
    groups = _of_verdict(COUNT, "how many there are")
    runs = _of_verdict(COUNT, "of all groups")
    delays = _of_verdict(array(AMOUNT), "before each run", unit="seconds")
    parts = _of_verdict(FLAG, "whether the only group was divided", key="parts_of_one_group")
    few_groups = _of_verdict(FLAG, "whether there are too few groups for a reliable spread")
    tolerance = _of_verdict(AMOUNT, "spread up to which an estimator is stable")
    single_run_spread = _of_verdict(FIGURE, "spread of all runs")
    spreads = _of_verdict(
        _SPREADS,
        "of each estimator",
        lambda verdict: {kind.estimator.value: EstimatorSpread(kind, verdict.tolerance) for kind in verdict.stabilities},
    )
    choice = _of_verdict(TEXT, "a stable estimator, or `single run`")


class SamplesFields(Record[MeasuredSamples]):
    """What `sassan measure` says of one set of samples."""

    file = _of(STRING, "the samples", csv=True)
    about = _of(mapping(STRING), "what the samples say of themselves", lambda each: dict(each.samples.about))
    groups = _of(COUNT, "how many there are", lambda each: len(each.samples.groups))
    runs = _of(COUNT, "of all groups", lambda each: each.samples.runs)
    estimates = _of(array(one(EstimateRowFields)), "of each size and delay")
    verdicts = _of(array(one(VerdictFields)), "of each size")
    finding = _of(TEXT, "the verdict in words", lambda each: finding(each.verdicts))


def rows_of(each: MeasuredSamples) -> Iterator[Mapping[str, object]]:
    """Yield a row of CSV for each estimate."""
    for line in each.estimates:
        for known in line.estimates:
            yield {**row(SamplesFields, each), **row(EstimateRowFields, line), **row(EstimatorFields, known)}
