import time
from fractions import Fraction
from types import SimpleNamespace

import pytest

from budget import FULL
from sassan.alphabet import Letter
from sassan.jit import clock
from sassan.makespan.bounds.engine import Bounds, candidates
from sassan.makespan.bounds.waiting import busy_units, waiting_slots
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse

pytestmark = pytest.mark.slow


def instance(strings: str | tuple[str, ...], capacity: dict[str, int], issue: int | None = None, warps: int = 1) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    given = (strings,) * warps if isinstance(strings, str) else strings
    return problem(tuple(parse(string) for string in given), processor)


def case_study(warps: int) -> Problem:
    return instance("L5C9L2C9", {"L": 1, "C": 4}, issue=4, warps=warps)


def test_waiting_slots_of_the_case_study() -> None:
    assert waiting_slots(case_study(16)) == 197


def test_each_unit_is_floored_when_the_issue_limit_never_binds() -> None:
    # The string, three L by twos, six C by fours.
    assert waiting_slots(instance("LCC", {"L": 2, "C": 4}, warps=4)) == 5


def test_weights_are_summed_when_the_issue_limit_binds() -> None:
    # The string, and three L at a half with six C at a third: no more than 3 run.
    assert waiting_slots(instance("LCC", {"L": 2, "C": 4}, issue=3, warps=4)) == 6


def test_a_warp_does_not_wait_for_units_that_it_does_not_use() -> None:
    assert waiting_slots(instance(("L", "CCCC", "CCCC"), {"L": 1, "C": 1})) == 8


def test_under_an_issue_limit_a_warp_waits_for_the_letters_of_any_unit() -> None:
    # The L waits while four C and four C run one by one.
    assert waiting_slots(instance(("L", "CCCC", "CCCC"), {"L": 1, "C": 1}, issue=1)) == 9


def test_one_warp_runs_its_string() -> None:
    assert waiting_slots(instance("LCL", {"L": 1, "C": 1})) == 3


def test_no_letters_take_no_slot() -> None:
    assert waiting_slots(instance("", {"L": 1}, warps=3)) == 0


def test_busy_units_of_the_case_study() -> None:
    assert busy_units(case_study(16)) == 112


@pytest.mark.parametrize(
    ("strings", "capacity", "issue", "slots"),
    [
        (("LCL", "L"), {"L": 1, "C": 1}, None, 3),
        (("C", "C", "C"), {"C": 2}, None, 2),
        (("C", "L", "C", "L"), {"C": 2, "L": 2}, 1, 4),
    ],
)
def test_no_schedule_is_shorter_than_its_busiest_part(
    strings: tuple[str, ...], capacity: dict[str, int], issue: int | None, slots: int
) -> None:
    assert busy_units(instance(strings, capacity, issue)) == slots


def test_a_long_string_is_not_expanded() -> None:
    given = instance("(L3C2L1C7)^1000000000000", {"L": 1, "C": 4}, issue=4, warps=64)
    start = time.process_time()
    assert waiting_slots(given) == 13 * 10**12 + 63 * 4 * 10**12 + 63 * 9 * 10**12 // 4
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("warps", "improvements"),
    [
        (5, [(71, "waiting-slots"), (69, "pooled-stretches"), (68, "overlap-2"), *((upper, "least-waste") for upper in (67, 66, 65))]),
        *[(8, [(105, "waiting-slots"), (102, "overlap-1"), (100, "overlap-2"), (99, "pooled-stretches"), (98, "least-waste")])] * FULL,
    ],
)
def test_the_engine_reports_each_improvement_with_its_proof(warps: int, improvements: list[tuple[int, str]]) -> None:
    reported: list[EngineResult] = []
    Bounds().run(case_study(warps), Budget(), reported.append)
    assert [(one.upper, one.proof) for one in reported] == improvements


def test_a_small_instance_is_solved_by_the_finest_cut() -> None:
    result = Bounds().run(instance("LCL", {"L": 1, "C": 1}, warps=4), Budget(), lambda _: None)
    assert (result.upper, result.proof) == (9, "exhaustive")


def test_600_warps_are_bounded_within_a_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    # Berezovskyi et al. 2011, Figure 6: LLCLL takes 4 W + 1 slots for every number of warps that can be searched.
    # The table of its 36 million pooled states, which proves 2401, is not begun with so little time.
    monkeypatch.setattr(clock, "now", lambda: 0.0)  # on a busy machine the bounds would take longer than that by the clock
    result = Bounds().run(instance("LLCLL", {"L": 1, "C": 1}, warps=600), Budget(deadline=3), lambda _: None)
    assert (result.lower, result.upper, result.proof) == (2400, 2402, "overlap-1")


def test_a_stopped_engine_still_answers() -> None:
    result = Bounds().run(case_study(16), Budget(stop=lambda: True), lambda _: None)
    assert (result.upper, result.proof) == (197, "waiting-slots")


def test_a_deadline_ends_the_engine() -> None:
    result = Bounds().run(case_study(16), Budget(deadline=clock.now()), lambda _: None)
    assert result.upper == 197


def test_long_runs_are_not_cut_into_single_letters() -> None:
    """Of this string (found by the fuzzer) the finest cut has 6,144 stretches, and 38 million binomials."""
    given = instance("L4096C2048", {"L": 1, "C": 1}, warps=4)
    start = time.process_time()
    result = Bounds().run(given, Budget(), lambda _: None)
    assert (result.upper, result.proof) == (24573, "pooled-stretches")
    assert time.process_time() - start < 5


def test_solver_and_compiler_are_not_loaded_without_enough_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sassan.makespan.bounds.engine.sys", SimpleNamespace(modules={}))
    short = candidates(case_study(16), lambda: False, lambda: 0.1)
    longer = candidates(case_study(16), lambda: False, lambda: 0.5)
    assert [name for name, _ in short] == ["waiting-slots"]
    assert [name for name, _ in longer] == ["waiting-slots", "overlap-1", "overlap-2"]


def test_candidates_stop_at_the_exact_one() -> None:
    assert [name for name, _ in candidates(instance("LC", {"L": 1, "C": 1}, warps=2), lambda: False)] == ["waiting-slots", "exhaustive"]
