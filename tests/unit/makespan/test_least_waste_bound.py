from fractions import Fraction

import pytest

from budget import whole
from sassan.alphabet import Letter
from sassan.makespan.bounds.pool import Cut, Pooled, cuts, finest, pooled
from sassan.makespan.bounds.search import refines, refuted
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse

pytestmark = pytest.mark.slow


def instance(string: str, warps: int, capacity: dict[str, int], issue: int | None = None) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    return problem((parse(string),) * warps, processor)


def case_study(warps: int) -> Problem:
    return instance("L5C9L2C9", warps, {"L": 1, "C": 4}, 4)


def guide(given: Problem, most_states: int) -> Pooled:
    table = pooled(list(cuts(given, most_states))[-1])
    assert table is not None
    return table


def fine(given: Problem, *, whole: bool) -> Cut:
    one = finest(given, whole=whole)
    assert one is not None
    return one


def test_the_case_study_of_16_warps_has_no_schedule_of_185_slots() -> None:
    # Berezovskyi et al. 2013, VIII: 58 hours of an integer program came to an estimate of 176; a schedule of 184 slots exists.
    given = case_study(16)
    assert refuted(fine(given, whole=True), guide(given, 100_000), 185) is True


@whole("five warps are in test_bounds.py")
def test_the_case_study_of_8_warps_has_no_schedule_of_99_slots() -> None:
    given = case_study(8)
    table = guide(given, 20_000)
    assert refuted(fine(given, whole=True), table, 99) is True
    assert refuted(fine(given, whole=True), table, 98) is False


@pytest.mark.parametrize(
    ("string", "warps", "capacity", "issue"),
    [
        ("LCL", 4, {"L": 1, "C": 1}, None),
        ("CCLCC", 4, {"L": 1, "C": 2}, 2),
        ("SLCD", 3, {"L": 2, "C": 1, "S": 1, "D": 2}, 3),
        ("L5C9L2C9", 4, {"L": 1, "C": 4}, 4),
        ("CCCCLLLL", 3, {"L": 3, "C": 4}, 4),
        ("LLLCCC", 4, {"L": 2, "C": 1}, None),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_the_search_finds_the_waste_of_the_whole_table(
    string: str, warps: int, capacity: dict[str, int], issue: int | None, *, whole: bool
) -> None:
    given = instance(string, warps, capacity, issue)
    one = fine(given, whole=whole)
    table = pooled(one)
    coarse = pooled(next(cuts(given)))
    assert table is not None
    assert coarse is not None
    assert refuted(one, coarse, table.bound + 1) is True
    assert refuted(one, coarse, table.bound) is False


def test_a_bound_below_the_guide_needs_no_search() -> None:
    given = case_study(16)
    assert refuted(fine(given, whole=True), guide(given, 100_000), 187, lambda: True, 2) is True


def test_a_search_without_memory_has_no_result() -> None:
    given = case_study(16)
    assert refuted(fine(given, whole=True), guide(given, 100_000), 184, most_states=1 << 10) is None


def test_a_search_without_time_has_no_result() -> None:
    given = case_study(16)
    assert refuted(fine(given, whole=True), guide(given, 100_000), 184, lambda: True) is None


def test_a_cut_refines_what_merges_its_stretches() -> None:
    given = case_study(4)
    runs, letters = next(cuts(given)), fine(given, whole=False)
    assert refines(letters, runs)
    assert not refines(runs, letters)


def test_the_finest_cut_can_leave_runs_of_narrow_units_whole() -> None:
    assert fine(instance("L3C2", 2, {"L": 1, "C": 2}), whole=True).length == (3, 1, 1)
    assert fine(instance("L3C2", 2, {"L": 1, "C": 2}), whole=False).exact


def test_states_beyond_64_bits_have_no_finest_cut() -> None:
    assert finest(instance("C40", 64, {"C": 4}), whole=True) is None
