"""Estimators of the execution time from repeated runs (Mazurek, Equations 1 to 5)."""

from collections.abc import Sequence
from enum import StrEnum
from math import fsum
from typing import assert_never

from sassan.errors import InputError


class Estimator(StrEnum):
    """An estimator over the runs T_1 to T_N of a group; T_1 is the warm-up."""

    WARM_UP = "warm-up"
    MEAN_ALL = "mean-all"
    MEAN = "mean"
    MINIMUM = "min"
    MEDIAN = "median"
    MAXIMUM = "max"

    @property
    def formula(self) -> str:
        """Return the formula, in the notation of the paper."""
        return _FORMULAS[self]

    @property
    def least(self) -> int:
        """Return the number of runs that the estimator needs."""
        return 1 if self in {Estimator.WARM_UP, Estimator.MEAN_ALL} else 2


_FORMULAS = {
    Estimator.WARM_UP: "T_1",
    Estimator.MEAN_ALL: "mean(T_1, …, T_N), Eq. 1",
    Estimator.MEAN: "mean(T_2, …, T_N), Eq. 2",
    Estimator.MINIMUM: "min(T_2, …, T_N), Eq. 3",
    Estimator.MEDIAN: "median(T_2, …, T_N), Eq. 4",
    Estimator.MAXIMUM: "max(T_2, …, T_N), Eq. 5",
}


def estimate(seconds: Sequence[float], estimator: Estimator) -> float:
    """Return the estimate from the runs of a group, warm-up first. Units: those of `seconds`.

    Sums are rounded once, so the result does not depend on the order of the runs. Raises InputError `too-few-runs`.
    """
    if len(seconds) < estimator.least:
        message = f"estimator '{estimator}' needs {estimator.least} runs per group, warm-up included; the group has {len(seconds)}"
        raise InputError("too-few-runs", message, hint="measure more runs per group")
    warm = seconds[1:]
    match estimator:
        case Estimator.WARM_UP:
            return seconds[0]
        case Estimator.MEAN_ALL:
            return mean(seconds)
        case Estimator.MEAN:
            return mean(warm)
        case Estimator.MINIMUM:
            return min(warm)
        case Estimator.MEDIAN:
            return median(warm)
        case Estimator.MAXIMUM:
            return max(warm)
    assert_never(estimator)


def mean(values: Sequence[float]) -> float:
    """Return the mean, clamped to the range of the values against rounding."""
    return min(max(fsum(values) / len(values), min(values)), max(values))


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two middle values."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else mean(ordered[half - 1 : half + 1])
