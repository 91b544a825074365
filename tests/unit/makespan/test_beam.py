from random import Random

import pytest

from budget import some
from sassan.jit import clock
from sassan.makespan.beam.engine import Beam, BeamWidth, compiled_pass, plain_pass
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.states import layout
from unit.makespan.cases import Clock, case, mixed_case, random_case

pytestmark = pytest.mark.slow

ALL = BeamWidth(64, 4096, 1)


def case_study(warps: int) -> Problem:
    return case("L5C9L2C9", warps=warps, L=1, C=4, issue=4)


def beam(problem: Problem, budget: Budget | None = None) -> EngineResult:
    result = Beam().run(problem, budget or Budget(), lambda _: None)
    assert result.schedule is not None
    check(problem, result.schedule)
    assert result.lower == result.schedule.makespan
    return result


def test_a_beam_that_keeps_every_state_finds_the_longest() -> None:
    assert beam(case("LCL", warps=4, L=1, C=1)).lower == 9


def test_the_case_study_of_sixteen_warps_takes_184_slots() -> None:
    assert beam(case_study(16)).lower == 184


def test_a_beam_proves_nothing_from_above() -> None:
    assert beam(case_study(4)).upper is None


def test_no_letters_take_no_slot() -> None:
    assert beam(case("", L=1)).lower == 0


def test_more_than_sixty_four_warps() -> None:
    assert beam(case("LCL", warps=80, L=1, C=1)).lower == 161


def test_wider_beams_are_reported_when_they_are_better() -> None:
    reported: list[EngineResult] = []
    Beam((1, 256, 2048)).run(case_study(16), Budget(), reported.append)
    lower = [one.lower or 0 for one in reported]
    assert lower == sorted(set(lower))
    assert lower[-1] == 184


def test_equal_seeds_show_equal_schedules() -> None:
    problem = case_study(8)
    assert beam(problem, Budget(seed=3)).schedule == beam(problem, Budget(seed=3)).schedule


def test_seeds_break_ties() -> None:
    cut = layout(case_study(16), "letters")
    result = {compiled_pass(cut, BeamWidth(128, 4096, 1), Budget(seed=seed)) for seed in range(4)}
    assert len(result) > 1


def test_states_with_too_many_successors_have_some_drawn() -> None:
    problem = case_study(16)
    schedule = compiled_pass(layout(problem, "letters"), BeamWidth(32, 4, 3), Budget())
    assert schedule is not None
    check(problem, schedule)
    assert schedule.makespan > 140


def test_a_long_string_is_searched_until_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("sassan.makespan.states.clock", clock)
    monkeypatch.setattr("sassan.makespan.beam.engine.may_begin", lambda *_: True)
    reported: list[EngineResult] = []
    result = Beam((1, 16, 1024)).run(case("(L5C9L2C9)^20", warps=16, L=1, C=4, issue=4), Budget(deadline=20), reported.append)
    assert [one.lower or 0 for one in reported][1:] == [result.lower]
    assert (result.lower or 0) > 3_000
    assert clock.looks == 20


def test_stop_ends_a_pass_with_what_was_found_before() -> None:
    reported: list[EngineResult] = []
    Beam((1, 1 << 16)).run(case_study(16), Budget(deadline=clock.now() + 60, stop=lambda: bool(reported)), reported.append)
    assert [one.lower for one in reported] == [140]


def test_a_beam_that_would_not_fit_the_memory_is_not_started() -> None:
    reported: list[EngineResult] = []
    Beam((16, 1 << 16)).run(case_study(16), Budget(deadline=clock.now() + 60, memory=1 << 20), reported.append)
    assert len(reported) == 1


@pytest.mark.parametrize("seed", some(range(40), of=10))
def test_plain_and_compiled_beam_find_the_same(seed: int) -> None:
    random = Random(seed)
    problem = mixed_case(random) if seed % 4 == 0 else random_case(random, longest=6, warps=4)
    cut = layout(problem, "letters")
    compiled = compiled_pass(cut, ALL, Budget(seed=seed))
    plain = plain_pass(cut, ALL.states, seed)
    assert compiled is not None
    assert compiled.makespan == plain.makespan
    check(problem, plain)


def test_plain_and_compiled_beam_find_the_same_when_they_keep_few() -> None:
    cut = layout(case_study(6), "letters")
    for states in (1, 2, 5, 17):
        compiled = compiled_pass(cut, BeamWidth(states, 4096, 1), Budget(seed=5))
        assert compiled is not None
        assert compiled.makespan == plain_pass(cut, states, 5).makespan
