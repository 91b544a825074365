"""Block barriers: the bound by waiting slots holds for equal warps whose barriers open in one order, by exhaustive search."""

from random import Random

import pytest

from budget import FULL
from makespan_reference import longest, longest_of_blocks
from sassan.makespan.bounds.waiting import waiting_slots
from unit.makespan.cases import case


def random_string(random: Random, *, longest: int) -> str:
    return "".join(random.choice("LLCCSB") for _ in range(random.randint(2, longest)))


@pytest.mark.parametrize("seed", range(8 if FULL else 2))
def test_no_schedule_of_equal_warps_with_barriers_exceeds_the_bound(seed: int):
    random, met, longer = Random(seed), 0, 0
    for _ in range(150):
        string = random_string(random, longest=7)
        plain = string.replace("B", "")
        if not plain:
            continue
        sizes = random.choice(((2,), (3,), (4,), (2, 2), (1, 2), (3, 1)))
        capacity = {letter: random.randint(1, 3) for letter in "LCS"}
        issue = random.choice((None, 1, 2, 3))
        exact = longest_of_blocks(tuple((string,) * size for size in sizes), capacity, issue)
        bound = waiting_slots(case(plain, warps=sum(sizes), issue=issue, **capacity))
        assert exact <= bound, (string, sizes, capacity, issue)
        met += exact == bound
        longer += exact > waiting_slots(case(plain, warps=sum(sizes) - 1, issue=issue, **capacity))
    assert met > 15
    assert longer > 15  # one warp fewer among the others would be no bound


def test_a_barrier_may_lengthen_and_may_shorten_the_longest_schedule():
    capacity = {"L": 1, "C": 1}
    without = longest(("LCC",) * 3, capacity)
    lengths = {string: longest_of_blocks(((string,) * 3,), capacity) for string in ("LCC", "LBCC", "LCBC")}
    assert lengths["LCC"] == without
    assert min(lengths.values()) < max(lengths.values())


def test_it_does_not_hold_for_different_strings():
    # The followed warps run LLL of one and CCC of the other: neither alone has as many letters.
    capacity = {"L": 1, "C": 1}
    assert longest_of_blocks((("LLLB", "BCCC"),), capacity) == 6
    assert waiting_slots(case("LLL", "CCC", **capacity)) == 3


def test_warps_of_other_blocks_are_not_waited_for():
    capacity = {"L": 1, "C": 1}
    assert longest_of_blocks((("LBC",), ("LLLLBC",)), capacity) == longest(("LC", "LLLLC"), capacity)
