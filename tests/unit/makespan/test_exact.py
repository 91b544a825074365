from dataclasses import replace

import pytest

from budget import FULL
from sassan.errors import UsageError
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.exact.engine import Exact
from sassan.makespan.exact.tasks import letters_path
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.states import count_letter_states, count_states, layout, schedule_of, start, successors, work_left
from sassan.strings.kernel_string import KernelString
from unit.makespan.cases import Clock, StopCounter, case

pytestmark = pytest.mark.slow


def exact(problem: Problem, budget: Budget | None = None) -> EngineResult:
    result = Exact().run(problem, budget or Budget(), lambda _: None)
    if result.schedule is not None:
        check(problem, result.schedule)
    return result


def case_study(warps: int) -> Problem:
    return case("L5C9L2C9", warps=warps, L=1, C=4, issue=4)


@pytest.mark.parametrize(
    ("string", "capacity", "expected"),
    [
        ("LC", {"L": 1, "C": 1}, [2, 3, 4, 5, 6, 7, 8, 9]),
        ("LLC", {"L": 1, "C": 1}, [3, 5, 7, 9, 11, 13, 15, 17]),
        ("LCL", {"L": 1, "C": 1}, [3, 4, 7, 9, 11, 13, 15, 17]),
        ("LCCL", {"L": 1, "C": 1}, [4, 6, 8, 10, 12, 14, 16, 18]),
        ("LLCL", {"L": 1, "C": 1}, [4, 7, 10, 13, 16, 19, 22, 25]),
        ("LLCLL", {"L": 1, "C": 1}, [5, 9, 13, 17, 21, 25, 29, 33]),
        ("LCLCL", {"L": 1, "C": 1}, [5, 6, 11, 14, 17, 20, 23, 26]),
        ("LLCLLCLL", {"L": 1, "C": 1}, [8, 13, 20, 26, 32, 38, 44, 50, 56]),
        ("LLLCCC", {"L": 1, "C": 1}, [6, 11, 16, 21, 26, 31]),
        ("LCCL", {"L": 1, "C": 2}, [4, 5, 6, 10, 12, 14, 16, 18]),
        ("CCLCC", {"L": 1, "C": 2}, [5, 6, 7, 10, 13, 15, 17, 19]),
        ("LLC", {"L": 2, "C": 4}, [3, 3, 5, 6, 7, 8, 9, 10]),
        ("LCL", {"L": 2, "C": 4}, [3, 3, 4, 4, 7, 8, 9, 10]),
    ],
)
def test_the_longest_makespans_of_the_design_page(string: str, capacity: dict[str, int], expected: list[int]) -> None:
    result = [exact(case(string, warps=warps, issue=None, **capacity)) for warps in range(1, len(expected) + 1)]
    assert [one.upper for one in result] == expected
    assert [one.lower for one in result] == expected


@pytest.mark.parametrize(
    ("warps", "slots"),
    [(1, 25), (2, 31), (3, 37), (4, 45), (5, 65), (6, 78), (7, 87), (8, 98)] + [(9, 109), (10, 119), (12, 141), (16, 184)] * FULL,
)
def test_the_longest_makespans_of_the_case_study(warps: int, slots: int) -> None:
    result = exact(case_study(warps))
    assert (result.lower, result.upper, result.proof) == (slots, slots, "exhaustive")


def test_the_case_study_with_a_letter_less() -> None:
    assert exact(case("L5C9L2C8", warps=4, L=1, C=4, issue=4)).upper == 44


def test_figure_6_of_2011_at_eighty_warps() -> None:
    result = exact(case("LLCLL", warps=80, L=1, C=1))
    assert (result.lower, result.upper) == (321, 321)


@pytest.mark.parametrize(
    ("strings", "capacity", "issue", "slots"),
    [
        (("LC",) * 3, {"L": 1, "C": 1}, 1, 6),
        (("LSD",) * 3, {"L": 1, "S": 1, "D": 1}, None, 5),
        (("SDS",) * 4, {"S": 2, "D": 1}, 2, 7),
        (("LC", "CCC"), {"L": 1, "C": 1}, None, 4),
        (("L", "CCCC", "CCCC"), {"L": 1, "C": 1}, 1, 9),
        (("", "L"), {"L": 1}, None, 1),
        (("",), {}, None, 0),
    ],
)
def test_issue_limits_all_units_and_mixed_strings(
    strings: tuple[str, ...], capacity: dict[str, int], issue: int | None, slots: int
) -> None:
    result = exact(case(*strings, issue=issue, **capacity))
    assert (result.lower, result.upper) == (slots, slots)


def test_an_instance_that_no_table_holds_is_refused_with_its_size() -> None:
    with pytest.raises(UsageError) as refusal:
        exact(case("(L5C9L2C9)^20", warps=16, L=1, C=4, issue=4))
    assert refusal.value.code == "too-large"
    assert "about 10^29 states" in refusal.value.message
    assert "--engine beam" in (refusal.value.hint or "")


@pytest.mark.parametrize("string", ["(L5C9)^1000000", "(L1C1)^500000", "L(L2C1)^5000L2S"])
def test_a_very_long_string_is_refused_before_it_is_expanded(string: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def expand(*_: object) -> None:
        pytest.fail("expanded")

    monkeypatch.setattr(KernelString, "expand", expand)
    with pytest.raises(UsageError, match=r"about 10.* states") as refusal:
        exact(case(string, warps=64, L=1, C=4, S=1))
    assert refusal.value.code == "too-large"


def test_the_memory_of_the_budget_decides_what_is_too_large() -> None:
    with pytest.raises(UsageError) as refusal:
        exact(case_study(16), Budget(memory=1 << 20))
    assert refusal.value.code == "too-large"


def test_fractions_of_instructions_per_slot_are_refused() -> None:
    problem = case("LC", warps=2, L=1, C=1)
    halves = replace(problem, capacity={letter: each * 3 / 2 for letter, each in problem.capacity.items()})
    with pytest.raises(UsageError) as refusal:
        exact(halves)
    assert refusal.value.code == "fractional-capacity"


def test_a_deadline_ends_the_run_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("sassan.makespan.states.clock", clock)
    monkeypatch.setattr("sassan.makespan.exact.engine.may_begin", lambda *_: True)
    monkeypatch.setattr("sassan.makespan.beam.engine.may_begin", lambda *_: True)
    result = exact(case_study(10), Budget(deadline=10))
    assert result.lower is not None
    assert result.note
    assert 10 <= clock.looks < 20


def test_a_small_instance_is_exact_whatever_time_is_left() -> None:
    result = exact(case("LCL", warps=4, L=1, C=2), Budget(deadline=0.0))
    assert (result.lower, result.upper) == (9, 9)


def test_stop_ends_the_run() -> None:
    stop = StopCounter(10)
    assert exact(case_study(10), Budget(stop=stop)).note
    assert stop.count < 20


def test_bounds_are_reported_as_they_come_and_only_get_better() -> None:
    reported: list[EngineResult] = []
    Exact().run(case_study(8), Budget(), reported.append)
    lower = [one.lower for one in reported if one.lower is not None]
    upper = [one.upper for one in reported if one.upper is not None]
    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)
    assert (lower[-1], upper[0], upper[-1]) == (98, 99, 98)


def test_equal_seeds_show_equal_schedules() -> None:
    assert exact(case_study(9)).schedule == exact(case_study(9)).schedule


def test_states_are_counted_in_closed_form() -> None:
    cut = layout(case("LLC", warps=3, L=1, C=1), "letters")
    assert count_letter_states([(3, 3)]) == count_states(cut) == 20


def test_sums_of_runs_are_counted_by_the_boxes_of_their_spreads() -> None:
    # L2 with 0, 1, 2, 3 warps: 1, 2, 3, 4 sums, times the ways to spread the others over C and the end.
    assert count_states(layout(case("LLC", warps=3, L=1, C=1), "runs")) == 4 * 1 + 3 * 2 + 2 * 3 + 1 * 4


def test_a_slot_serves_the_most_it_can() -> None:
    cut = layout(case("LC", warps=2, L=1, C=1), "letters")
    (after,) = set(successors(cut, start(cut)))
    assert after == ((1, 1), (1, 1))
    assert work_left(cut, after) == 3


def test_the_sums_of_a_run_forget_which_warp_holds_the_work() -> None:
    cut = layout(case("CCC", warps=2, C=2), "runs")
    assert set(successors(cut, ((2, 4),))) == {((2, 2),), ((1, 2),)}


def test_a_path_of_states_becomes_a_schedule() -> None:
    problem = case("LCL", warps=4, L=1, C=1)
    cut = layout(problem, "letters")
    path = letters_path(cut, Budget())
    assert path is not None
    schedule = schedule_of(problem, cut, path)
    check(problem, schedule)
    assert schedule.makespan == 9
