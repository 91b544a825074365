"""The exact engine, each of its searches by itself, and the beam against a plain exhaustive search that shares no code with them.

`SASSAN_MAKESPAN_CASES` says how many instances; when it is not set 300 in a full run, else a quarter of them.
The campaign of a release takes 20,000.
"""

import os
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from makespan_instances import Instance, instance
from makespan_reference import longest as reference
from sassan.makespan.beam.engine import Beam
from sassan.makespan.engine import Budget
from sassan.makespan.exact.engine import Exact
from sassan.makespan.exact.proof import longest
from sassan.makespan.exact.tasks import Dive, End, letters_path, packable, relaxed
from sassan.makespan.schedule import check
from sassan.makespan.states import PLAIN, ProblemLayout, count_letter_states, count_states, layout, schedule_of, start, team_sizes
from sassan.makespan.timed.engines import run_exact

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("SASSAN_MAKESPAN_CASES", part(300, of=4)))
FOREVER = Budget()


@cache
def solved() -> tuple[tuple[Instance, int], ...]:
    random = Random(20_131_216)
    drawn = [instance(random) for _ in range(CASES)]
    return tuple((one, reference(one.strings, one.capacity, one.issue)) for one in drawn)


def test_the_engine_finds_the_longest_schedule() -> None:
    for one, slots in solved():
        found = Exact().run(one.problem, FOREVER, lambda _: None)
        assert (found.lower, found.upper) == (slots, slots), one


def test_the_search_of_instances_with_intervals_finds_it_without_them_too() -> None:
    for one, slots in solved():
        if count_letter_states(team_sizes(one.problem)) <= PLAIN:
            found = run_exact(one.problem, FOREVER, lambda _: None)
            assert (found.lower, found.upper) == (slots, slots), one


def test_the_table_of_letters_holds_the_longest_schedule() -> None:
    for one, slots in solved():
        cut = layout(one.problem, "letters")
        path = letters_path(cut, FOREVER)
        assert path is not None
        schedule = schedule_of(one.problem, cut, path)
        check(one.problem, schedule)
        assert schedule.makespan == slots, one


def test_no_schedule_is_longer_than_the_sums_allow() -> None:
    for one, slots in solved():
        assert bound(layout(one.problem, "runs")) >= slots, one


def test_diving_for_ever_smaller_goals_ends_at_the_longest_schedule() -> None:
    for one, slots in solved():
        assert dived(one) == slots, one


def test_the_beam_finds_no_more_than_there_is() -> None:
    for one, slots in solved():
        found = Beam().run(one.problem, FOREVER, lambda _: None)
        assert (found.lower or 0) <= slots, one


def bound(runs: ProblemLayout) -> int:
    found = relaxed(runs, count_states(runs), FOREVER)
    assert found is not None
    return found.upper


def dived(one: Instance) -> int:
    runs, letters = layout(one.problem, "runs"), layout(one.problem, "letters")
    assert packable(runs)
    known = relaxed(runs, count_states(runs), FOREVER)
    assert known is not None
    dive = Dive(letters, known, 1 << 26)
    for goal in range(known.upper, -1, -1):
        ended, states = dive.reach(goal, FOREVER)
        if ended is End.FOUND:
            schedule = schedule_of(one.problem, letters, states)
            check(one.problem, schedule)
            assert schedule.makespan >= goal
            return schedule.makespan
        assert ended is End.REFUTED
    raise AssertionError("no goal was reached")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_twins_agree_on_letters_and_on_sums(seed: int) -> None:
    one = instance(Random(seed))
    letters, runs = layout(one.problem, "letters"), layout(one.problem, "runs")
    path = letters_path(letters, FOREVER)
    assert path is not None
    assert len(path) - 1 == longest(letters)[start(letters)]
    assert bound(runs) == longest(runs)[start(runs)]


def test_values_of_more_than_a_byte() -> None:
    problem = Instance(("LLCLL",) * 64, {"L": 1, "C": 1}, None).problem
    assert bound(layout(problem, "runs")) == 257


@pytest.mark.parametrize("warps", [3, 4])
def test_remembered_bounds_outgrow_their_first_table(warps: int) -> None:
    one = Instance(("LLLLLCCCCCCCCCLLCCCCCCCCC",) * warps, {"L": 1, "C": 4}, 4)
    assert dived(one) == {3: 37, 4: 45}[warps]
