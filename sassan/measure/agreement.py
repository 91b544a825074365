"""Agreement of predictions with measurements: ratios, errors, rank correlation, and the loss of a tuner that relies on them.

Every function takes pairs (predicted, measured) of positive numbers, and returns None if there are too few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import median

Pairs = Sequence[tuple[float, float]]
_TWICE = 2.0


@dataclass(frozen=True, slots=True)
class Ratios:
    """Predicted over measured: `below` counts those under 1, `high` is the ninth decile."""

    count: int
    below: int
    least: float
    median: float
    high: float
    most: float


def ratios(pairs: Pairs) -> Ratios | None:
    """Return the distribution of predicted over measured times."""
    values = sorted(predicted / measured for predicted, measured in pairs)
    if not values:
        return None
    high = values[max(0, -(-len(values) * 9 // 10) - 1)]
    return Ratios(len(values), sum(value < 1 for value in values), values[0], median(values), high, values[-1])


def geometric_mean(pairs: Pairs) -> float | None:
    """Return the geometric mean of predicted over measured."""
    return exp(sum(log(predicted / measured) for predicted, measured in pairs) / len(pairs)) if pairs else None


def mape(pairs: Pairs) -> float | None:
    """Return the mean absolute error relative to the measurement, 0.25 for 25 %."""
    return sum(abs(predicted - measured) / measured for predicted, measured in pairs) / len(pairs) if pairs else None


def within_twice(pairs: Pairs) -> float | None:
    """Return the share of predictions between half and twice the measurement."""
    return sum(1 / _TWICE <= predicted / measured <= _TWICE for predicted, measured in pairs) / len(pairs) if pairs else None


def tau(pairs: Pairs) -> float | None:
    """Return Kendall's rank correlation tau-b; None if one side is constant or there are fewer than two pairs.

    By merge sort, in n log n (Knight, "A Computer Method for Calculating Kendall's Tau with Ungrouped Data", JASA, 1966).
    """
    ordered = sorted((predicted, measured) for predicted, measured in pairs)
    total = len(ordered) * (len(ordered) - 1) // 2
    tied_left = _ties([predicted for predicted, _ in ordered])
    tied_both = _ties(ordered)
    seconds = [measured for _, measured in ordered]
    swaps = _swaps(seconds)
    tied_right = _ties(sorted(seconds))
    scale = (total - tied_left) * (total - tied_right)
    if scale <= 0:
        return None
    return (total - tied_left - tied_right + tied_both - 2 * swaps) / sqrt(scale)


def _ties(ordered: Sequence[object]) -> int:
    """Return the number of pairs of equal values in a sorted sequence."""
    ties = run = 0
    for index in range(1, len(ordered)):
        run = run + 1 if ordered[index] == ordered[index - 1] else 0
        ties += run
    return ties


def _swaps(values: list[float]) -> int:
    """Return the number of inversions."""
    if len(values) <= 1:
        return 0
    middle = len(values) // 2
    left, right = values[:middle], values[middle:]
    swaps = _swaps(left) + _swaps(right)
    left.sort()
    right.sort()
    at = 0
    for value in right:
        while at < len(left) and left[at] <= value:
            at += 1
        swaps += len(left) - at
    return swaps


def regret(pairs: Pairs, first: int) -> float | None:
    """Return the best measured time among the `first` in predicted order, over the best of all: 1.0 without loss.

    Among equal predictions the slowest come first (worst case).
    """
    if not pairs or first < 1:
        return None
    ordered = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    best = min(measured for _, measured in pairs)
    return min(measured for _, measured in ordered[:first]) / best
