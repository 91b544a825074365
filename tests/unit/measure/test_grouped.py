"""Intervals over groups: against scipy, on groups that differ and groups that do not."""

import numpy as np
import pytest

from sassan.measure import Estimator, SampleGroup
from sassan.measure.confidence import DEPENDENT, DIFFER, FEW_GROUPS, Interval, IntervalSettings
from sassan.measure.grouped import differ, interval_of, student

QUICK = IntervalSettings(resamples=499)


def groups(count: int, between: float, seed: int) -> list[SampleGroup]:
    """Return groups of a warm-up and 19 runs around 1, whose means scatter by `between`, their runs by 0.05."""
    random = np.random.default_rng(seed)
    made = (1 + random.normal(0, between) + random.normal(0, 0.05, 19) for _ in range(count))
    return [SampleGroup(number, (1.5, *(float(run) for run in runs))) for number, runs in enumerate(made)]


def interval_of_runs(some: list[SampleGroup], which: Estimator) -> Interval:
    answer = interval_of(some, which, QUICK)
    assert answer is not None
    return answer


@pytest.mark.parametrize("which", [Estimator.MEAN, Estimator.MEDIAN])
@pytest.mark.parametrize("between", [0.0, 0.02])
def test_five_groups_hold_what_the_level_promises_whether_they_differ_or_not(which: Estimator, between: float):
    answers = [interval_of_runs(groups(5, between, seed), which) for seed in range(300)]
    held = sum((answer.low or 0.0) <= 1 <= (answer.high or 0.0) for answer in answers)
    assert 0.9 <= held / 300 <= 0.99
    assert {answer.method for answer in answers} == {"t over groups"}


def test_of_few_groups_runs_are_taken_for_independent_and_that_is_doubted():
    answer = interval_of_runs(groups(4, 0.0, 1), Estimator.MEAN)
    assert answer.method == "BCa"
    assert FEW_GROUPS in answer.doubts


def test_groups_that_differ_are_doubted_where_they_carry_no_interval():
    apart, alike = groups(5, 0.2, 1), groups(5, 0.0, 1)
    assert DIFFER in interval_of_runs(apart, Estimator.MINIMUM).doubts
    assert DIFFER not in interval_of_runs(alike, Estimator.MINIMUM).doubts
    assert not {DIFFER, DEPENDENT}.intersection(interval_of_runs(apart, Estimator.MEAN).doubts)


def test_one_group_has_the_interval_of_its_runs():
    assert interval_of_runs(groups(1, 0.0, 1), Estimator.MEAN).method == "BCa"


def test_groups_differ_where_the_test_of_scipy_says_so():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    some = [[list(group.warm) for group in groups(4, 0.02, seed)] for seed in range(100)]
    theirs = [stats.kruskal(*groups).pvalue for groups in some]
    differing = [differ(groups) for groups in some]
    assert [verdict for verdict, sure in zip(differing, theirs, strict=True) if not 0.045 < sure < 0.055] == [
        sure < 0.05 for sure in theirs if not 0.045 < sure < 0.055
    ]
    assert 20 < sum(differing) < 90


def test_groups_that_are_alike_differ_once_in_twenty():
    assert 0.02 <= sum(differ([list(group.warm) for group in groups(5, 0.0, seed)]) for seed in range(400)) / 400 <= 0.08


def test_equal_runs_differ_in_nothing():
    assert not differ([[1.0, 1.0], [1.0]])
    assert not differ([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("level", "free", "expected"), [(0.975, 1, 12.7062), (0.975, 4, 2.7764), (0.995, 9, 3.2498), (0.75, 2, 0.8165), (0.9995, 30, 3.6460)]
)
def test_quantiles_of_student_are_those_of_tables(level: float, free: int, expected: float):
    assert student(level, free) == pytest.approx(expected, abs=5e-5)
