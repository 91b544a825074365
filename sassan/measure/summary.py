"""All estimates of a set of samples, with their intervals, for each size and delay; and the document that says them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.errors import InputError
from sassan.measure.confidence import Interval, Settings
from sassan.measure.estimators import Estimator, estimate, mean
from sassan.measure.grouped import interval_of
from sassan.measure.samples import Group, Samples
from sassan.measure.verdict import Verdict, finding

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""What JSON can hold."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimate in seconds, and how sure it is; None where there is no interval."""

    estimator: Estimator
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Row:
    """The estimates of all groups of one size and delay, taken together; the warm-up is the mean of theirs."""

    size: float | None
    delay: float
    groups: int
    runs: int
    estimates: tuple[Estimate, ...]


def rows(samples: Samples, which: Sequence[Estimator], settings: Settings) -> tuple[Row, ...]:
    """Return the estimates of each size and delay, in order of both.

    Raises InputError `too-few-runs` where no group is enough for any of the estimators.
    """
    found = tuple(_rows(samples, which, settings))
    if not any(row.estimates for row in found):
        longest = max(len(group.seconds) for group in samples.groups)
        message = f"the longest group has {longest} run: after its warm-up nothing is left to estimate from"
        raise InputError("too-few-runs", message, hint="measure more runs per group")
    return found


def _rows(samples: Samples, which: Sequence[Estimator], settings: Settings) -> Iterator[Row]:
    for size, groups in samples.by_size().items():
        for delay in sorted({group.delay for group in groups}):
            some = [group for group in groups if group.delay == delay]
            estimates = tuple(found for one in which if (found := _estimate(some, one, settings)) is not None)
            yield Row(size, delay, len(some), sum(len(group.seconds) for group in some), estimates)


def _estimate(groups: Sequence[Group], which: Estimator, settings: Settings) -> Estimate | None:
    if which is Estimator.WARM_UP:
        return Estimate(which, mean([group.seconds[0] for group in groups]), None)
    if which is Estimator.MEAN_ALL:
        every = [value for group in groups for value in group.seconds]
        return Estimate(which, estimate(every, which), interval_of(groups, which, settings))
    warm = [value for group in groups for value in group.warm]
    if not warm:
        return None
    together = [groups[0].seconds[0], *warm]
    return Estimate(which, estimate(together, which), interval_of(groups, which, settings))


def document(name: str, samples: Samples, found: Sequence[Row], verdicts: Sequence[Verdict]) -> Mapping[str, Value]:
    """Return what JSON says of a set of samples; durations in seconds, a number that cannot be given is null."""
    return {
        "file": name,
        "about": dict(samples.about),
        "groups": len(samples.groups),
        "runs": samples.runs,
        "estimates": [_row(row) for row in found],
        "verdicts": [_verdict(one) for one in verdicts],
        "finding": finding(verdicts),
    }


def _row(row: Row) -> Mapping[str, Value]:
    head: dict[str, Value] = {"size": row.size, "delay": row.delay, "groups": row.groups, "runs": row.runs}
    return {**head, **{one.estimator.value: _value(one) for one in row.estimates}}


def _value(one: Estimate) -> Mapping[str, Value]:
    if one.interval is None:
        return {"value": one.value, "interval": None}
    at = one.interval
    known: dict[str, Value] = {"low": at.low, "high": at.high, "confidence": at.level, "method": at.method, "resamples": at.resamples}
    return {"value": one.value, "interval": {**known, "share_beyond": at.share, "doubts": list(at.doubts)}}


def _verdict(one: Verdict) -> Mapping[str, Value]:
    return {
        "size": one.size,
        "duration": one.duration,
        "groups": one.groups,
        "runs": one.runs,
        "delays": list(one.delays),
        "parts_of_one_group": one.parts,
        "few_groups": one.few,
        "tolerance": one.tolerance,
        "single_run_spread": one.single,
        "spreads": {
            kind.estimator.value: {
                "spread": kind.spread,
                "same_delay": kind.same_delay,
                "range": kind.range,
                "above_least_run": kind.bias,
                "stable": kind.stable(one.tolerance),
            }
            for kind in one.stabilities
        },
        "choice": one.choice,
    }
