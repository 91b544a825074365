"""Which estimator is stable at a duration, computed from groups measured under the same conditions: the paper's "ms versus seconds".

The criterion. For the groups of one size, the *spread* of an estimator is (largest - least) / least of its values over five groups. With
more groups it is the mean over all choices of five, since a plain range grows with every group and would in the end call any estimator
unstable; with fewer it is scaled as for normal values and marked as doubtful. An estimator is *stable* where the spread is within a
tolerance (1 %). The spread among groups of the same delay and over all delays (Fig. 7) are reported separately. A *single run* is enough
where all runs of five groups, warm-ups included, lie within the tolerance. The verdict is the cheapest stable estimator: a single run,
else the minimum, the mean or the median, estimatorever has the smallest spread; else none.

Stable does not mean correct: an estimator may repeat a value that is too large. `bias` is its excess over the shortest run of the size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import comb, fsum

from sassan.measure.estimators import Estimator, estimate
from sassan.measure.samples import SampleGroup, Samples

TOLERANCE = 0.01
"""Spread up to estimator an estimator is stable."""
PART_RUNS = 20
"""Runs of a part, where a single long group is divided into parts."""
REFERENCE_GROUPS = 5
"""Number of groups to estimator a spread refers."""
_NORMAL = {2: 1.128379, 3: 1.692569, 4: 2.058751, 5: 2.325929}
"""Expected range of n normal values, in standard deviations (Tippett 1925)."""
SINGLE = "single run"
_CHOICE = (Estimator.MINIMUM, Estimator.MEAN, Estimator.MEDIAN)
"""Estimators that may be recommended, the first one on equal spreads: the maximum measures disturbances, not the kernel."""


@dataclass(frozen=True, slots=True)
class Stability:
    """How much an estimator varies between groups. Units: fractions of its smallest value.

    `spread` over five groups of each delay, `same_delay` the largest among five groups of a delay, None where no delay has two groups;
    `bias`: excess of its mean value over the shortest run of all groups, as a fraction of that; `range`: (largest - least) / least over all
    groups.
    """

    estimator: Estimator
    spread: float
    same_delay: float | None
    bias: float
    range: float

    def stable(self, tolerance: float) -> bool:
        """Return whether the estimator stays within the tolerance."""
        return self.spread <= tolerance


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which estimators are stable at a size. Units: `duration`, the shortest run, in seconds; `single_run_spread` as `spread`, of all runs.

    `choice` is a stable estimator, or `single run`, or None. `parts`: the only group was divided into parts of 20 runs.
    """

    size: float | None
    duration: float
    groups: int
    runs: int
    delays: tuple[float, ...]
    single_run_spread: float
    stabilities: tuple[Stability, ...]
    tolerance: float
    choice: str | None
    parts: bool = False

    @property
    def few_groups(self) -> bool:
        """Return whether there are too few groups for a reliable spread."""
        return len(self.delays) == 1 and self.groups < REFERENCE_GROUPS

    @property
    def stable(self) -> tuple[Estimator, ...]:
        """Return the stable estimators."""
        return tuple(stability.estimator for stability in self.stabilities if stability.stable(self.tolerance))


def verdicts(samples: Samples, tolerance: float = TOLERANCE) -> tuple[Verdict, ...]:
    """Return one verdict per size, shortest duration first; a size with fewer than two groups of two runs has none.

    A single group of at least 60 runs is divided into parts of 20, all with the warm-up of the group.
    """
    ordered = [verdict for size, groups in samples.by_size().items() if (verdict := _verdict(size, groups, tolerance)) is not None]
    return tuple(sorted(ordered, key=lambda verdict: verdict.duration))


def finding(verdicts: Sequence[Verdict]) -> str | None:
    """Return a sentence on how the verdict changes with the duration; None for fewer than two durations."""
    if len(verdicts) < 2:  # noqa: PLR2004 - a change needs two
        return None
    kinds = [verdict.choice if verdict.choice in {SINGLE, None} else "" for verdict in verdicts]
    enough, repeated, lost = (_ranges_text(verdicts, kinds, kind) for kind in (SINGLE, "", None))
    parts = [
        f"a single run is enough at {enough or 'no duration'}",
        f"repeated runs are needed at {repeated}" if repeated else "",
        f"no estimator is stable at {lost}" if lost else "",
    ]
    return "; ".join(part for part in parts if part)


def spread(values: Sequence[float]) -> float:
    """Return (largest - least) / least."""
    return (max(values) - min(values)) / min(values)


def time(seconds: float) -> str:
    """Return a duration with its unit, four significant digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def _ranges_text(verdicts: Sequence[Verdict], kinds: Sequence[str | None], wanted: str | None) -> str:
    """Return the ranges of consecutive durations of a kind; '' if there are none."""
    at = 0
    ranges: list[str] = []
    for kind, equal_kinds in groupby(kinds):
        first, at = at, at + len(list(equal_kinds))
        if kind == wanted:
            ends = dict.fromkeys((time(verdicts[first].duration), time(verdicts[at - 1].duration)))
            ranges.append(" to ".join(ends))
    return f"{', '.join(ranges[:-1])} and {ranges[-1]}" if len(ranges) > 1 else "".join(ranges)


def _verdict(size: float | None, groups: tuple[SampleGroup, ...], tolerance: float) -> Verdict | None:
    usable = tuple(group for group in groups if len(group.seconds) >= Estimator.MINIMUM.least)
    cut = _cut(usable[0]) if len(usable) == 1 else usable
    if len(cut) < 2:  # noqa: PLR2004 - one value has no spread
        return None
    single = _runs_of_five(usable)
    least = min(min(group.warm) for group in usable)
    kinds = [estimator for estimator in Estimator if estimator is not Estimator.WARM_UP or len(usable) > 1]
    stabilities = tuple(_stability(estimator, cut, least) for estimator in kinds)
    duration, runs = min(least, *(group.seconds[0] for group in usable)), sum(len(group.seconds) for group in usable)
    delays = tuple(sorted({group.delay for group in usable}))
    choice = _choice(single, stabilities, tolerance)
    return Verdict(size, duration, len(cut), runs, delays, single, stabilities, tolerance, choice, parts=len(usable) == 1)


def _cut(group: SampleGroup) -> tuple[SampleGroup, ...]:
    """Divide a long group into parts that each begin with its warm-up; an incomplete last part is dropped."""
    warm = group.warm
    parts = len(warm) // (PART_RUNS - 1)
    if parts < 3:  # noqa: PLR2004 - two parts are too few
        return (group,)
    pieces = (warm[at : at + PART_RUNS - 1] for at in range(0, parts * (PART_RUNS - 1), PART_RUNS - 1))
    return tuple(replace(group, seconds=(group.seconds[0], *piece), cycles=()) for piece in pieces)


def _stability(estimator: Estimator, groups: Sequence[SampleGroup], least: float) -> Stability:
    by_delay = [[estimate(group.seconds, estimator) for group in alike] for alike in _by_delay(groups)]
    values = [value for estimates in by_delay for value in estimates]
    repeated = [_of_five([estimates]) for estimates in by_delay if len(estimates) > 1]
    bias = sum(values) / len(values) / least - 1
    whole = _of_five(by_delay)
    # Two groups of a delay are scaled to five, all delays together are not: groups of one delay are among all of them.
    same_delay = min(max(repeated), whole) if repeated else None
    return Stability(estimator, whole, same_delay, bias, spread(values))


def _by_delay(groups: Sequence[SampleGroup]) -> list[list[SampleGroup]]:
    delays = dict.fromkeys(group.delay for group in groups)
    return [[group for group in groups if group.delay == delay] for delay in delays]


def _of_five(by_delay: Sequence[Sequence[float]]) -> float:
    """Return the spread of five groups of each delay. Delays are conditions, not repetitions: all of them count, unscaled."""
    low, high = min(_least(values) for values in by_delay), max(_largest(values) for values in by_delay)
    count = len(by_delay[0])
    factor = _NORMAL[REFERENCE_GROUPS] / _NORMAL[count] if len(by_delay) == 1 and count < REFERENCE_GROUPS else 1.0
    return (high - low) / low * factor


def _runs_of_five(groups: Sequence[SampleGroup]) -> float:
    """Return the spread of all runs of five groups of each delay."""
    by_delay = _by_delay(groups)
    low = min(_least([min(group.seconds) for group in alike]) for alike in by_delay)
    return (max(_largest([max(group.seconds) for group in alike]) for alike in by_delay) - low) / low


def _largest(values: Sequence[float]) -> float:
    """Return the largest of five values, on average over all choices of five; of fewer, the largest of all."""
    size = min(REFERENCE_GROUPS, len(values))
    choices = comb(len(values), size)
    return fsum(value * (comb(place, size - 1) / choices) for place, value in enumerate(sorted(values)) if place >= size - 1)


def _least(values: Sequence[float]) -> float:
    return -_largest([-value for value in values])


def _choice(single: float, stabilities: Sequence[Stability], tolerance: float) -> str | None:
    if single <= tolerance:
        return SINGLE
    stable = [stability for stability in stabilities if stability.estimator in _CHOICE and stability.stable(tolerance)]
    best = min(stable, key=lambda stability: (stability.spread, _CHOICE.index(stability.estimator)), default=None)
    return best.estimator.value if best is not None else None
