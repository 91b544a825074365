"""Laws of ranges: every word that operands may be leads to a word that the result holds."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.domains import ranges
from sassan.domains.ranges import RANGES, Range, const, signed, span
from tests.strategies import short_ranges

EDGES = st.sampled_from([0, 1, 2**31 - 3, 2**31, 2**32 - 5]) | st.integers(0, 2**32 - 1) | st.integers(0, 300)


@st.composite
def elements(draw: st.DrawFn) -> tuple[Range, int]:
    low, count = draw(EDGES), draw(st.integers(0, 30))
    step = draw(st.sampled_from([1, 1, 2, 3, 4, 16, 2**30]))
    return span(low, low + count * step, step), (low + draw(st.integers(0, count)) * step) % 2**32


def plain(word: int) -> int:
    return word


TWO: list[tuple[Callable[[Range, Range], Range], Callable[[int, int], int]]] = [
    (ranges.add, lambda x, y: x + y),
    (ranges.multiply, lambda x, y: x * y),
    (ranges.both, lambda x, y: x & y),
    (ranges.either, lambda x, y: x | y),
    (ranges.differ, lambda x, y: x ^ y),
    (lambda a, b: ranges.high_product(a, b, (0, 0), is_signed=True), lambda x, y: signed(x) * signed(y) >> 32),
    (lambda a, b: ranges.high_product(a, b, (0, 0), is_signed=False), lambda x, y: x * y >> 32),
]


@pytest.mark.parametrize("place", range(len(TWO)))
@given(a=elements(), b=elements())
def test_an_operation_holds_every_result(place, a, b):
    over, exact = TWO[place]
    assert over(a[0], b[0]).holds(exact(a[1], b[1]) % 2**32)


@given(a=elements(), places=st.integers(0, 31))
def test_shifts_hold_every_result(a, places):
    assert ranges.shift_left(a[0], const(places)).holds((a[1] << places) % 2**32)
    assert ranges.shift_right(a[0], const(places), is_signed=False).holds(a[1] >> places)
    assert ranges.shift_right(a[0], const(places), is_signed=True).holds((signed(a[1]) >> places) % 2**32)


@given(a=elements(), b=elements())
def test_a_join_holds_both(a, b):
    assert RANGES.join(a[0], b[0]).holds(a[1])
    assert RANGES.join(a[0], b[0]).holds(b[1])


def words(a: Range) -> set[int]:
    return {(a.low + distance) % 2**32 for distance in range(0, a.width + 1, a.step or 1)}


@given(a=short_ranges, b=short_ranges)
def test_the_order_is_inclusion(a, b):
    assert RANGES.leq(a, b) == (words(a) <= words(b))


@given(a=elements(), low=EDGES, high=EDGES)
def test_what_lies_between_is_kept(a, low, high):
    for is_signed, view in ((False, plain), (True, signed)):
        least, most = sorted((view(low), view(high)))
        kept = ranges.between(a[0], least, most, is_signed=is_signed)
        assert not least <= view(a[1]) <= most or (kept is not None and kept.holds(a[1]))


@given(a=elements(), b=elements())
def test_a_word_is_taken_out_and_no_other(a, b):
    kept = ranges.without(a[0], b[1])
    assert a[1] == b[1] or (kept is not None and kept.holds(a[1]))


def test_multiples_of_a_number_stay_multiples():
    assert span(0, 1020, 4) == Range(0, 1020, 4)
    assert ranges.add(span(0, 1020, 4), const(2)) == Range(2, 1020, 4)
    assert ranges.scale(span(0, 31), 4) == Range(0, 124, 4)


def test_a_range_over_the_sign_is_read_as_one_piece_or_as_any_number():
    around_zero = span(-3, 3)
    assert (around_zero.signed, around_zero.unsigned) == ((-3, 3), (0, 2**32 - 1))


def test_adding_may_wrap_around_once_and_then_is_any_word():
    assert ranges.add(span(2**32 - 2, 2**32 - 1), const(2)) == Range(0, 1, 1)
    assert ranges.add(span(0, 2**31), span(0, 2**31)) == ranges.EVERY


@pytest.mark.parametrize("modulus", [2, 4])
@given(a=elements())
def test_the_words_that_leave_a_rest_are_kept(modulus, a):
    found = ranges.residue(a[0], a[1] % modulus, modulus)
    assert found is not None
    assert found.holds(a[1])


def test_words_that_leave_another_rest_are_left_out():
    assert ranges.residue(span(5, 11), 3, 4) == span(7, 11, 4)
    assert ranges.residue(ranges.EVERY, 0, 4) == Range(0, 2**32 - 4, 4)
    assert ranges.residue(span(5, 6), 3, 4) is None
