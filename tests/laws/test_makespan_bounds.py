"""No schedule is shorter than the lower bound or longer than an upper bound: on random small instances, by exhaustive search.

`SASSAN_MAKESPAN_CASES` says how many instances; when it is not set 300 in a full run, else a quarter of them.
The campaign of a release takes 20,000.
"""

import os
from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from budget import part
from makespan_instances import Instance, instance, slots_left
from makespan_reference import Left, legal_sets, longest, solver, step, worst_schedule
from sassan.makespan.bounds.overlap import overlap
from sassan.makespan.bounds.pool import cuts, finest, pooled
from sassan.makespan.bounds.search import refuted
from sassan.makespan.bounds.waiting import busy_units, waiting_slots
from sassan.makespan.schedule import Schedule, check

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("SASSAN_MAKESPAN_CASES", part(300, of=4)))
STATES = 3_000


@cache
def solved() -> tuple[tuple[Instance, int], ...]:
    random = Random(20_111_215)
    given = [instance(random) for _ in range(CASES)]
    return tuple((one, longest(one.strings, one.capacity, one.issue)) for one in given)


def test_the_longest_schedule_is_accepted() -> None:
    for one, slots in solved()[:100]:
        schedule = Schedule(worst_schedule(one.strings, one.capacity, one.issue))
        check(one.problem, schedule)
        assert schedule.makespan == slots, one


def test_every_schedule_takes_the_slots_of_its_busiest_part() -> None:
    for one, slots in solved():
        assert busy_units(one.problem) <= slots, one


def test_no_schedule_is_longer_than_the_waiting_slots_allow() -> None:
    for one, slots in solved():
        assert slots <= waiting_slots(one.problem), one


def test_no_schedule_wastes_less_than_its_pooled_stretches() -> None:
    for one, slots in solved():
        for cut in cuts(one.problem, STATES):
            table = pooled(cut)
            assert table is not None
            assert slots <= table.bound, (one, cut)


def test_the_cut_into_single_letters_is_the_longest_schedule_itself() -> None:
    for one, slots in solved():
        for cut in cuts(one.problem, STATES):
            if cut.exact:
                table = pooled(cut)
                assert table is not None
                assert slots == table.bound, one


def test_the_search_over_single_letters_refutes_all_but_the_longest_schedule() -> None:
    for one, slots in solved()[::3]:
        fine, runs = finest(one.problem, whole=False), next(cuts(one.problem, STATES), None)
        table = None if runs is None else pooled(runs)
        if fine is not None and table is not None:
            assert refuted(fine, table, slots + 1) is True, one
            assert refuted(fine, table, slots) is False, one


@pytest.mark.parametrize(("pieces", "share"), [(1, 2), (2, 4), (3, 20)])
def test_no_schedule_is_longer_than_the_overlap_allows(pieces: int, share: int) -> None:
    for one, slots in solved()[::share]:
        bound = overlap(one.problem, pieces)
        assert bound is None or slots <= bound, one


def reachable(one: Instance) -> Iterator[Left]:
    seen = {one.strings}
    todo = [one.strings]
    while todo:
        left = todo.pop()
        yield left
        for chosen in legal_sets(left, one.capacity, one.issue):
            after = tuple(sorted(step(left, chosen)))
            if after not in seen:
                seen.add(after)
                todo.append(after)


def test_nothing_takes_longer_from_a_state_than_its_pool_allows() -> None:
    for one, _ in solved()[:100]:
        slots = solver(one.capacity, one.issue)
        for cut in cuts(one.problem, 500):
            table = pooled(cut)
            assert table is not None
            for left in reachable(one):
                assert slots(left) <= slots_left(table, [sum(cut.length) - len(rest) for rest in left]), (one, left)
