"""Confidence intervals of estimates: bootstrap intervals, and alternatives where the bootstrap is inconsistent.

* Mean: BCa bootstrap (Efron 1987, "Better bootstrap confidence intervals", Eq. 6.8). Where a run depends on the previous
  ones, circular blocks of runs are resampled instead of single runs (Politis and Romano 1992), and the interval is that of percentiles.
* Median: percentiles of the bootstrap. BCa needs a jackknife, which is not consistent for a median.
* Minimum: **no** bootstrap. The minimum of a resample is the minimum of the sample in 63 % of all resamples (1 - 1/e), however many runs
  there are: the bootstrap of an extreme is inconsistent (Bickel and Freedman 1981). It is replaced by the interval of Robson and Whitlock
  (1964) for the lower endpoint of a distribution, from the two shortest runs; it assumes a density that does not vanish at that endpoint.
  `share` assumes independent runs only: at most that share of further runs is faster.
* Maximum: the same `share`, and no interval: no number of runs bounds the runs above the longest observed one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cbrt, ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sassan.errors import UsageError
from sassan.measure.estimators import Estimator, estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 9999
_WORK = 50_000_000
"""Maximum number of runs drawn for an interval; samples with very many runs get fewer resamples."""
_BATCH = 4_000_000
"""Runs drawn at once: limits the memory."""
_FEWEST = 199
_FEW_RUNS = 10
"""With fewer runs no interval reliably reaches its level."""
_FEW_BEYOND = 5
"""With fewer resamples beyond an end of an interval, that end is arbitrary."""
_HEAVY = 0.5
"""Share of the squared deviations above which a single run determines the interval of a mean."""
_Z = 3.0
"""Standard deviations from which on the rank correlation of consecutive runs counts as dependence."""

FEW = "few-runs"
SINGLE_RUN = "one-run"
DEPENDENT = "dependent-runs"
TIES = "tied-runs"
UNBOUNDED = "no-upper-end"
COARSE = "few-resamples"
FEW_GROUPS = "few-groups"
DIFFER = "groups-differ"


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """Confidence level of the intervals, seed and number of the resamples."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises UsageError `bad-confidence`.
        """
        if not 0.5 <= self.level < 1 or not _FEWEST <= self.resamples <= 10**6 or self.seed < 0:  # noqa: PLR2004
            raise UsageError("bad-confidence", f"an interval needs a level from 0.5 to below 1, and {_FEWEST} to 1000000 resamples")


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of an estimate. Units: those of the runs.

    `low` or `high` is None where that end is unknown. `share`: at this level, at most this share of further runs lies beyond the observed
    extreme; None where the estimate is not an extreme. `doubts`: codes of why the interval may miss its level. `resamples`: 0 without a
    bootstrap.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    resamples: int = 0
    share: float | None = None
    doubts: tuple[str, ...] = ()


DOUBTS = {
    FEW: f"fewer than {_FEW_RUNS} runs",
    SINGLE_RUN: "a single run causes most of the variance: the interval depends on it",
    DEPENDENT: "consecutive runs are correlated: there are fewer independent runs than runs",
    TIES: "the two shortest runs are equal: the clock is too coarse for an interval",
    COARSE: f"fewer than {_FEW_BEYOND} resamples lie beyond each end: lower --confidence, raise --resamples, or use fewer runs",
    FEW_GROUPS: "two to four groups are too few to see whether groups differ: the interval assumes that they do not",
    DIFFER: "groups differ significantly: their runs are not independent",
    UNBOUNDED: "measured runs do not bound other runs: a bound needs analysis",
}


def interval(seconds: Sequence[float], estimator: Estimator, settings: IntervalSettings | None = None) -> Interval | None:
    """Return the interval of an estimate from the runs of a group, warm-up first; None for the warm-up, which is one run.

    Raises InputError `too-few-runs`.
    """
    effective = settings if settings is not None else IntervalSettings()
    estimate(seconds, estimator)
    match estimator:
        case Estimator.WARM_UP:
            return None
        case Estimator.MINIMUM:
            return _minimum_interval(sorted(seconds[1:]), seconds[1:], effective)
        case Estimator.MAXIMUM:
            share = _share(len(seconds) - 1, effective.level)
            reasons = (UNBOUNDED, *(doubt for doubt in doubts(seconds[1:]) if doubt != SINGLE_RUN))
            return Interval(max(seconds[1:]), None, effective.level, "none", 0, share, reasons)
        case Estimator.MEAN_ALL:
            return _bootstrap(np.array(seconds), effective, is_median=False)
        case Estimator.MEAN | Estimator.MEDIAN:
            return _bootstrap(np.array(seconds[1:]), effective, is_median=estimator is Estimator.MEDIAN)


def dependence(values: Sequence[float]) -> float:
    """Return the rank correlation of each run with the next one: Fig. 5 as a number."""
    return correlation(np.array(values[:-1]), np.array(values[1:]))


def correlation(left: "Floats", right: "Floats") -> float:
    """Return Spearman's rank correlation of pairs; 0 where a side is constant, and for fewer than 2 pairs."""
    if len(left) < 2:  # noqa: PLR2004
        return 0.0
    left_ranks, right_ranks = ranks(left), ranks(right)
    left_ranks, right_ranks = left_ranks - left_ranks.mean(), right_ranks - right_ranks.mean()
    scale = sqrt(float(left_ranks @ left_ranks) * float(right_ranks @ right_ranks))
    return float(left_ranks @ right_ranks) / scale if scale else 0.0


def dependent(values: Sequence[float]) -> bool:
    """Return whether consecutive runs are significantly correlated."""
    return dependence(values) * sqrt(len(values)) > _Z


def _share(runs: int, level: float) -> float:
    # P(no run of n is faster than the p-quantile) = (1 - p)^n = 1 - level
    return float(1 - (1 - level) ** (1 / runs))


def _minimum_interval(ordered: Sequence[float], runs: Sequence[float], settings: IntervalSettings) -> Interval:
    """Return [T_(1) - c / (1 - c) * (T_(2) - T_(1)), T_(1)] with c = level: Robson and Whitlock 1964."""
    share = _share(len(ordered), settings.level)
    reasons = [doubt for doubt in doubts(runs) if doubt != SINGLE_RUN]
    if len(ordered) == 1:
        return Interval(None, ordered[0], settings.level, "endpoint", share=share, doubts=tuple(reasons))
    if ordered[0] == ordered[1]:
        reasons.append(TIES)
    margin = settings.level / (1 - settings.level) * (ordered[1] - ordered[0])
    return Interval(max(0.0, ordered[0] - margin), ordered[0], settings.level, "endpoint", share=share, doubts=tuple(reasons))


def _bootstrap(values: "Floats", settings: IntervalSettings, *, is_median: bool) -> Interval:
    runs = [float(value) for value in values]
    reasons = tuple(doubt for doubt in doubts(runs) if doubt != SINGLE_RUN or not is_median)
    blocks = DEPENDENT in reasons
    estimates = np.sort(_resampled(values, settings, length=_block(len(values)) if blocks else 1, is_median=is_median))
    tail = (1 - settings.level) / 2
    low, high = (tail, 1 - tail) if blocks or is_median else _corrected(values, estimates, tail)
    reasons += (COARSE,) if len(estimates) * tail < _FEW_BEYOND else ()
    method = "percentiles of blocks" if blocks else "percentiles" if is_median else "BCa"
    low, high = float(np.quantile(estimates, low)), float(np.quantile(estimates, high))
    return Interval(low, high, settings.level, method, len(estimates), doubts=reasons)


def _block(runs: int) -> int:
    # The rate n^(1/3) balances bias and variance (Künsch 1989); twice that, since too short a block makes too short an interval.
    return min(runs, ceil(2 * cbrt(runs)))


def _resampled(values: "Floats", settings: IntervalSettings, *, length: int, is_median: bool) -> "Floats":
    """Return the estimate of each resample, drawn in circular blocks of `length` runs."""
    runs = len(values)
    total = max(_FEWEST, min(settings.resamples, _WORK // runs))
    random = np.random.default_rng(settings.seed)
    steps = np.arange(length)
    batches: list[Floats] = []
    for begin in range(0, total, max(1, _BATCH // runs)):
        count = min(max(1, _BATCH // runs), total - begin)
        starts = random.integers(0, runs, size=(count, -(-runs // length)))
        drawn = values[((starts[:, :, None] + steps) % runs).reshape(count, -1)[:, :runs]]
        batches.append(np.median(drawn, axis=1) if is_median else drawn.mean(axis=1))
    return np.concatenate(batches)


def _corrected(values: "Floats", estimates: "Floats", tail: float) -> tuple[float, float]:
    """Return the quantiles of the resampled means that bound the interval (Efron 1987, Eq. 6.8)."""
    normal, deviations = NormalDist(), values - values.mean()
    spread = float((deviations**2).sum())
    if spread == 0.0:
        return tail, 1 - tail
    below = (np.count_nonzero(estimates < values.mean()) + np.count_nonzero(estimates <= values.mean())) / (2 * len(estimates))
    bias = normal.inv_cdf(min(max(below, 1 / len(estimates)), 1 - 1 / len(estimates)))
    skew = float((deviations**3).sum()) / (6 * spread**1.5)

    def end(level: float) -> float:
        reached = bias + normal.inv_cdf(level)
        left = 1 - skew * reached
        return normal.cdf(bias + reached / left) if left > 0 else float(reached > 0)

    return end(tail), end(1 - tail)


def doubts(values: Sequence[float]) -> tuple[str, ...]:
    """Return the codes of why an interval from these runs may miss its level."""
    codes = [FEW] if len(values) < _FEW_RUNS else []
    squares = (np.array(values) - np.mean(values)) ** 2
    if len(values) >= _FEW_RUNS and squares.max() > _HEAVY * squares.sum():
        codes.append(SINGLE_RUN)
    if dependent(values):
        codes.append(DEPENDENT)
    return tuple(codes)


def ranks(values: "Floats") -> "Floats":
    """Return the rank of each value; equal values share their mean rank."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1) / 2
