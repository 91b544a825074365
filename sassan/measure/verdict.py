"""Which estimator can be trusted at a duration, computed from groups that were measured alike: the paper's "ms versus seconds".

The criterion. For the groups of one size, the *spread* of an estimator is (largest - least) / least of its values over five groups: of
more groups, over five of them on average, since a plain range grows with every group that is taken and would call any estimator unstable in
the end; of fewer, scaled as for normal values, and doubted. It is *stable* where the spread is within a tolerance (1 %). Spread is told
apart by its cause: among groups of the same delay, and over all delays (Fig. 7). A *single run* is enough where all runs of five groups,
warm-ups included, lie within the tolerance. The verdict is the cheapest estimator that is stable: a single run, else the minimum, the mean
or the median, whichever spreads least; else none.

Stable is not right: an estimator may repeat a value that is too large. `bias` is what it lies above the least run of the size, the only run
that is known to be possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import comb, fsum

from sassan.measure.estimators import Estimator, estimate
from sassan.measure.samples import Group, Samples

TOLERANCE = 0.01
"""Spread up to which an estimator is called stable."""
CHUNK = 20
"""Runs of a part, where one long group is cut to see how much estimates of groups would differ."""
SET = 5
"""Groups over which spread is meant."""
_NORMAL = {2: 1.128379, 3: 1.692569, 4: 2.058751, 5: 2.325929}
"""Expected range of so many normal values, in standard deviations (Tippett 1925)."""
SINGLE = "single run"
_CHOICE = (Estimator.MINIMUM, Estimator.MEAN, Estimator.MEDIAN)
"""What may be recommended, first come first where spreads are equal: the maximum tells of the disturbance, not of the kernel."""


@dataclass(frozen=True, slots=True)
class Stability:
    """How far one estimator moves between groups. Units: fractions of its least value.

    `spread` over five groups of each delay, `same_delay` the largest among five groups of one delay, None where no delay has two groups;
    `bias`: its mean value above the least run of all groups, as a fraction of that; `range`: (largest - least) / least over all groups.
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
    """What can be trusted at one size. Units: `duration`, the least run, in seconds; `single` as `spread`, of all runs of five groups.

    `choice` is a stable estimator, or `single run`, or None. `parts`: one long group was cut into groups of 20 runs, for want of more.
    """

    size: float | None
    duration: float
    groups: int
    runs: int
    delays: tuple[float, ...]
    single: float
    stabilities: tuple[Stability, ...]
    tolerance: float
    choice: str | None
    parts: bool = False

    @property
    def few(self) -> bool:
        """Say whether there are too few groups to know much of their spread."""
        return len(self.delays) == 1 and self.groups < SET

    @property
    def stable(self) -> tuple[Estimator, ...]:
        """Return the stable estimators."""
        return tuple(one.estimator for one in self.stabilities if one.stable(self.tolerance))


def verdicts(samples: Samples, tolerance: float = TOLERANCE) -> tuple[Verdict, ...]:
    """Return one verdict per size, shortest duration first; a size with fewer than two groups of two runs has none.

    A single group of at least 60 runs is cut into parts of 20: their first runs are no warm-ups, only the group's own is.
    """
    found = [one for size, groups in samples.by_size().items() if (one := _verdict(size, groups, tolerance)) is not None]
    return tuple(sorted(found, key=lambda one: one.duration))


def finding(found: Sequence[Verdict]) -> str | None:
    """Return in a sentence how the verdict changes with the duration; None where there are fewer than two durations."""
    if len(found) < 2:  # noqa: PLR2004 - a change needs two
        return None
    kinds = [one.choice if one.choice in {SINGLE, None} else "" for one in found]
    enough, repeated, lost = (_spoken(found, kinds, kind) for kind in (SINGLE, "", None))
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
    """Return a duration as people write it, with four digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def _spoken(found: Sequence[Verdict], kinds: Sequence[str | None], wanted: str | None) -> str:
    """Return the durations of one kind: stretches that no other kind interrupts, '' where there are none."""
    at = 0
    said: list[str] = []
    for kind, some in groupby(kinds):
        first, at = at, at + len(list(some))
        if kind == wanted:
            ends = dict.fromkeys((time(found[first].duration), time(found[at - 1].duration)))
            said.append(" to ".join(ends))
    return f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else "".join(said)


def _verdict(size: float | None, groups: tuple[Group, ...], tolerance: float) -> Verdict | None:
    usable = tuple(group for group in groups if len(group.seconds) >= Estimator.MINIMUM.least)
    cut = _cut(usable[0]) if len(usable) == 1 else usable
    if len(cut) < 2:  # noqa: PLR2004 - one value has no spread
        return None
    single = _runs_of_five(usable)
    least = min(min(group.warm) for group in usable)
    kinds = [one for one in Estimator if one is not Estimator.WARM_UP or len(usable) > 1]
    stabilities = tuple(_stability(one, cut, least) for one in kinds)
    duration, runs = min(least, *(group.seconds[0] for group in usable)), sum(len(group.seconds) for group in usable)
    delays = tuple(sorted({group.delay for group in usable}))
    choice = _choice(single, stabilities, tolerance)
    return Verdict(size, duration, len(cut), runs, delays, single, stabilities, tolerance, choice, parts=len(usable) == 1)


def _cut(group: Group) -> tuple[Group, ...]:
    """Return a long group in parts that each begin with the warm-up of the whole; what is left over at its end is dropped."""
    warm = group.warm
    parts = len(warm) // (CHUNK - 1)
    if parts < 3:  # noqa: PLR2004 - two parts would say little
        return (group,)
    pieces = (warm[at : at + CHUNK - 1] for at in range(0, parts * (CHUNK - 1), CHUNK - 1))
    return tuple(replace(group, seconds=(group.seconds[0], *piece), cycles=()) for piece in pieces)


def _stability(which: Estimator, groups: Sequence[Group], least: float) -> Stability:
    by_delay = [[estimate(group.seconds, which) for group in some] for some in _by_delay(groups)]
    values = [value for some in by_delay for value in some]
    repeated = [_of_five([some]) for some in by_delay if len(some) > 1]
    bias = sum(values) / len(values) / least - 1
    return Stability(which, _of_five(by_delay), max(repeated) if repeated else None, bias, spread(values))


def _by_delay(groups: Sequence[Group]) -> list[list[Group]]:
    delays = dict.fromkeys(group.delay for group in groups)
    return [[group for group in groups if group.delay == delay] for delay in delays]


def _of_five(by_delay: Sequence[Sequence[float]]) -> float:
    """Return the spread of five groups of each delay. Delays are conditions, not repetitions: none is left out, and nothing is scaled."""
    low, high = min(_least(some) for some in by_delay), max(_largest(some) for some in by_delay)
    count = len(by_delay[0])
    factor = _NORMAL[SET] / _NORMAL[count] if len(by_delay) == 1 and count < SET else 1.0
    return (high - low) / low * factor


def _runs_of_five(groups: Sequence[Group]) -> float:
    """Return the spread of all runs of five groups of each delay."""
    by_delay = _by_delay(groups)
    low = min(_least([min(group.seconds) for group in some]) for some in by_delay)
    return (max(_largest([max(group.seconds) for group in some]) for some in by_delay) - low) / low


def _largest(values: Sequence[float]) -> float:
    """Return the largest of five values, on average over all choices of five; of fewer, the largest of all."""
    chosen = min(SET, len(values))
    every = comb(len(values), chosen)
    return fsum(value * (comb(place, chosen - 1) / every) for place, value in enumerate(sorted(values)) if place >= chosen - 1)


def _least(values: Sequence[float]) -> float:
    return -_largest([-value for value in values])


def _choice(single: float, stabilities: Sequence[Stability], tolerance: float) -> str | None:
    if single <= tolerance:
        return SINGLE
    stable = [one for one in stabilities if one.estimator in _CHOICE and one.stable(tolerance)]
    best = min(stable, key=lambda one: (one.spread, _CHOICE.index(one.estimator)), default=None)
    return best.estimator.value if best is not None else None
