"""Intervals: against values computed by hand, against scipy, and their doubts."""

import numpy as np
import pytest

from budget import whole
from sassan.errors import UsageError
from sassan.measure import Estimator
from sassan.measure.confidence import (
    COARSE,
    DEPENDENT,
    DIFFER,
    DOUBTS,
    FEW,
    FEW_GROUPS,
    SINGLE_RUN,
    TIES,
    UNBOUNDED,
    Interval,
    IntervalSettings,
    dependence,
    interval,
)

SKEWED = (9.0, *(float(one) for one in np.random.default_rng(5).exponential(1.0, 40) + 1.0))


def interval_of_runs(seconds: tuple[float, ...], which: Estimator, settings: IntervalSettings | None = None) -> Interval:
    answer = interval(seconds, which, settings)
    assert answer is not None
    return answer


def test_the_interval_of_the_minimum_reaches_nineteen_times_the_gap_below_it():
    answer = interval_of_runs((9.0, 5.0, 4.0, 4.1), Estimator.MINIMUM)
    assert answer.low == pytest.approx(4.0 - 19 * 0.1)
    assert (answer.high, answer.method, answer.resamples) == (4.0, "endpoint", 0)


def test_the_interval_of_the_minimum_is_never_negative():
    assert interval_of_runs((9.0, 1.0, 2.0), Estimator.MINIMUM).low == 0.0


def test_after_nineteen_runs_at_most_one_in_seven_is_faster_with_95_percent():
    share = interval_of_runs((9.0, *range(1, 20)), Estimator.MINIMUM).share
    assert share == pytest.approx(1 - 0.05 ** (1 / 19))
    assert share == pytest.approx(0.1459, abs=1e-4)


def test_the_maximum_has_no_upper_end():
    answer = interval_of_runs(SKEWED, Estimator.MAXIMUM)
    assert answer.high is None
    assert UNBOUNDED in answer.doubts


def test_the_warm_up_has_no_interval():
    assert interval(SKEWED, Estimator.WARM_UP) is None


def test_a_single_warm_run_bounds_the_end_from_above_only():
    assert (interval_of_runs((2.0, 1.0), Estimator.MINIMUM).low, interval_of_runs((2.0, 1.0), Estimator.MINIMUM).high) == (None, 1.0)


@pytest.mark.slow
def test_the_interval_of_the_mean_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    theirs = stats.bootstrap((np.array(SKEWED[1:]),), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(1))
    actual = interval_of_runs(SKEWED, Estimator.MEAN)
    assert actual.method == "BCa"
    assert actual.low == pytest.approx(theirs.confidence_interval.low, rel=0.01)
    assert actual.high == pytest.approx(theirs.confidence_interval.high, rel=0.01)


def test_the_interval_of_the_median_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    theirs = stats.bootstrap((np.array(SKEWED[1:]),), np.median, n_resamples=9999, method="percentile", rng=np.random.default_rng(1))
    actual = interval_of_runs(SKEWED, Estimator.MEDIAN)
    assert actual.low == pytest.approx(theirs.confidence_interval.low, rel=0.01)
    assert actual.high == pytest.approx(theirs.confidence_interval.high, rel=0.01)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    assert interval_of_runs(SKEWED, Estimator.MEAN, IntervalSettings(seed=3)) == interval_of_runs(
        SKEWED, Estimator.MEAN, IntervalSettings(seed=3)
    )
    assert interval_of_runs(SKEWED, Estimator.MEAN, IntervalSettings(seed=3)) != interval_of_runs(
        SKEWED, Estimator.MEAN, IntervalSettings(seed=4)
    )


def test_a_higher_level_gives_a_wider_interval():
    narrow, wide = (interval_of_runs(SKEWED, Estimator.MEAN, IntervalSettings(level=level)) for level in (0.8, 0.99))
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low < (narrow.high or 0.0) < (wide.high or 0.0)


def test_equal_runs_have_an_interval_without_width():
    for which in (Estimator.MEAN, Estimator.MEDIAN, Estimator.MINIMUM, Estimator.MEAN_ALL):
        answer = interval_of_runs((2.0,) * 30, which)
        assert (answer.low, answer.high) == (2.0, 2.0)


def test_few_runs_are_doubted():
    assert FEW in interval_of_runs((1.0, 2.0, 3.0), Estimator.MEAN).doubts
    assert FEW not in interval_of_runs(SKEWED, Estimator.MEAN).doubts


def test_a_mean_that_hangs_on_one_run_is_doubted_and_its_median_is_not():
    runs = (1.0, *(1.0 + number / 1000 for number in range(30)), 50.0)
    assert SINGLE_RUN in interval_of_runs(runs, Estimator.MEAN).doubts
    assert SINGLE_RUN not in interval_of_runs(runs, Estimator.MEDIAN).doubts


def test_equal_least_runs_are_doubted():
    assert TIES in interval_of_runs((5.0, 1.0, 1.0, 2.0), Estimator.MINIMUM).doubts


def test_runs_that_follow_the_run_before_are_drawn_in_blocks_and_the_interval_is_wider():
    walk = 10 + np.repeat(np.random.default_rng(2).normal(size=20), 10)
    dependent = (10.0, *(float(one) for one in walk))
    mixed = (10.0, *(float(one) for one in np.random.default_rng(3).permutation(walk)))
    blocks, single = interval_of_runs(dependent, Estimator.MEAN), interval_of_runs(mixed, Estimator.MEAN)
    assert (blocks.method, single.method) == ("percentiles of blocks", "BCa")
    assert DEPENDENT in blocks.doubts
    assert (blocks.high or 0.0) - (blocks.low or 0.0) > 1.5 * ((single.high or 0.0) - (single.low or 0.0))


def test_dependence_is_one_for_runs_that_only_grow_and_zero_for_equal_ones():
    assert dependence((1.0, 2.0, 3.0, 7.0)) == pytest.approx(1.0)
    assert dependence((1.0, 1.0, 1.0, 1.0)) == 0.0
    assert dependence((1.0, 2.0)) == 0.0


@whole("two hundred thousand runs")
@pytest.mark.slow
def test_many_runs_take_fewer_resamples_and_say_so():
    answer = interval_of_runs((1.0, *(float(one) for one in np.random.default_rng(1).random(200_000))), Estimator.MEAN)
    assert answer.resamples == 250


@pytest.mark.parametrize(
    ("level", "resamples", "doubted"), [(0.95, 199, True), (0.95, 200, False), (0.9999, 9999, True), (0.999, 9999, True)]
)
def test_ends_beyond_which_hardly_any_resample_lies_are_doubted(level: float, resamples: int, *, doubted: bool):
    for which in (Estimator.MEAN, Estimator.MEDIAN):
        assert (COARSE in interval_of_runs(SKEWED, which, IntervalSettings(level, 0, resamples)).doubts) == doubted


@whole("three hundred thousand runs")
@pytest.mark.slow
def test_so_many_runs_that_resamples_are_few_are_doubted():
    many = (1.0, *(float(one) for one in np.random.default_rng(1).random(300_000)))
    assert COARSE in interval_of_runs(many, Estimator.MEAN).doubts


@pytest.mark.parametrize("settings", [{"level": 1.0}, {"level": 0.1}, {"level": float("nan")}, {"resamples": 1}, {"seed": -1}])
def test_settings_that_make_no_interval_are_refused(settings: dict[str, float]):
    with pytest.raises(UsageError) as refused:
        IntervalSettings(**settings)
    assert refused.value.code == "bad-confidence"


def test_every_doubt_has_its_words():
    assert set(DOUBTS) == {FEW, SINGLE_RUN, DEPENDENT, TIES, UNBOUNDED, COARSE, FEW_GROUPS, DIFFER}
