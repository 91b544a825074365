"""Ratios, errors, ranks and regret, held to their definitions."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.measure.agreement import Ratios, geometric_mean, mape, ratios, regret, tau, within_twice

# Few different values, so that ties are frequent.
POSITIVE = st.integers(1, 8).map(float)
PAIRS = st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=30)
FIRST = st.integers(1, 40)


def quadratic_tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return tau-b by its definition: concordant less discordant pairs, over the geometric mean of those without ties on each side."""
    signs = [
        ((left[0] > right[0]) - (left[0] < right[0]), (left[1] > right[1]) - (left[1] < right[1])) for left, right in combinations(pairs, 2)
    ]
    untied = sum(sign != 0 for sign, _ in signs) * sum(other != 0 for _, other in signs)
    return sum(left * right for left, right in signs) / sqrt(untied) if untied else None


@given(PAIRS)
def test_tau_is_its_quadratic_definition(pairs: list[tuple[float, float]]):
    assert tau(pairs) == (None if (expected := quadratic_tau(pairs)) is None else pytest.approx(expected, abs=1e-12))


@given(PAIRS)
def test_tau_does_not_depend_on_which_side_is_predicted(pairs: list[tuple[float, float]]):
    assert tau(pairs) == tau([(measured, predicted) for predicted, measured in pairs])


@given(PAIRS)
def test_the_opposite_order_has_the_opposite_tau(pairs: list[tuple[float, float]]):
    correlation, opposite = tau(pairs), tau([(1 / predicted, measured) for predicted, measured in pairs])
    assert opposite == (None if correlation is None else pytest.approx(-correlation, abs=1e-12))


def test_tau_of_known_ranks():
    assert tau([(1, 1), (2, 2), (3, 4), (4, 3)]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("pairs", [[], [(1.0, 1.0)], [(1.0, 1.0), (1.0, 2.0)], [(1.0, 5.0), (2.0, 5.0)]])
def test_without_two_ranks_on_each_side_there_is_no_tau(pairs: list[tuple[float, float]]):
    assert tau(pairs) is None


@given(PAIRS, FIRST)
def test_no_selection_is_better_than_the_best(pairs: list[tuple[float, float]], first: int):
    assert (regret(pairs, first) or 0) >= 1


@given(PAIRS, FIRST)
def test_more_attempts_never_lose(pairs: list[tuple[float, float]], first: int):
    assert (regret(pairs, first + 1) or 0) <= (regret(pairs, first) or 0)


@given(PAIRS)
def test_who_tries_all_loses_nothing(pairs: list[tuple[float, float]]):
    assert regret(pairs, len(pairs)) == 1


@given(st.lists(POSITIVE, min_size=1), FIRST)
def test_a_true_order_loses_nothing(times: list[float], first: int):
    assert regret([(3 * time, time) for time in times], first) == 1


def test_of_equal_predictions_the_slowest_counts():
    assert regret([(1.0, 2.0), (1.0, 6.0), (5.0, 3.0)], 1) == 3


@pytest.mark.parametrize(("pairs", "first"), [([], 1), ([(1.0, 1.0)], 0)])
def test_without_an_attempt_there_is_no_regret(pairs: list[tuple[float, float]], first: int):
    assert regret(pairs, first) is None


@given(PAIRS)
def test_nine_tenths_do_not_exceed_the_high_ratio(pairs: list[tuple[float, float]]):
    result = ratios(pairs)
    assert result is not None
    values = [predicted / measured for predicted, measured in pairs]
    assert 10 * sum(value <= result.high for value in values) >= 9 * len(values)
    assert result.least <= result.median <= result.most
    assert result.high <= result.most


def test_ratios_of_known_pairs():
    pairs = [(float(number), 4.0) for number in range(1, 11)]
    assert ratios(pairs) == Ratios(10, 3, 0.25, 1.375, 2.25, 2.5)


def test_a_bound_equal_to_the_measurement_is_not_below():
    assert (ratios([(2.0, 2.0)]) or Ratios(0, 1, 0, 0, 0, 0)).below == 0


@given(PAIRS)
def test_the_geometric_mean_of_the_inverse_is_the_inverse(pairs: list[tuple[float, float]]):
    inverse = geometric_mean([(measured, predicted) for predicted, measured in pairs])
    assert (geometric_mean(pairs) or 0) * (inverse or 0) == pytest.approx(1)


def test_errors_of_known_pairs():
    pairs = [(2.0, 1.0), (1.0, 2.0), (9.0, 3.0)]
    assert mape(pairs) == pytest.approx((1 + 0.5 + 2) / 3)
    assert within_twice(pairs) == pytest.approx(2 / 3)
    assert geometric_mean(pairs) == pytest.approx(3 ** (1 / 3))


def test_of_nothing_nothing_is_known():
    assert [ratios([]), geometric_mean([]), mape([]), within_twice([])] == [None] * 4
