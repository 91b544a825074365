"""Every function over words against what it computes of numbers, lane by lane; and when lanes agree on the result up to its lanes."""

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from sassan.domains.lanes import LANES, flat, join, leq, loose, word
from sassan.values.lanes.abstract_word import AbstractWord, number
from sassan.values.lanes.algebra import FUNCTIONS
from sassan.values.lanes.arithmetic import divide, modulo, shift_right
from sassan.values.lanes.bitwise import bit_and
from sassan.values.lanes.conditions import carry, choose, compare
from sassan.values.threads import thread_index
from unit.values.lane_cases import (
    REFERENCES,
    SIGN,
    Argument,
    Case,
    cases,
    contains,
    index_complaint,
    join_complaint,
    mask_of_the_modulus,
    tail_complaints,
    wrapping_shift,
)


def carry_of(takes_a: bool, a: AbstractWord, takes_b: bool, b: AbstractWord) -> AbstractWord:
    return carry((takes_a, a), (takes_b, b))


CALLS = {
    "choose": choose,
    "divide": divide,
    "modulo": modulo,
    **FUNCTIONS,
    "carry": carry_of,
}


def test_every_function_has_a_reference():
    assert REFERENCES.keys() == CALLS.keys()


@pytest.mark.parametrize("name", sorted(REFERENCES))
@given(data=st.data())
@settings(max_examples=part(2000, of=100))
def test_a_function_holds_what_its_lanes_compute(name: str, data: st.DataObject):
    kinds, reference = REFERENCES[name]
    case = data.draw(cases(kinds))
    assert case.complaint(CALLS[name], reference) == ""


def test_lanes_that_lie_half_the_circle_apart_wrap_around_before_a_shift():
    lanes = tuple({1: SIGN - 1, 30: SIGN + 9}.get(lane, 0) for lane in range(LANES))
    words_of_lanes = tuple((96 - SIGN + 5 + lane) % (1 << 32) for lane in lanes)
    argument = Argument(AbstractWord(word(5, 32, lanes, (100, 110)), 1), words_of_lanes, shared=True)
    _, reference = REFERENCES["shift_right"]
    places = Argument(number(5), (5,) * LANES, shared=True)
    assert Case((argument, places, False), (1, 30), {}).complaint(shift_right, reference) == ""


def test_words_that_wrap_around_are_not_shifted_as_one_and_masks_keep_what_is_unknown():
    assert wrapping_shift().complaint(shift_right, REFERENCES["shift_right"][1]) == ""
    assert mask_of_the_modulus().complaint(bit_and, REFERENCES["bit_and"][1]) == ""


def test_a_tail_of_whole_warps_is_decided_by_the_warp():
    assert list(tail_complaints(compare)) == []
    assert compare("LT", AbstractWord(word(0, 32, tuple(range(LANES))), 1), number(96), True).needs == 1


@given(case=cases("ww"))
@settings(max_examples=part(2000, of=100))
def test_a_join_holds_both_words(case: Case):
    assert join_complaint(case, join) == ""


@given(case=cases("ww"))
@settings(max_examples=part(800))
def test_a_greater_word_holds_what_a_lesser_one_holds(case: Case):
    small, great = case.arguments
    above = join(small.held.value, great.held.value)
    for value in (great.held.value, above, flat(above)):
        if leq(small.held.value, value):
            assert all(contains(value, lane, small.words[lane], case.bases) for lane in case.live)


@given(case=cases("w"))
@settings(max_examples=part(800))
def test_without_lanes_or_base_a_word_holds_the_same(case: Case):
    (argument,) = case.arguments
    for weaker in (flat(argument.held.value), loose(argument.held.value)):
        assert all(contains(weaker, lane, argument.words[lane], case.bases) for lane in case.live)


BLOCKS = st.one_of(
    st.sampled_from(
        [(32, 8, 1), (24, 1, 1), (33, 1, 1), (48, 2, 1), (16, 16, 1), (8, 8, 4), (1, 1, 1), (1024, 1, 1), (1, 64, 2), (5, 7, 3)]
    ),
    st.tuples(st.integers(1, 100), st.integers(1, 40), st.integers(1, 8)).filter(lambda block: prod(block) <= 1024),
)


@given(block=BLOCKS, axis=st.integers(0, 2))
@settings(max_examples=part(400))
def test_a_thread_index_holds_that_of_every_thread(block: tuple[int, int, int], axis: int):
    assert index_complaint(block, axis, thread_index) == ""
