"""Which estimator can be trusted at a duration, computed from groups that were measured alike: the paper's "ms versus seconds".

The criterion. For the groups of one size, the *spread* of an estimator is (largest - least) / least of its values over the groups.
It is *stable* where the spread is within a tolerance (1 %). Spread is told apart by its cause: among groups of the same delay, and over
all delays (Fig. 7). A *single run* is enough where all runs of all groups, warm-ups included, lie within the tolerance. The verdict is
the cheapest estimator that is stable: a single run, else the minimum, the mean or the median, whichever spreads least; else none.

Stable is not right: an estimator may repeat a value that is too large. `bias` is what it lies above the least run of the size, the only run
that is known to be possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sassan.measure.estimators import Estimator, estimate
from sassan.measure.samples import Group, Samples

TOLERANCE = 0.01
"""Spread up to which an estimator is called stable."""
CHUNK = 20
"""Runs of a part, where one long group is cut to see how much estimates of groups would differ."""
SINGLE = "single run"
_CHOICE = (Estimator.MINIMUM, Estimator.MEAN, Estimator.MEDIAN)
"""What may be recommended, first come first where spreads are equal: the maximum tells of the disturbance, not of the kernel."""


@dataclass(frozen=True, slots=True)
class Stability:
    """How far one estimator moves between groups. Units: fractions of its least value.

    `spread` over all groups, `same_delay` the largest among groups of one delay, None where no delay has two groups; `bias`: its mean value
    above the least run of all groups, as a fraction of that.
    """

    estimator: Estimator
    spread: float
    same_delay: float | None
    bias: float

    def stable(self, tolerance: float) -> bool:
        """Return whether the estimator stays within the tolerance."""
        return self.spread <= tolerance


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be trusted at one size. Units: `duration`, the least run, in seconds; `single` as `spread`, of all runs.

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
    enough = [one.duration for one in found if one.choice == SINGLE]
    repeated = [one.duration for one in found if one.choice not in {SINGLE, None}]
    lost = [one.duration for one in found if one.choice is None]
    parts = [
        f"a single run is enough at {_spoken(enough)}" if enough else "a single run is enough at no duration",
        f"repeated runs are needed at {_spoken(repeated)}" if repeated else "",
        f"no estimator is stable at {_spoken(lost)}" if lost else "",
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


def _spoken(durations: Sequence[float]) -> str:
    return time(durations[0]) if len(durations) == 1 else f"{time(durations[0])} to {time(durations[-1])}"


def _verdict(size: float | None, groups: tuple[Group, ...], tolerance: float) -> Verdict | None:
    usable = tuple(group for group in groups if len(group.seconds) >= Estimator.MINIMUM.least)
    cut = _cut(usable[0]) if len(usable) == 1 else usable
    if len(cut) < 2:  # noqa: PLR2004 - one value has no spread
        return None
    single = spread([value for group in usable for value in group.seconds])
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
    by_delay: dict[float, list[float]] = {}
    for group in groups:
        by_delay.setdefault(group.delay, []).append(estimate(group.seconds, which))
    values = [value for some in by_delay.values() for value in some]
    repeated = [spread(some) for some in by_delay.values() if len(some) > 1]
    bias = sum(values) / len(values) / least - 1
    return Stability(which, spread(values), max(repeated) if repeated else None, bias)


def _choice(single: float, stabilities: Sequence[Stability], tolerance: float) -> str | None:
    if single <= tolerance:
        return SINGLE
    stable = [one for one in stabilities if one.estimator in _CHOICE and one.stable(tolerance)]
    best = min(stable, key=lambda one: (one.spread, _CHOICE.index(one.estimator)), default=None)
    return best.estimator.value if best is not None else None
