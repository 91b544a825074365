"""All estimates of a set of samples with their intervals, for each size and delay, and their JSON document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.errors import InputError
from sassan.measure.confidence import Interval, IntervalSettings
from sassan.measure.estimators import Estimator, estimate, mean
from sassan.measure.grouped import interval_of
from sassan.measure.samples import Group, Samples
from sassan.measure.verdict import Verdict, finding

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""A JSON value."""


@dataclass(frozen=True, slots=True)
class Estimate:
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
    estimates: tuple[Estimate, ...]


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


def _estimate(groups: Sequence[Group], estimator: Estimator, settings: IntervalSettings) -> Estimate | None:
    if estimator is Estimator.WARM_UP:
        return Estimate(estimator, mean([group.seconds[0] for group in groups]), None)
    if estimator is Estimator.MEAN_ALL:
        durations = [value for group in groups for value in group.seconds]
        return Estimate(estimator, estimate(durations, estimator), interval_of(groups, estimator, settings))
    warm = [value for group in groups for value in group.warm]
    if not warm:
        return None
    together = [groups[0].seconds[0], *warm]
    return Estimate(estimator, estimate(together, estimator), interval_of(groups, estimator, settings))


def document(name: str, samples: Samples, estimated: Sequence[EstimateRow], verdicts: Sequence[Verdict]) -> Mapping[str, Value]:
    """Return the JSON document of a set of samples; durations in seconds, null where a number is unknown."""
    return {
        "file": name,
        "about": dict(samples.about),
        "groups": len(samples.groups),
        "runs": samples.runs,
        "estimates": [_row(row) for row in estimated],
        "verdicts": [_verdict(verdict) for verdict in verdicts],
        "finding": finding(verdicts),
    }


def _row(row: EstimateRow) -> Mapping[str, Value]:
    head: dict[str, Value] = {"size": row.size, "delay": row.delay, "groups": row.groups, "runs": row.runs}
    return {**head, **{estimate.estimator.value: _value(estimate) for estimate in row.estimates}}


def _value(estimate: Estimate) -> Mapping[str, Value]:
    if estimate.interval is None:
        return {"value": estimate.value, "interval": None}
    at = estimate.interval
    known: dict[str, Value] = {"low": at.low, "high": at.high, "confidence": at.level, "method": at.method, "resamples": at.resamples}
    return {"value": estimate.value, "interval": {**known, "share_beyond": at.share, "doubts": list(at.doubts)}}


def _verdict(verdict: Verdict) -> Mapping[str, Value]:
    return {
        "size": verdict.size,
        "duration": verdict.duration,
        "groups": verdict.groups,
        "runs": verdict.runs,
        "delays": list(verdict.delays),
        "parts_of_one_group": verdict.parts,
        "few_groups": verdict.few_groups,
        "tolerance": verdict.tolerance,
        "single_run_spread": verdict.single_run_spread,
        "spreads": {
            kind.estimator.value: {
                "spread": kind.spread,
                "same_delay": kind.same_delay,
                "range": kind.range,
                "above_least_run": kind.bias,
                "stable": kind.stable(verdict.tolerance),
            }
            for kind in verdict.stabilities
        },
        "choice": verdict.choice,
    }
