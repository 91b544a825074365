"""The verdict: which estimator repeats itself from group to group, on groups that are made for it."""

from itertools import combinations

import numpy as np
import pytest

from sassan.measure import SampleGroup, Samples
from sassan.measure.verdict import finding, spread, time, verdicts


def samples(*groups: tuple[float, ...], **common: float) -> Samples:
    return Samples(tuple(SampleGroup(number, seconds, **common) for number, seconds in enumerate(groups)))


def test_spread_is_relative_to_the_least():
    assert spread((2.0, 3.0, 2.5)) == 0.5


def test_where_only_the_minimum_repeats_itself_it_is_chosen():
    (verdict,) = verdicts(samples((9.0, 1.0, 1.5, 2.0), (9.0, 1.001, 3.0, 4.0)))
    assert verdict.choice == "min"
    assert [kind.value for kind in verdict.stable] == ["warm-up", "min"]
    assert (verdict.duration, verdict.groups, verdict.runs) == (1.0, 2, 8)


def test_where_the_minimum_strays_and_the_median_does_not_the_median_is_chosen():
    (verdict,) = verdicts(samples((9.0, 0.5, 1.0, 1.1), (9.0, 0.9, 1.001, 1.9)))
    assert verdict.choice == "median"


def test_where_all_runs_agree_a_single_run_is_enough():
    (verdict,) = verdicts(samples((1.005, 1.0, 1.001), (1.004, 1.0, 1.002)))
    assert (verdict.choice, verdict.single_run_spread) == ("single run", pytest.approx(0.005))


def test_where_nothing_repeats_itself_nothing_is_chosen():
    (verdict,) = verdicts(samples((1.0, 1.0, 1.0), (2.0, 2.0, 2.0)))
    assert verdict.choice is None


def test_the_tolerance_decides():
    runs = samples((1.0, 1.0, 1.0), (1.05, 1.05, 1.05))
    assert [verdicts(runs, tolerance)[0].choice for tolerance in (0.01, 0.06)] == [None, "single run"]


def test_the_maximum_is_never_chosen():
    (verdict,) = verdicts(samples((9.0, 1.0, 2.0, 5.0), (9.0, 1.5, 3.5, 5.0)))
    assert [kind.value for kind in verdict.stable] == ["warm-up", "max"]
    assert verdict.choice is None


def test_the_spread_among_groups_of_one_delay_is_separate_from_the_spread_over_delays():
    groups = [
        SampleGroup(0, (9.0, 1.0), 0.0),
        SampleGroup(1, (9.0, 1.01), 0.0),
        SampleGroup(2, (9.0, 1.15), 2.0),
        SampleGroup(3, (9.0, 1.15), 2.0),
    ]
    (verdict,) = verdicts(Samples(tuple(groups)))
    least = next(kind for kind in verdict.stabilities if kind.estimator.value == "min")
    assert (least.spread, least.same_delay) == (pytest.approx(0.15), pytest.approx(0.01 * 2.0613, rel=1e-4))
    assert verdict.delays == (0.0, 2.0)


def test_spread_does_not_grow_with_the_groups_of_one_process():
    random = np.random.default_rng(3)
    runs = [tuple(float(run) for run in 1 + 0.05 * random.random(20)) for _ in range(300)]
    result = [verdicts(samples(*runs[:count]))[0] for count in (5, 20, 300)]
    least = [next(kind for kind in verdict.stabilities if kind.estimator.value == "min") for verdict in result]
    assert all(verdict.choice for verdict in result)
    assert least[2].range > 2 * least[0].range
    assert least[2].spread == pytest.approx(0.0055, rel=0.2)
    assert [verdict.single_run_spread for verdict in result] == pytest.approx([0.05] * 3, rel=0.05)


def test_spread_of_more_than_five_groups_is_the_mean_over_all_choices_of_five():
    values = (1.0, 1.1, 1.3, 1.7, 2.0, 2.2, 3.0)
    (verdict,) = verdicts(samples(*((9.0, value) for value in values)))
    least = next(kind for kind in verdict.stabilities if kind.estimator.value == "min")
    every = list(combinations(values, 5))
    low, high = (sum(which(some) for some in every) / len(every) for which in (min, max))
    assert least.spread == pytest.approx((high - low) / low)
    assert least.range == pytest.approx(2.0)


def test_the_spread_of_two_groups_is_scaled_to_five_and_doubted():
    (verdict,) = verdicts(samples((9.0, 1.0, 1.0), (9.0, 1.006, 1.006)))
    assert (verdict.few_groups, verdict.choice) == (True, None)
    assert next(kind.spread for kind in verdict.stabilities if kind.estimator.value == "min") == pytest.approx(0.006 * 2.0613, rel=1e-4)
    assert not verdicts(samples(*((9.0, 1.0, 1.0),) * 5))[0].few_groups


def test_bias_is_what_an_estimator_lies_above_the_least_run():
    (verdict,) = verdicts(samples((9.0, 1.0, 3.0), (9.0, 1.0, 3.0)))
    assert [kind.bias for kind in verdict.stabilities if kind.estimator.value == "mean"] == [1.0]


def test_one_group_has_no_verdict_unless_it_is_long():
    assert verdicts(samples((9.0, *(1.0,) * 56))) == ()
    (verdict,) = verdicts(samples((9.0, *(1.0,) * 57)))
    assert (verdict.groups, verdict.parts, verdict.choice) == (3, True, "min")


def test_parts_of_one_group_say_nothing_of_warm_ups():
    (verdict,) = verdicts(samples((9.0, *(1.0,) * 57)))
    assert "warm-up" not in [kind.estimator.value for kind in verdict.stabilities]


def test_groups_of_a_warm_up_alone_are_left_out():
    assert verdicts(samples((1.0,), (1.0,), (1.0, 1.0))) == ()


def test_the_finding_gives_the_duration_from_which_a_single_run_is_enough():
    groups = [SampleGroup(0, (9.0, 1e-3, 2e-3), size=1), SampleGroup(1, (9.0, 1e-3, 3e-3), size=1)]
    groups += [
        SampleGroup(2, (1.0, 1.0), size=2),
        SampleGroup(3, (1.0, 1.0), size=2),
        SampleGroup(4, (3.0, 3.0), size=3),
        SampleGroup(5, (4.0, 4.0), size=3),
    ]
    assert finding(verdicts(Samples(tuple(groups)))) == (
        "a single run is enough at 1 s; repeated runs are needed at 1 ms; no estimator is stable at 3 s"
    )
    assert finding(verdicts(Samples(tuple(groups[:2])))) is None


def test_the_finding_names_each_stretch_of_durations():
    steady, moving = ((1.0, 1.0), (1.0, 1.0)), ((9.0, 1.0, 3.0), (9.0, 1.0, 4.0))
    groups = [
        SampleGroup(2 * size + at, tuple(2.0**size * 1e-3 * value for value in kind[at]), size=size)
        for size, kind in enumerate((steady, moving, steady, steady, moving))
        for at in range(2)
    ]
    assert finding(verdicts(Samples(tuple(groups)))) == (
        "a single run is enough at 1 ms and 4 ms to 8 ms; repeated runs are needed at 2 ms and 16 ms"
    )


@pytest.mark.parametrize(
    ("seconds", "expected"), [(2.243e-3, "2.243 ms"), (1.0, "1 s"), (12345.0, "1.234e+04 s"), (5e-7, "500 ns"), (1.5e-6, "1.5 µs")]
)
def test_durations_are_written_as_people_write_them(seconds: float, expected: str):
    assert time(seconds) == expected
