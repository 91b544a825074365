"""Precedence strings, starts, chains and the engine; compiled chains against their plain twin."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from budget import PATIENCE
from sassan.errors import UsageError
from sassan.executor import Serial, Threads
from sassan.makespan.anneal.engine import PUBLISHED, Anneal, Improvement, default_plan, envelope
from sassan.makespan.anneal.kernel import run
from sassan.makespan.anneal.plain import AcceptanceRule, AnnealingPlan, Chain, Move, accepts, advance, chain, score
from sassan.makespan.anneal.plain import Random as Generator
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.start import NumberedProblem, Start, construct, instance, start
from unit.makespan.cases import Clock, StopCounter, case, mixed_case, random_case
from unit.makespan.every_schedule import longest

pytestmark = pytest.mark.slow

LCL = case("LCL", warps=4, L=1, C=1)
CASE_STUDY = case("L5C9L2C9", warps=16, L=1, C=4, issue=4)
ALL_MOVES = (Move.SWAP, Move.INSERT, Move.WARP, Move.BLOCK)


def quiet(_: EngineResult) -> None:
    pass


def precedence_of(schedule: Schedule) -> tuple[int, ...]:
    """A pseudo-precedence string of a work-conserving schedule: its columns from left to right, each from top to bottom."""
    cells = sorted((slot, warp) for warp, row in enumerate(schedule.slots) for slot in row)
    return tuple(warp for _, warp in cells)


def from_one(*warps: int) -> tuple[int, ...]:
    """A string with warps numbered as in the papers."""
    return tuple(warp - 1 for warp in warps)


def test_the_string_of_figure_2_gives_its_schedule() -> None:
    string = from_one(1, 1, 2, 2, 3, 3, 4, 4, 1, 2, 3, 4)
    assert construct(instance(LCL), string) == Schedule(((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 4, 7)))


def test_the_string_of_figure_5_takes_9_cycles() -> None:
    string = from_one(1, 1, 2, 2, 3, 3, 1, 2, 3, 4, 4, 4)
    assert construct(instance(LCL), string) == Schedule(((0, 1, 3), (1, 2, 4), (2, 3, 5), (6, 7, 8)))


def test_two_strings_can_name_one_schedule() -> None:
    one, other = from_one(1, 2, 1, 3, 2, 3, 1, 2, 3, 4, 4, 4), from_one(1, 1, 2, 2, 3, 3, 1, 2, 3, 4, 4, 4)
    assert construct(instance(LCL), one) == construct(instance(LCL), other)


def test_a_schedule_reads_back_as_a_string_column_by_column() -> None:
    figure_2 = Schedule(((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 4, 7)))
    assert precedence_of(figure_2) == from_one(1, 1, 2, 2, 3, 3, 4, 1, 4, 2, 3, 4)


def test_fixed_priority_gives_figure_6() -> None:
    given = instance(case("LCCL", warps=3, L=1, C=1))
    assert construct(given, start(given, Start.FIXED_PRIORITY)) == Schedule(((0, 1, 2, 3), (1, 3, 4, 5), (2, 5, 6, 7)))


def test_most_pending_gives_figure_7() -> None:
    given = instance(case("LCCL", warps=3, L=1, C=1))
    assert construct(given, start(given, Start.MOST_PENDING)) == Schedule(((0, 1, 3, 4), (1, 2, 5, 6), (2, 4, 6, 7)))


def test_round_robin_gives_every_warp_its_turn() -> None:
    assert start(instance(case("LC", "LCL", L=1, C=1)), Start.ROUND_ROBIN) == (0, 1, 0, 1, 1)


def test_round_robin_of_the_case_study_is_already_longer_than_what_was_published() -> None:
    given = instance(CASE_STUDY)
    assert construct(given, start(given, Start.ROUND_ROBIN)).makespan == 163


@pytest.mark.parametrize("make", [random_case, mixed_case])
def test_every_string_gives_a_work_conserving_schedule(make: type[random_case]) -> None:
    random = Random(1)
    for _ in range(300):
        problem = make(random)
        given = instance(problem)
        string = list(start(given, Start.ROUND_ROBIN))
        random.shuffle(string)
        check(problem, construct(given, tuple(string)))


def test_every_work_conserving_schedule_has_a_string() -> None:
    random = Random(2)
    for _ in range(300):
        given = instance(mixed_case(random))
        string = list(start(given, Start.ROUND_ROBIN))
        random.shuffle(string)
        schedule = construct(given, tuple(string))
        assert construct(given, precedence_of(schedule)) == schedule


def run_both(given: NumberedProblem, plan: AnnealingPlan, number: int, kind: Start) -> tuple[Chain, Chain]:
    plain = compiled = chain(given, number, kind, 7)
    while plain.iteration < plan.iterations:
        plain = advance(given, plan, plain, 64)
    while compiled.iteration < plan.iterations:
        compiled = run(given, plan, compiled, 1000)
    return plain, compiled


@pytest.mark.parametrize("move", list(Move))
@pytest.mark.parametrize("kind", list(Start))
@pytest.mark.parametrize("rule", list(AcceptanceRule))
def test_a_compiled_chain_equals_the_plain_chain(move: Move, kind: Start, rule: AcceptanceRule) -> None:
    plan = AnnealingPlan(200, 0.7, (move,), rule, lateness=7 * rule)
    plain, compiled = run_both(instance(case("LCCSL", warps=5, L=1, C=2, S=1, issue=3)), plan, 3, kind)
    assert plain == compiled
    assert plain.evaluations > 100


def test_compiled_chains_agree_with_plain_ones_on_random_instances() -> None:
    random = Random(3)
    for number in range(60):
        make = random_case if number % 2 else mixed_case
        plain, compiled = run_both(instance(make(random)), AnnealingPlan(60, 1.0, ALL_MOVES), number, Start.RANDOM)
        assert plain == compiled


def test_compiled_chains_agree_where_slots_fill_many_words() -> None:
    plain, compiled = run_both(instance(case("(L2C3)^12", warps=4, L=1, C=1)), AnnealingPlan(60, 0.5, ALL_MOVES), 0, Start.ROUND_ROBIN)
    assert plain == compiled


def test_compiled_chains_agree_on_more_warps_than_a_byte_counts() -> None:
    plain, compiled = run_both(instance(case("LC", warps=300, L=1, C=200)), AnnealingPlan(10, 0.5, ALL_MOVES), 0, Start.RANDOM)
    assert plain == compiled


def test_the_generator_is_xorshift64_star() -> None:
    random = Generator(1)
    assert [random.draw() for _ in range(2)] == [5180492295206395165, 12380297144915551517]


def test_a_slice_ends_where_the_chain_improved() -> None:
    given = instance(LCL)
    before = chain(given, 0, Start.FIXED_PRIORITY, 0)
    after = advance(given, AnnealingPlan(10_000), before, 10_000)
    assert (before.best_makespan, after.best_makespan, after.iteration < 10_000) == (8, 9, True)


def test_a_seed_gives_one_answer_on_any_executor() -> None:
    plan = AnnealingPlan(3_000, 0.3, ALL_MOVES)
    one, other = (Anneal(plan=plan, executor=pool).search(CASE_STUDY, Budget(seed=5), quiet) for pool in (Serial(), Threads(2)))
    assert (one.chains, one.result.schedule) == (other.chains, other.result.schedule)


def test_another_seed_gives_another_search() -> None:
    plan = AnnealingPlan(500, 0.3)
    one, other = (Anneal(plan=plan).search(CASE_STUDY, Budget(seed=seed), quiet) for seed in (1, 2))
    assert one.chains[0].precedence != other.chains[0].precedence


def test_the_longest_schedule_of_figure_5_is_found_and_validated() -> None:
    result = Anneal().run(LCL, Budget(), quiet)
    assert result.schedule is not None
    check(LCL, result.schedule)
    assert (result.lower, result.upper, result.schedule.makespan) == (9, None, 9)


def test_small_instances_never_exceed_the_longest_schedule_and_mostly_reach_it() -> None:
    random = Random(4)
    reached = 0
    for number in range(40):
        problem = (random_case if number % 2 else mixed_case)(random)
        result = Anneal(plan=AnnealingPlan(100, 0.3, ALL_MOVES)).run(problem, Budget(seed=number), quiet)
        assert result.schedule is not None
        assert result.lower is not None
        check(problem, result.schedule)
        assert result.lower <= longest(problem)
        reached += result.lower == longest(problem)
    assert reached >= 39


def test_a_small_instance_loads_neither_compiler_nor_arrays() -> None:
    program = """
import sys
from unit.makespan.cases import case
from sassan.makespan.anneal.engine import Anneal
from sassan.makespan.engine import Budget
print(Anneal().run(case("LCL", warps=4, L=1, C=1), Budget(), lambda _: None).lower, {"numba", "numpy"} & set(sys.modules))
"""
    tests = str(Path(__file__).parents[2])
    process = subprocess.run([sys.executable, "-c", program], cwd=tests, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert process.stdout == "9 set()\n"


def test_one_warp_has_one_schedule() -> None:
    stop = StopCounter()
    assert Anneal().run(case("LCL", L=1, C=1), Budget(stop=stop), quiet).lower == 3
    assert stop.count == 0


def test_empty_strings_take_no_slot() -> None:
    assert Anneal().run(case("", "", L=1), Budget(), quiet).lower == 0


def test_a_deadline_ends_the_run_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("sassan.makespan.anneal.engine.clock", clock)
    monkeypatch.setattr("sassan.makespan.anneal.engine.may_begin", lambda *_: True)
    result = Anneal(plan=AnnealingPlan(10**9, 0.3)).run(CASE_STUDY, Budget(deadline=80), quiet)
    # At the deadline each of eight chains looks once, and so does the engine.
    assert 80 <= clock.looks < 100
    assert result.lower is not None
    assert result.lower >= 163


def test_a_caller_that_stops_gets_the_best_so_far() -> None:
    reports: list[EngineResult] = []
    result = Anneal(plan=AnnealingPlan(10**9, 0.3)).run(CASE_STUDY, Budget(stop=lambda: True), reports.append)
    assert result.lower == 163
    assert [replace(one, seconds=0.0) for one in reports] == [replace(result, seconds=0.0)]


def test_reports_grow_and_the_log_holds_every_improvement_of_every_chain() -> None:
    reports: list[EngineResult] = []
    search = Anneal(plan=AnnealingPlan(20_000, 0.05, ALL_MOVES)).search(CASE_STUDY, Budget(seed=1), reports.append)
    lowers = [one.lower for one in reports if one.lower is not None]
    assert lowers == sorted(set(lowers))
    assert {one.chain for one in search.improvements} == set(range(8))
    for state in search.chains:
        steps = [one.makespan for one in search.improvements if one.chain == state.number]
        assert steps == sorted(set(steps))
        assert steps[-1] == state.best_makespan


def test_the_envelope_keeps_what_no_chain_had_before() -> None:
    log = [Improvement(0, Start.RANDOM, 0, 0.0, 5), Improvement(1, Start.RANDOM, 0, 0.1, 4), Improvement(1, Start.RANDOM, 9, 0.2, 6)]
    assert [one.makespan for one in envelope(log)] == [5, 6]


def test_more_instructions_than_a_search_takes_are_refused_with_their_number() -> None:
    with pytest.raises(UsageError) as caught:
        Anneal().run(case("L100000", warps=64, L=1), Budget(), quiet)
    assert (caught.value.code, "6400000" in caught.value.message) == ("too-large", True)


def test_more_memory_than_allowed_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        Anneal().run(CASE_STUDY, Budget(memory=1000), quiet)
    assert caught.value.code == "too-large"


def test_a_plan_fits_into_the_time_that_is_left() -> None:
    assert [default_plan(instance(CASE_STUDY), 8, seconds, 2).iterations for seconds in (2.0, 0.0)] == [100_000, 1_000]


def test_equation_3_accepts_a_drop_of_two_slots_with_half_the_temperature() -> None:
    draws = Generator(9)
    accepted = sum(accepts(AnnealingPlan(1), 2.0, 0.3, draws) for _ in range(20_000))
    assert accepted == pytest.approx(3_000, rel=0.1)


def test_the_linear_rule_refuses_what_is_further_below_than_the_temperature() -> None:
    plan, draws = AnnealingPlan(1, rule=AcceptanceRule.LINEAR), Generator(9)
    assert not any(accepts(plan, 3.0, 3.0, draws) for _ in range(1_000))
    assert sum(accepts(plan, 0.75, 3.0, draws) for _ in range(20_000)) == pytest.approx(15_000, rel=0.1)


def test_the_score_adds_the_mean_slot() -> None:
    given = instance(LCL)
    figure_2 = Schedule(((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 4, 7)))
    assert [score(given, AnnealingPlan(1, lateness=weight), figure_2) for weight in (0, 10)] == [8 * 12, 8 * 12 + 10 * 38]


def test_the_default_plan_finds_what_swaps_do_not() -> None:
    result = Anneal(plan=replace(default_plan(instance(CASE_STUDY), 8, None, 2), iterations=20_000)).run(CASE_STUDY, Budget(seed=1), quiet)
    assert result.lower is not None
    assert result.lower >= 175


def test_a_plan_grows_with_the_string_up_to_what_was_published() -> None:
    assert [default_plan(instance(one), 8, None, 2).iterations for one in (LCL, CASE_STUDY)] == [1_728, 1_920_000]
    assert AnnealingPlan(2_000_000, 0.3, (Move.SWAP,)) == PUBLISHED
