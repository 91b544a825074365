from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.errors import InputError, UsageError
from sassan.makespan.problem import Processor, problem
from sassan.strings.kernel_string import KernelString, parse

ONE_EACH = Processor(dict.fromkeys(Letter, Fraction(1)), {})


def capacity(**units: Fraction | int) -> Processor:
    return Processor({Letter(letter): Fraction(each) for letter, each in units.items()}, {})


def test_half_a_unit_doubles_its_letters() -> None:
    transformed = problem((parse("LC"),), capacity(L=Fraction(1, 2), C=1))
    assert str(transformed.strings[0]) == "L2C"
    assert transformed.capacity[Letter.LOAD] == 1


def test_latencies_repeat_letters_inside_groups() -> None:
    transformed = problem((parse("(LD)^3"),), Processor({Letter.LOAD: Fraction(1), Letter.DOUBLE: Fraction(1)}, {Letter.DOUBLE: 4}))
    assert str(transformed.strings[0]) == "(L1D4)^3"


def test_fraction_and_latency_multiply() -> None:
    transformed = problem((parse("S"),), Processor({Letter.SPECIAL: Fraction(1, 2)}, {Letter.SPECIAL: 3}))
    assert str(transformed.strings[0]) == "S6"


def test_a_capacity_of_two_thirds_rounds_up_to_two_slots() -> None:
    assert str(problem((parse("C"),), capacity(C=Fraction(2, 3))).strings[0]) == "C2"


def test_a_capacity_above_one_stays() -> None:
    transformed = problem((parse("C"),), capacity(C=Fraction(3, 2)))
    assert (str(transformed.strings[0]), transformed.capacity[Letter.COMPUTE]) == ("C", Fraction(3, 2))


def test_unused_units_are_omitted() -> None:
    assert list(problem((parse("L"),), ONE_EACH).capacity) == [Letter.LOAD]


def test_equal_strings_are_identical_even_as_two_objects() -> None:
    transformed = problem((parse("LCL"), parse("LCL")), ONE_EACH)
    assert transformed.identical
    assert transformed.shares == {parse("LCL"): 2}


def test_shares_count_the_warps_of_each_string_in_order() -> None:
    strings = (parse("C"), parse("L"), parse("C"))
    assert list(problem(strings, ONE_EACH).shares.items()) == [(parse("C"), 2), (parse("L"), 1)]


def test_strings_without_factors_are_kept_as_they_are() -> None:
    string = parse("L5C9(L2C9)^1000")
    assert problem((string,) * 2, ONE_EACH).strings[0] is string


@pytest.mark.parametrize(
    ("strings", "processor", "code"),
    [
        ((), ONE_EACH, "no-warps"),
        ((parse("L"),), capacity(L=0), "no-unit"),
        ((parse("L"),), capacity(C=1), "no-unit"),
        ((parse("L"),), capacity(L=-1), "no-unit"),
        ((parse("L"),), Processor({Letter.LOAD: Fraction(1)}, {Letter.LOAD: 0}), "bad-latency"),
        ((parse("L"),), Processor({Letter.LOAD: Fraction(1)}, {}, issue=0), "bad-issue"),
    ],
)
def test_what_means_nothing_is_refused(strings: tuple[KernelString, ...], processor: Processor, code: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        problem(strings, processor)
    assert caught.value.code == code
