from fractions import Fraction

import pytest

from makespan_reference import longest, worst_schedule
from sassan.alphabet import Letter
from sassan.errors import UsageError
from sassan.makespan.estimates import extrapolated, pessimistic
from sassan.makespan.problem import Problem, Processor, problem
from sassan.makespan.schedule import Schedule, check
from sassan.strings.kernel_string import parse


def instance(string: str, warps: int, capacity: dict[str, int], issue: int | None = None) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    return problem((parse(string),) * warps, processor)


@pytest.mark.parametrize(
    ("string", "warps", "capacity", "published", "slots"),
    [
        ("CC", 4, {"C": 2}, 4, 5),
        ("CCCC", 8, {"C": 4}, 8, 11),
    ],
)
def test_a_schedule_is_longer_than_equation_5(string: str, warps: int, capacity: dict[str, int], published: int, slots: int) -> None:
    given = instance(string, warps, capacity)
    schedule = Schedule(worst_schedule((string,) * warps, capacity))
    check(given, schedule)
    assert (pessimistic(given).slots, schedule.makespan) == (published, slots)


def test_the_schedule_of_figure_5_is_longer_than_equation_40() -> None:
    capacity = {"L": 1, "C": 1}
    exact = {warps: longest(("LCL",) * warps, capacity) for warps in (1, 2)}
    schedule = Schedule(worst_schedule(("LCL",) * 4, capacity))
    check(instance("LCL", 4, capacity), schedule)
    assert (exact, extrapolated(4, exact).slots, schedule.makespan) == ({1: 3, 2: 4}, 8, 9)


@pytest.mark.parametrize(("warps", "published"), [(7, 85), (8, 92)])
def test_equation_5_of_the_case_study_lies_below_the_longest_makespan(warps: int, published: int) -> None:
    # The longest makespans are 87 and 98 (test vectors of the exact engine).
    assert pessimistic(instance("L5C9L2C9", warps, {"L": 1, "C": 4}, 4)).slots == published


def test_the_published_extrapolation_of_the_case_study() -> None:
    # Berezovskyi et al. 2013, VIII: 176 slots for 16 warps, from 44 for 4 warps of L5C9L2C8.
    assert extrapolated(16, {4: 44}).slots == 176


def test_equation_40_takes_the_least() -> None:
    assert extrapolated(8, {1: 25, 4: 45}).slots == 90


def test_fractions_become_longer_strings_first() -> None:
    given = problem((parse("LC"),) * 4, Processor({Letter.LOAD: Fraction(1, 2), Letter.COMPUTE: Fraction(1)}, {}))
    assert pessimistic(given).slots == 12


def test_the_caution_states_when_equation_5_is_unsafe() -> None:
    assert pessimistic(instance("CC", 4, {"C": 2})).caution.startswith("an estimate, not a bound")
    assert "safe only because" in pessimistic(instance("LC", 4, {"L": 1, "C": 1})).caution


def test_equation_40_is_never_called_a_bound() -> None:
    assert extrapolated(4, {1: 3}).caution.startswith("an estimate, not a bound")


def test_different_strings_have_no_equation_5() -> None:
    given = problem((parse("L"), parse("LL")), Processor({Letter.LOAD: Fraction(1)}, {}))
    with pytest.raises(UsageError) as caught:
        pessimistic(given)
    assert caught.value.code == "different-strings"


def test_nothing_to_extrapolate_from_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        extrapolated(4, {})
    assert caught.value.code == "no-exact-makespan"
