"""How sure an estimate is: bootstrap intervals, and what stands in their place where the bootstrap fails.

* Mean: BCa bootstrap (Efron 1987, "Better bootstrap confidence intervals", Eq. 6.8). Where runs depend on the runs before, circular blocks
  of runs are drawn instead of single ones (Politis and Romano 1992), and the interval is made of percentiles.
* Median: percentiles of the bootstrap. BCa needs a jackknife, which is not consistent for a median.
* Minimum: **no** bootstrap. The least of a resample is the least of the sample in 63 % of all resamples (1 - 1/e), however many runs there
  are: the bootstrap of an extreme is not consistent (Bickel and Freedman 1981). What stands for it is the interval of Robson and Whitlock
  (1964) for the lower end of a distribution, from the two least runs; it supposes a density of runs that does not fade towards that end.
  Beside it stands `share`, which supposes nothing but independent runs: at most that share of further runs is faster.
* Maximum: the same `share`, and no interval: above the longest run that was seen there is no bound that runs could give.
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
"""Runs drawn for one interval at most; of very many runs fewer resamples are taken."""
_BATCH = 4_000_000
"""Runs drawn at once: what bounds the memory."""
_FEWEST = 199
_FEW_RUNS = 10
"""Runs below which no interval can be trusted to its level."""
_FEW_BEYOND = 5
"""Resamples beyond an end of an interval, below which that end is a matter of luck."""
_HEAVY = 0.5
"""Share of the squared deviations that one single run may make up; beyond it the interval of a mean hangs on that run."""
_Z = 3.0
"""How unlikely, in standard deviations, the dependence of neighbours must be before it is believed."""

FEW = "few-runs"
HANGS = "one-run"
DEPENDENT = "dependent-runs"
TIES = "tied-runs"
UNBOUNDED = "no-upper-end"
COARSE = "few-resamples"
FEW_GROUPS = "few-groups"
DIFFER = "groups-differ"


@dataclass(frozen=True, slots=True)
class Settings:
    """Level of the intervals, seed and number of the resamples."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        """Refuse what makes no interval.

        Raises UsageError `bad-confidence`.
        """
        if not 0.5 <= self.level < 1 or not _FEWEST <= self.resamples <= 10**6 or self.seed < 0:  # noqa: PLR2004
            raise UsageError("bad-confidence", f"a level from 0.5 to 1 and {_FEWEST} to 1000000 resamples make an interval")


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the estimated quantity lies, at a level. Units: those of the runs.

    `low` or `high` is None where nothing can be said. `share`: at that level at most this share of further runs lies beyond the extreme
    that was seen; None where the estimate is no extreme. `doubts`: why the interval may miss its level, as codes. `resamples`: 0 without
    a bootstrap.
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
    HANGS: "one single run makes up most of the scatter: with or without it the interval is another",
    DEPENDENT: "each run resembles the one before, so that there are fewer independent runs than runs",
    TIES: "the two least runs are equal: the clock is too coarse for an interval",
    COARSE: f"fewer than {_FEW_BEYOND} resamples lie beyond each end: a lower level, or more resamples of fewer runs, steady it",
    FEW_GROUPS: "two to four groups: whether groups differ is hardly seen, and the interval is as if they did not",
    DIFFER: "groups differ more than chance allows: their runs are not as good as independent ones",
    UNBOUNDED: "no run bounds the runs that were not taken: a bound comes from analysis",
}


def interval(seconds: Sequence[float], which: Estimator, settings: Settings | None = None) -> Interval | None:
    """Return the interval of an estimate from the runs of a group, warm-up first; None for the warm-up, which is one run.

    Raises InputError `too-few-runs`.
    """
    chosen = settings if settings is not None else Settings()
    estimate(seconds, which)
    match which:
        case Estimator.WARM_UP:
            return None
        case Estimator.MINIMUM:
            return _least(sorted(seconds[1:]), seconds[1:], chosen)
        case Estimator.MAXIMUM:
            share = _share(len(seconds) - 1, chosen.level)
            against = (UNBOUNDED, *(one for one in doubts(seconds[1:]) if one != HANGS))
            return Interval(max(seconds[1:]), None, chosen.level, "none", 0, share, against)
        case Estimator.MEAN_ALL:
            return _bootstrap(np.array(seconds), chosen, middle=False)
        case Estimator.MEAN | Estimator.MEDIAN:
            return _bootstrap(np.array(seconds[1:]), chosen, middle=which is Estimator.MEDIAN)


def dependence(values: Sequence[float]) -> float:
    """Return the rank correlation of each run with the next: Fig. 5 as one number."""
    return correlation(np.array(values[:-1]), np.array(values[1:]))


def correlation(left: "Floats", right: "Floats") -> float:
    """Return the rank correlation of pairs (Spearman's), 0 where a side does not vary or of fewer than 2 pairs."""
    if len(left) < 2:  # noqa: PLR2004
        return 0.0
    one, two = ranks(left), ranks(right)
    one, two = one - one.mean(), two - two.mean()
    scale = sqrt(float(one @ one) * float(two @ two))
    return float(one @ two) / scale if scale else 0.0


def dependent(values: Sequence[float]) -> bool:
    """Return whether neighbours are more alike than chance allows."""
    return dependence(values) * sqrt(len(values)) > _Z


def _share(runs: int, level: float) -> float:
    # P(no run of n is faster than the p-quantile) = (1 - p)^n = 1 - level
    return float(1 - (1 - level) ** (1 / runs))


def _least(ordered: Sequence[float], taken: Sequence[float], chosen: Settings) -> Interval:
    """Return [T_(1) - c / (1 - c) * (T_(2) - T_(1)), T_(1)] with c = level: Robson and Whitlock 1964."""
    share = _share(len(ordered), chosen.level)
    against = [one for one in doubts(taken) if one != HANGS]
    if len(ordered) == 1:
        return Interval(None, ordered[0], chosen.level, "endpoint", share=share, doubts=tuple(against))
    if ordered[0] == ordered[1]:
        against.append(TIES)
    reach = chosen.level / (1 - chosen.level) * (ordered[1] - ordered[0])
    return Interval(max(0.0, ordered[0] - reach), ordered[0], chosen.level, "endpoint", share=share, doubts=tuple(against))


def _bootstrap(values: "Floats", chosen: Settings, *, middle: bool) -> Interval:
    taken = [float(one) for one in values]
    against = tuple(one for one in doubts(taken) if one != HANGS or not middle)
    blocks = DEPENDENT in against
    found = np.sort(_resampled(values, chosen, length=_block(len(values)) if blocks else 1, middle=middle))
    tail = (1 - chosen.level) / 2
    low, high = (tail, 1 - tail) if blocks or middle else _corrected(values, found, tail)
    against += (COARSE,) if len(found) * tail < _FEW_BEYOND else ()
    method = "percentiles of blocks" if blocks else "percentiles" if middle else "BCa"
    low, high = float(np.quantile(found, low)), float(np.quantile(found, high))
    return Interval(low, high, chosen.level, method, len(found), doubts=against)


def _block(runs: int) -> int:
    # The rate n^(1/3) balances bias and variance (Künsch 1989); twice that, since too short a block makes too short an interval.
    return min(runs, ceil(2 * cbrt(runs)))


def _resampled(values: "Floats", chosen: Settings, *, length: int, middle: bool) -> "Floats":
    """Return the estimate of each resample, drawn in circular blocks of `length` runs."""
    runs = len(values)
    total = max(_FEWEST, min(chosen.resamples, _WORK // runs))
    random = np.random.default_rng(chosen.seed)
    steps = np.arange(length)
    found: list[Floats] = []
    for begin in range(0, total, max(1, _BATCH // runs)):
        count = min(max(1, _BATCH // runs), total - begin)
        starts = random.integers(0, runs, size=(count, -(-runs // length)))
        drawn = values[((starts[:, :, None] + steps) % runs).reshape(count, -1)[:, :runs]]
        found.append(np.median(drawn, axis=1) if middle else drawn.mean(axis=1))
    return np.concatenate(found)


def _corrected(values: "Floats", found: "Floats", tail: float) -> tuple[float, float]:
    """Return the quantiles of the resampled means that bound the interval (Efron 1987, Eq. 6.8)."""
    normal, deviations = NormalDist(), values - values.mean()
    spread = float((deviations**2).sum())
    if spread == 0.0:
        return tail, 1 - tail
    below = (np.count_nonzero(found < values.mean()) + np.count_nonzero(found <= values.mean())) / (2 * len(found))
    bias = normal.inv_cdf(min(max(below, 1 / len(found)), 1 - 1 / len(found)))
    skew = float((deviations**3).sum()) / (6 * spread**1.5)

    def end(level: float) -> float:
        reached = bias + normal.inv_cdf(level)
        left = 1 - skew * reached
        return normal.cdf(bias + reached / left) if left > 0 else float(reached > 0)

    return end(tail), end(1 - tail)


def doubts(values: Sequence[float]) -> tuple[str, ...]:
    """Return what speaks against the interval of some runs."""
    found = [FEW] if len(values) < _FEW_RUNS else []
    squares = (np.array(values) - np.mean(values)) ** 2
    if len(values) >= _FEW_RUNS and squares.max() > _HEAVY * squares.sum():
        found.append(HANGS)
    if dependent(values):
        found.append(DEPENDENT)
    return tuple(found)


def ranks(values: "Floats") -> "Floats":
    """Return the rank of each value; equal values share the mean of theirs."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1) / 2
