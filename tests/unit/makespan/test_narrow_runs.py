"""Runs of which one letter runs per slot: sums of work lose nothing of them, and the search for a goal keeps one order of their warps."""

from random import Random

import pytest

from budget import FULL
from makespan_reference import longest as reference
from sassan.makespan.engine import Budget
from sassan.makespan.exact.tasks import Dive, End, relaxed
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.states import count_states, layout, schedule_of
from unit.makespan.cases import case

pytestmark = pytest.mark.slow


def by_sums(problem: Problem) -> int:
    runs = layout(problem, "runs")
    bound = relaxed(runs, count_states(runs), Budget())
    assert bound is not None
    return bound.upper


def drawn(random: Random, capacity: dict[str, int]) -> tuple[list[str], int | None]:
    """Return strings with long runs, and an issue limit."""
    kinds = random.choice((1, 1, 2))
    strings = ["".join(random.choice("LC") * random.randint(1, 3) for _ in range(random.randint(1, 3))) for _ in range(kinds)]
    warps = random.randint(2, 4)
    return [strings[warp % kinds] for warp in range(warps)], random.choice((None, None, *range(1, sum(capacity.values()) + 1)))


def test_where_one_letter_of_each_run_runs_per_slot_the_sums_are_the_longest_makespan() -> None:
    random = Random(1)
    for _ in range(60):
        strings, _ = drawn(random, {"L": 1, "C": 1})
        issue = random.choice((None, 1, 2))
        assert by_sums(case(*strings, issue=issue, L=1, C=1)) == reference(tuple(strings), {"L": 1, "C": 1}, issue), strings


def test_the_search_for_a_goal_finds_the_longest_and_refutes_what_is_longer() -> None:
    random, loose = Random(2), 0
    for _ in range(60):
        capacity = {"L": random.choice((1, 1, 2)), "C": random.choice((1, 2, 3))}
        strings, issue = drawn(random, capacity)
        problem = case(*strings, issue=issue, **capacity)
        runs, letters = layout(problem, "runs"), layout(problem, "letters")
        bound = relaxed(runs, count_states(runs), Budget())
        assert bound is not None
        slots = reference(tuple(strings), capacity, issue)
        dive = Dive(letters, bound, 1 << 28)
        for goal in range(bound.upper, slots, -1):
            assert dive.reach(goal, Budget())[0] is End.REFUTED, (strings, capacity, issue, goal)
        loose += bound.upper > slots
        ended, states = dive.reach(slots, Budget())
        assert ended is End.FOUND
        schedule = schedule_of(problem, letters, states)
        check(problem, schedule)
        assert schedule.makespan == slots
    assert loose > 5


@pytest.mark.parametrize(
    ("strings", "capacity", "kind", "slots"),
    [
        # A byte per state serves more than 255 slots, unless units beside the busiest one take as many, one after the other.
        (["LLCLL"] * 66, {"L": 1, "C": 1}, "uint8", 265),
        (["L400CSDT"], {"L": 1, "C": 1, "S": 1, "D": 1, "T": 1}, "uint8", 404),
        *[(["L300C299"], {"L": 1, "C": 1}, "uint16", 599)] * FULL,  # compiles the search anew, for ten seconds
    ],
)
def test_of_a_longest_path_a_byte_is_kept_where_that_is_enough(strings: list[str], capacity: dict[str, int], kind: str, slots: int) -> None:
    problem = case(*strings, **capacity)
    runs = layout(problem, "runs")
    bound = relaxed(runs, count_states(runs), Budget())
    assert bound is not None
    assert (bound.value.dtype, bound.upper) == (kind, slots)
    ended, states = Dive(layout(problem, "letters"), bound, 1 << 28).reach(slots, Budget())
    assert ended is End.FOUND
    assert schedule_of(problem, layout(problem, "letters"), states).makespan == slots


def test_a_byte_is_not_kept_where_it_is_not_enough() -> None:
    runs = layout(case("L300C299", L=1, C=1), "runs")
    assert relaxed(runs, count_states(runs), Budget(memory=count_states(runs))) is None  # two bytes of each state do not fit


def test_a_table_that_does_not_fit_the_memory_is_not_begun() -> None:
    runs = layout(case("LLCLL", warps=10, L=1, C=1), "runs")
    assert relaxed(runs, count_states(runs), Budget(memory=1000)) is None
