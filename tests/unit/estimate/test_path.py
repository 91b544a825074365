"""Paths that are cut short keep their executions."""

import pytest

from sassan.estimate.path import Visits, visits
from sassan.strings.fold import Repeat

NEST = (0, Repeat((1, Repeat((2,), 100), 3), 50), 4)
SIZES = [1, 2, 3, 4, 5]


@pytest.mark.parametrize("most", [1, 30, 1000, 100_000])
def test_executions_stay_however_short_the_path_is(most: int):
    assert visits((NEST, {}), SIZES, most).counts(5) == pytest.approx((1, 50, 5000, 50, 1))


def test_a_path_that_fits_is_whole():
    walked = visits((NEST, {}), SIZES, 100_000)
    assert len(walked.nodes) == 1 + 50 * 102 + 1
    assert set(walked.weights) == {1.0}


def test_the_first_iteration_stands_for_itself():
    assert visits(((Repeat((0,), 9),), {}), [1], 3) == Visits((0, 0), (1.0, 8.0), (1.0, 1.0), (0, 1))


def test_a_node_that_some_iterations_visit_weighs_less():
    assert visits(((Repeat((0, 1), 4),), {1: 0.25}), [1, 1], 100).counts(2) == (4, 1)


def test_a_visit_that_some_warps_make_has_a_share_and_not_less_weight():
    walked = visits(((0, 1), {1: 0.25}), [1, 1], 100)
    assert (walked.weights, walked.shares, walked.turns) == ((1.0, 1.0), (1.0, 0.25), (0, 0))


def test_outer_loops_are_cut_before_inner_ones():
    walked = visits(((Repeat((0, Repeat((1,), 20)), 50),), {}), [1, 1], 30)
    assert walked.nodes == (0, *(1,) * 20)
    assert walked.counts(2) == (50, 1000)
