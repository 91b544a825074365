"""Comparisons of pairs of words, of values that are known: against numbers of 64 bits."""

import operator
from itertools import product

import pytest

from sassan.values.lanes import conditions
from sassan.values.lanes.abstract_word import number

RELATIONS = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "EQ": operator.eq, "NE": operator.ne}
WORDS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def whole(high: int, low: int, *, signed: bool) -> int:
    return (high << 32 | low) - ((1 << 64) if signed and high >> 31 else 0)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_high_words_and_the_comparison_of_the_low_ones_compare_whole_numbers(relation: str, signed: bool):
    for a, b, c, d in product(WORDS, repeat=4):
        low = conditions.compare(relation, number(b), number(d), signed=False)
        found = conditions.extended(relation, number(a), number(c), low, signed).value.constant
        assert found == int(RELATIONS[relation](whole(a, b, signed=signed), whole(c, d, signed=signed)))
