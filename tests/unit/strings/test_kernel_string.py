import pytest

from sassan.alphabet import Letter
from sassan.errors import InputError
from sassan.strings.fold import Repeat, normal
from sassan.strings.kernel_string import KernelString, letters, parse


def test_a_run_prints_its_count() -> None:
    assert str(letters([Letter.LOAD, Letter.LOAD, Letter.COMPUTE])) == "L2C"


def test_inside_a_group_every_count_is_printed() -> None:
    assert str(parse("L2C9(LC4)^10")) == "L2C9(L1C4)^10"


def test_a_group_of_one_run_is_a_run() -> None:
    assert str(parse("(L2)^3")) == "L6"


def test_a_group_of_a_group_is_one_group() -> None:
    assert str(parse("((LC)^2)^5")) == "(L1C1)^10"


def test_a_group_next_to_the_same_group_is_merged() -> None:
    assert str(parse("(LC)^2(LC)^3")) == "(L1C1)^5"


def test_a_group_taken_once_is_its_body() -> None:
    assert str(parse("(LC)^1C")) == "LC2"


def test_a_huge_string_is_counted_and_not_expanded() -> None:
    assert parse("((L5C9)^1000000S)^1000000").counts()[Letter.COMPUTE] == 9 * 10**12


def test_the_length_of_the_empty_string_is_zero() -> None:
    assert KernelString().length == 0


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("LXC", 2),
        ("(LC", 4),
        ("LC)^2", 3),
        ("L0", 1),
        ("(LC)", 4),
        ("L1234567890123456789", 1),
        ("(" * 300, 200),
        ("²", 1),
        ("L²", 2),
        ("Lß", 2),
        ("\u017f", 1),
    ],
)
def test_a_wrong_string_is_refused_with_its_place(text: str, column: int) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.span and caught.value.span.column) == ("string-syntax", column)


def test_an_iteration_before_its_repeat_is_folded_in() -> None:
    assert normal((7, 1, 2, Repeat((1, 2), 9), 8)) == (7, Repeat((1, 2), 10), 8)


def test_an_iteration_after_its_repeat_is_folded_in() -> None:
    assert normal((7, Repeat((1, 2), 9), 1, 2, 8)) == (7, Repeat((1, 2), 10), 8)


def test_a_repeat_inside_a_repeat_stays_inside() -> None:
    assert normal((Repeat((1, Repeat((2,), 3)), 4),)) == (Repeat((1, Repeat((2,), 3)), 4),)


def test_folding_a_long_straight_row_is_quick() -> None:
    row = tuple(range(50_000))
    assert normal((Repeat((1, 2), 2), *row))[-1] == 49_999
