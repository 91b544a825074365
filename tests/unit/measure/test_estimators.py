"""Equations 1 to 5 on runs that can be computed by hand."""

import pytest

from sassan.errors import InputError
from sassan.measure import Estimator, estimate

RUNS = (9.0, 3.0, 1.0, 2.0, 6.0)


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Estimator.WARM_UP, 9.0),
        (Estimator.MEAN_ALL, 4.2),
        (Estimator.MEAN, 3.0),
        (Estimator.MINIMUM, 1.0),
        (Estimator.MEDIAN, 2.5),
        (Estimator.MAXIMUM, 6.0),
    ],
)
def test_each_estimator_is_its_equation(which: Estimator, expected: float):
    assert estimate(RUNS, which) == expected


def test_the_median_of_an_odd_number_of_runs_is_the_middle_one():
    assert estimate((9.0, 3.0, 1.0, 2.0), Estimator.MEDIAN) == 2.0


def test_the_warm_up_takes_no_part_in_the_minimum_even_where_it_is_the_least():
    assert estimate((1.0, 3.0, 2.0), Estimator.MINIMUM) == 2.0


@pytest.mark.parametrize("which", [Estimator.MEAN, Estimator.MINIMUM, Estimator.MEDIAN, Estimator.MAXIMUM])
def test_a_warm_up_alone_is_refused(which: Estimator):
    with pytest.raises(InputError) as refused:
        estimate((1.0,), which)
    assert refused.value.code == "too-few-runs"


@pytest.mark.parametrize("which", list(Estimator))
def test_no_run_at_all_is_refused(which: Estimator):
    with pytest.raises(InputError) as refused:
        estimate((), which)
    assert refused.value.code == "too-few-runs"


def test_every_estimator_has_its_equation():
    assert [estimator.formula[-5:] for estimator in Estimator if estimator is not Estimator.WARM_UP] == [
        "Eq. 1",
        "Eq. 2",
        "Eq. 3",
        "Eq. 4",
        "Eq. 5",
    ]
