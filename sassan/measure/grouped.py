"""Intervals of runs that were taken in groups, where the runs of a group may share a common disturbance.

* From five groups on the interval is that of a mean over groups: Student's t, with k - 1 degrees of freedom for k groups, around the
  estimate of all runs, with the standard error of the group estimates (that of clustered data, Liang and Zeger 1986, times
  k / (k - 1)). It holds whether groups differ or not, and whether the runs of a group depend on each other or not.
* With fewer groups the runs are assumed to be independent, and the interval is marked as doubtful.
* Whether groups differ is tested by ranks (Kruskal and Wallis 1952), estimator outliers do not dominate.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import atan, cbrt, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sassan.measure.confidence import DEPENDENT, DIFFER, FEW_GROUPS, SINGLE_RUN, Interval, IntervalSettings, doubts, interval, ranks
from sassan.measure.estimators import Estimator, mean, median

if TYPE_CHECKING:
    from sassan.measure.samples import SampleGroup

ENOUGH = 5
"""Groups from estimator on the interval is computed over groups."""
_SIGNIFICANCE = 0.05
"""Significance level of the test whether groups differ."""
_MEANS = (Estimator.MEAN_ALL, Estimator.MEAN, Estimator.MEDIAN)


def interval_of(groups: Sequence["SampleGroup"], estimator: Estimator, settings: IntervalSettings) -> Interval | None:
    """Return the interval of an estimate from all runs of groups measured under the same conditions; None for the warm-up.

    Raises InputError `too-few-runs`.
    """
    parts = [group.seconds if estimator is Estimator.MEAN_ALL else group.warm for group in groups]
    parts = [part for part in parts if part]
    runs = [value for part in parts for value in part]
    if estimator in _MEANS and len(parts) >= ENOUGH:
        return _of_groups(parts, estimator, settings, runs)
    pooled = interval(runs if estimator is Estimator.MEAN_ALL else [groups[0].seconds[0], *runs], estimator, settings)
    if pooled is None or len(parts) == 1:
        return pooled
    more = ((FEW_GROUPS,) if estimator in _MEANS else ()) + ((DIFFER,) if differ(parts) else ())
    return replace(pooled, doubts=(*pooled.doubts, *more))


def differ(groups: Sequence[Sequence[float]]) -> bool:
    """Return whether groups differ significantly, by the test of Kruskal and Wallis with mean ranks for ties."""
    sizes = np.array([len(group) for group in groups])
    ranked = ranks(np.array([value for group in groups for value in group]))
    centred = ranked - ranked.mean()
    scatter, total = float(centred @ centred), len(ranked)
    if len(groups) < 2 or not scatter:  # noqa: PLR2004 - a test needs two groups
        return False
    sums = np.array([part.sum() for part in np.split(centred, np.cumsum(sizes)[:-1])])
    statistic = (total - 1) * float((sums**2 / sizes).sum()) / scatter
    free = len(groups) - 1
    # Wilson and Hilferty 1931: the cube root of a chi-square over its degrees of freedom is close to normal.
    normal = (cbrt(statistic / free) - (1 - 2 / (9 * free))) / sqrt(2 / (9 * free))
    return 1 - NormalDist().cdf(normal) < _SIGNIFICANCE


def _of_groups(parts: Sequence[Sequence[float]], estimator: Estimator, settings: IntervalSettings, runs: Sequence[float]) -> Interval:
    estimate_of = median if estimator is Estimator.MEDIAN else mean
    count, centre = len(parts), estimate_of(runs)
    pulls = [len(part) / len(runs) * (estimate_of(part) - centre) for part in parts]
    margin = student((1 + settings.level) / 2, count - 1) * sqrt(count / (count - 1) * sum(pull * pull for pull in pulls))
    ignored = {DEPENDENT, SINGLE_RUN} if estimator is Estimator.MEDIAN else {DEPENDENT}
    remaining = tuple(doubt for doubt in doubts(runs) if doubt not in ignored)
    return Interval(max(0.0, centre - margin), centre + margin, settings.level, "t over groups", doubts=remaining)


def student(level: float, free: int) -> float:
    """Return the quantile of Student's t, at a level above one half."""
    below, above = 0.0, 1.0
    while _reached(above, free) < level and above < 1e12:  # noqa: PLR2004 - beyond every level that a double can tell from 1
        above *= 2
    for _ in range(200):
        between = (below + above) / 2
        below, above = (between, above) if _reached(between, free) < level else (below, between)
    return above


def _reached(value: float, free: int) -> float:
    """Return the distribution function of Student's t at a positive value (Abramowitz and Stegun 1964, Eq. 26.7.3 and 26.7.4)."""
    angle = atan(value / sqrt(free))
    square = cos(angle) ** 2
    term, total = (cos(angle), cos(angle)) if free % 2 else (1.0, 1.0)
    for step in range(3 if free % 2 else 2, free - 1, 2):
        term *= square * (step - 1) / step
        total += term
    share = sin(angle) * total
    if free % 2:
        share = 2 / pi * (angle + (share if free > 1 else 0.0))
    return (1 + share) / 2
