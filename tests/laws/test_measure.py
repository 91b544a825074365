"""Laws of estimators, intervals and files, over any runs."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sassan.measure import Estimator, SampleGroup, Samples, estimate
from sassan.measure.confidence import IntervalSettings, dependence, interval
from sassan.measure.read import read, text
from sassan.measure.summary import rows
from sassan.measure.verdict import verdicts
from sassan.source import Source

SECONDS = st.floats(1e-9, 1e3)
RUNS = st.lists(SECONDS, min_size=2, max_size=40).map(tuple)
ESTIMATORS = st.sampled_from(list(Estimator))
FEW = IntervalSettings(resamples=199)


def groups(least: int) -> st.SearchStrategy[tuple[SampleGroup, ...]]:
    times = st.floats(0, 100)
    group = st.builds(
        lambda seconds, delay, pause, size: (seconds, delay, pause if len(seconds) > 1 else delay, size),
        st.lists(SECONDS, min_size=least, max_size=6).map(tuple),
        times,
        times,
        st.one_of(st.none(), st.floats(0, 1e9)),
    )
    return st.lists(group, min_size=1, max_size=5).map(lambda some: tuple(SampleGroup(number, *parts) for number, parts in enumerate(some)))


@given(RUNS, ESTIMATORS, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_after_the_warm_up_changes_nothing(runs, which, random):
    warm = list(runs[1:])
    random.shuffle(warm)
    assert estimate((runs[0], *warm), which) == estimate(runs, which)


@given(RUNS, ESTIMATORS, st.sampled_from([0.25, 2.0, 1024.0]))
def test_another_unit_scales_every_estimate(runs, which, factor):
    assert estimate(tuple(run * factor for run in runs), which) == estimate(runs, which) * factor


@given(RUNS)
def test_estimates_are_ordered_and_lie_among_the_runs(runs):
    result = {which: estimate(runs, which) for which in Estimator}
    assert result[Estimator.MINIMUM] <= result[Estimator.MEDIAN] <= result[Estimator.MAXIMUM]
    assert result[Estimator.MINIMUM] <= result[Estimator.MEAN] <= result[Estimator.MAXIMUM]
    assert min(runs) <= result[Estimator.MEAN_ALL] <= max(runs)


@given(RUNS, SECONDS)
def test_a_further_run_never_raises_the_minimum_nor_lowers_the_maximum(runs, more):
    assert estimate((*runs, more), Estimator.MINIMUM) <= estimate(runs, Estimator.MINIMUM)
    assert estimate((*runs, more), Estimator.MAXIMUM) >= estimate(runs, Estimator.MAXIMUM)


@settings(max_examples=60)
@given(RUNS, st.sampled_from([Estimator.MEAN_ALL, Estimator.MEAN, Estimator.MEDIAN]))
def test_a_bootstrap_interval_lies_among_the_runs(runs, which):
    result = interval(runs, which, FEW)
    assert result is not None
    assert result.low is not None
    assert result.high is not None
    among = runs if which is Estimator.MEAN_ALL else runs[1:]
    slack = 1e-9 * max(among)
    assert min(among) - slack <= result.low <= result.high <= max(among) + slack


@settings(max_examples=60)
@given(RUNS)
def test_the_interval_of_the_minimum_ends_at_it_and_never_begins_below_zero(runs):
    result = interval(runs, Estimator.MINIMUM, FEW)
    assert result is not None
    assert result.high == estimate(runs, Estimator.MINIMUM)
    assert result.low is None or 0 <= result.low <= result.high


@given(RUNS)
def test_dependence_is_a_correlation(runs):
    assert -1.0000001 <= dependence(runs) <= 1.0000001


@given(groups(1), st.sampled_from(["x.csv", "x.json"]))
def test_every_set_of_samples_is_read_as_it_was_written(some, name):
    samples = Samples(some, {"device": "d"})
    assert read(Source(name, text(name, samples))) == samples


OF_WARM_RUNS = {Estimator.MEAN, Estimator.MINIMUM, Estimator.MEDIAN, Estimator.MAXIMUM}
"""They cannot lie below the least of the runs that they are made of; the first run, and a mean with it, may be faster."""


@settings(max_examples=60)
@given(groups(2))
@example((SampleGroup(0, (1.0, 1.0)), SampleGroup(1, (0.5, 1.0))))
@example((SampleGroup(0, (1.0, 1.0)), SampleGroup(1, (1.0, 1.0), 1.0), SampleGroup(2, (1.0, 2.0))))
def test_verdicts_are_within_their_criterion(some):
    for verdict in verdicts(Samples(some)):
        assert all(kind.spread >= 0 for kind in verdict.stabilities)
        assert all(kind.same_delay is None or kind.same_delay <= kind.spread for kind in verdict.stabilities)
        assert all(kind.bias >= -1e-9 for kind in verdict.stabilities if kind.estimator in OF_WARM_RUNS)
        assert verdict.choice in {None, "single run", "min", "mean", "median"}
        assert verdict.choice in {None, "single run"} or verdict.choice in [kind.value for kind in verdict.stable]


@settings(max_examples=30)
@given(groups(2))
def test_every_run_is_counted_in_one_row(some):
    samples = Samples(some)
    assert sum(row.runs for row in rows(samples, list(Estimator), FEW)) == samples.runs
