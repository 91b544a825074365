"""Intervals of runs that were taken in groups: what a group has in common, its runs do not average away.

* From five groups on the interval is that of a mean over groups: Student's t, with one degree of freedom less than groups, around the
  estimate of all runs, with the standard error that the groups' own estimates show (that of clustered data, Liang and Zeger 1986, times
  k / (k - 1)). It holds whether groups differ or not, and whether the runs of a group depend on each other or not.
* Of fewer groups the runs are taken for independent, and that is doubted: two to four groups say little about how groups differ.
* Whether groups differ is tested by ranks (Kruskal and Wallis 1952), which no tail of single runs can outweigh.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import atan, cbrt, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sassan.measure.confidence import DEPENDENT, DIFFER, FEW_GROUPS, HANGS, Interval, Settings, doubts, interval, ranks
from sassan.measure.estimators import Estimator, mean, median

if TYPE_CHECKING:
    from sassan.measure.samples import Group

ENOUGH = 5
"""Groups from which on they carry an interval."""
_SURE = 0.05
"""How unlikely alike groups must be before they are said to differ."""
_MEANS = (Estimator.MEAN_ALL, Estimator.MEAN, Estimator.MEDIAN)


def interval_of(groups: Sequence["Group"], which: Estimator, settings: Settings) -> Interval | None:
    """Return the interval of an estimate from all runs of groups that were measured alike; None for the warm-up.

    Raises InputError `too-few-runs`.
    """
    parts = [one.seconds if which is Estimator.MEAN_ALL else one.warm for one in groups]
    parts = [one for one in parts if one]
    runs = [value for one in parts for value in one]
    if which in _MEANS and len(parts) >= ENOUGH:
        return _of_groups(parts, which, settings, runs)
    found = interval(runs if which is Estimator.MEAN_ALL else [groups[0].seconds[0], *runs], which, settings)
    if found is None or len(parts) == 1:
        return found
    told = ((FEW_GROUPS,) if which in _MEANS else ()) + ((DIFFER,) if differ(parts) else ())
    return replace(found, doubts=(*found.doubts, *told))


def differ(groups: Sequence[Sequence[float]]) -> bool:
    """Say whether groups differ more than chance lets them: the test of Kruskal and Wallis, equal values sharing their ranks."""
    sizes = np.array([len(one) for one in groups])
    found = ranks(np.array([value for one in groups for value in one]))
    centred = found - found.mean()
    scatter, total = float(centred @ centred), len(found)
    if len(groups) < 2 or not scatter:  # noqa: PLR2004 - one group differs from none
        return False
    sums = np.array([part.sum() for part in np.split(centred, np.cumsum(sizes)[:-1])])
    statistic = (total - 1) * float((sums**2 / sizes).sum()) / scatter
    free = len(groups) - 1
    # Wilson and Hilferty 1931: the cube root of a chi-square over its degrees of freedom is close to normal.
    normal = (cbrt(statistic / free) - (1 - 2 / (9 * free))) / sqrt(2 / (9 * free))
    return 1 - NormalDist().cdf(normal) < _SURE


def _of_groups(parts: Sequence[Sequence[float]], which: Estimator, settings: Settings, runs: Sequence[float]) -> Interval:
    one_of = median if which is Estimator.MEDIAN else mean
    count, middle = len(parts), one_of(runs)
    pulls = [len(part) / len(runs) * (one_of(part) - middle) for part in parts]
    reach = student((1 + settings.level) / 2, count - 1) * sqrt(count / (count - 1) * sum(one * one for one in pulls))
    left_out = {DEPENDENT, HANGS} if which is Estimator.MEDIAN else {DEPENDENT}
    told = tuple(one for one in doubts(runs) if one not in left_out)
    return Interval(max(0.0, middle - reach), middle + reach, settings.level, "t over groups", doubts=told)


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
