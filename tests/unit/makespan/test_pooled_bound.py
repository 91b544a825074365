from fractions import Fraction
from math import comb

import pytest

from makespan_instances import number_of, slots_left
from sassan.alphabet import Letter
from sassan.makespan.bounds.pool import Cut, compiled, cut_string, cuts, finest, pooled, waste_plain
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import LetterRun, parse

pytestmark = pytest.mark.slow


def instance(string: str, warps: int, capacity: dict[str, int], issue: int | None = None) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    return problem((parse(string),) * warps, processor)


def case_study(warps: int) -> Problem:
    return instance("L5C9L2C9", warps, {"L": 1, "C": 4}, 4)


def bounds(given: Problem, most_states: int) -> list[int]:
    tables = [pooled(one) for one in cuts(given, most_states)]
    return [table.bound for table in tables if table is not None]


def test_weights_are_whole_numbers_of_the_scale() -> None:
    one = next(cuts(case_study(16)))
    assert one == Cut(16, (1, 0, 1, 0), (5, 9, 2, 9), (4, 1), (1, 4), 4, 4)


def test_the_first_cut_takes_the_runs_whole_and_the_next_halves_the_wide_ones() -> None:
    assert [one.length for one in cuts(case_study(16), 100_000)] == [(5, 9, 2, 9), (5, 5, 4, 2, 5, 4)]


def test_groups_are_cut_like_the_letters_they_stand_for() -> None:
    given = instance("(L2C3)^2C", 3, {"L": 1, "C": 1})
    assert next(cuts(given)).length == (2, 3, 2, 4)


def test_the_last_cut_of_a_small_problem_is_into_single_letters() -> None:
    last = list(cuts(instance("LLCC", 2, {"L": 1, "C": 2})))[-1]
    assert (last.length, last.exact) == ((1, 1, 1, 1), True)


def test_a_string_of_too_many_runs_is_not_cut() -> None:
    assert list(cuts(instance("(LC)^1000000000000", 2, {"L": 1, "C": 1}))) == []


@pytest.mark.parametrize("warps", [2, 3, 5])
def test_a_string_is_cut_finest_only_as_far_as_a_search_can_go(warps: int) -> None:
    assert finest(instance("L500C500", warps, {"L": 1, "C": 1}), whole=False) is not None
    assert finest(instance("L5000C5000", warps, {"L": 1, "C": 1}), whole=False) is None


def test_state_numbers_use_the_binomials() -> None:
    table = compiled(next(cuts(case_study(30)))).choose
    assert [[int(entry) for entry in row] for row in table] == [[comb(row, column) for column in range(4)] for row in range(34)]


def test_different_strings_are_not_cut() -> None:
    processor = Processor(dict.fromkeys(Letter, Fraction(1)), {})
    assert list(cuts(problem((parse("L"), parse("C")), processor))) == []


def test_an_empty_string_is_not_cut() -> None:
    assert list(cuts(instance("", 2, {}))) == []


@pytest.mark.parametrize(("warps", "slots"), [(4, 17), (40, 161), (80, 321)])
def test_llcll_takes_four_slots_per_warp_and_one(warps: int, slots: int) -> None:
    assert bounds(instance("LLCLL", warps, {"L": 1, "C": 1}), 200_000)[0] == slots


@pytest.mark.parametrize(("warps", "slots"), [(2, 13), (3, 20), (8, 50), (9, 56)])
def test_the_bound_of_llcllcll_by_its_runs_is_nearly_exact(warps: int, slots: int) -> None:
    assert bounds(instance("LLCLLCLL", warps, {"L": 1, "C": 1}), 5_000)[0] in {slots, slots + 1}


def test_the_case_study_is_bounded_within_two_slots_of_the_best_schedule_known() -> None:
    assert bounds(case_study(16), 100_000) == [190, 186]


def test_the_case_study_of_five_warps_is_solved() -> None:
    assert bounds(case_study(5), 200_000)[-1] == 65


@pytest.mark.parametrize(
    ("string", "warps", "capacity", "issue"),
    [
        ("LCL", 4, {"L": 1, "C": 1}, None),
        ("LLCLL", 5, {"L": 1, "C": 1}, None),
        ("CCLCC", 4, {"L": 1, "C": 2}, 2),
        ("SLCD", 3, {"L": 2, "C": 1, "S": 1, "D": 2}, 3),
        ("L5C9L2C9", 4, {"L": 1, "C": 4}, 4),
        ("CCCCLLLL", 4, {"L": 3, "C": 4}, 4),
    ],
)
def test_the_compiled_table_is_the_plain_one(
    string: str, warps: int, capacity: dict[str, int], issue: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sassan.makespan.bounds.pool.SMALL", 0)
    for one in cuts(instance(string, warps, capacity, issue), 600):
        table = pooled(one)
        assert table is not None
        assert list(table.waste) == waste_plain(one)


def test_a_table_can_be_stopped() -> None:
    assert pooled(list(cuts(case_study(16), 100_000))[-1], lambda: True) is None


def test_the_last_number_is_that_of_all_warps_in_the_first_stretch() -> None:
    one = next(cuts(case_study(4)))
    table = pooled(one)
    assert table is not None
    assert (number_of((4, 0, 0, 0)), number_of((0, 0, 0, 0)), one.states, len(table.waste)) == (69, 0, 70, 70)


def test_what_remains_of_the_pool_at_the_start_is_the_bound() -> None:
    table = pooled(next(cuts(case_study(6))))
    assert table is not None
    assert (slots_left(table, [0] * 6), table.bound) == (80, 80)


def test_nothing_remains_when_all_are_done() -> None:
    table = pooled(next(cuts(case_study(2))))
    assert table is not None
    assert slots_left(table, [25, 25]) == 0


def test_a_cut_may_be_chosen_by_hand() -> None:
    pieces = [
        LetterRun(Letter.LOAD, 5),
        LetterRun(Letter.COMPUTE, 3),
        LetterRun(Letter.COMPUTE, 6),
        LetterRun(Letter.LOAD, 2),
        LetterRun(Letter.COMPUTE, 9),
    ]
    table = pooled(cut_string(case_study(5), pieces))
    assert table is not None
    assert table.bound == 68
