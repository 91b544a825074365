"""Intervals, latencies and barriers: bounds, searches and the validator against an exhaustive search that shares no code with them.

`SASSAN_MAKESPAN_CASES` says how many instances; when it is not set 300 in a full run, else a quarter of them.
`scripts/check_makespan` is the long run.
"""

import os
from contextlib import suppress
from functools import cache
from itertools import combinations
from random import Random

import pytest

from budget import FULL, part, some
from makespan_reference import BARRIER, Busy, Times
from makespan_timed import TimedInstance, timed_instance
from sassan.errors import SelfCheckError
from sassan.makespan.anneal.engine import Anneal
from sassan.makespan.anneal.plain import AnnealingPlan, Move
from sassan.makespan.bounds.engine import candidates
from sassan.makespan.bounds.waiting import busy_units
from sassan.makespan.engine import Budget
from sassan.makespan.engines import load
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.start import Start, construct, instance, start
from sassan.makespan.timed.exact import search
from sassan.makespan.timed.states import TimedStates

CASES = int(os.environ.get("SASSAN_MAKESPAN_CASES", part(300, of=4)))
Rows = tuple[tuple[int, ...], ...]


@cache
def solved() -> tuple[tuple[TimedInstance, int], ...]:
    random = Random(1124)
    given = [timed_instance(random) for _ in range(CASES)]
    return tuple((one, one.longest) for one in given)


def test_the_instances_have_all_that_the_model_has() -> None:
    problems = [one.problem for one, _ in solved()]
    assert sum(not problem.one_slot for problem in problems) > CASES // 2
    for name in ("interval", "latency", "blocks", "issue"):
        assert sum(bool(getattr(problem, name)) for problem in problems) > CASES // 6


def test_no_schedule_is_longer_than_a_bound_or_shorter_than_its_busiest_part() -> None:
    for one, slots in solved():
        assert busy_units(one.problem) <= slots, one
        for name, bound in candidates(one.problem, lambda: False):
            assert slots <= bound, (name, one)


@pytest.mark.slow
def test_the_exact_engine_finds_the_longest_and_the_beam_none_that_is_longer() -> None:
    for one, slots in solved():
        result = load("exact").run(one.problem, Budget(), lambda _: None)
        assert (result.lower, result.upper) == (slots, slots), one
        found = load("beam").run(one.problem, Budget(), lambda _: None).lower
        assert found is not None
        assert found <= slots, one


@pytest.mark.parametrize("known", [-1, 0, 1])
def test_a_search_finds_what_is_longer_than_what_is_known_and_nothing_else(known: int) -> None:
    for one, slots in solved():
        if not one.problem.one_slot:
            states = TimedStates(one.problem)
            searched = search(states, slots + known, 1 << 30, lambda: False)
            assert searched.upper == max(slots, slots + known), one
            assert (searched.choices is not None) == (known < 0), one
            assert searched.choices is None or states.schedule(searched.choices).makespan == slots


def test_a_search_that_ends_early_still_bounds() -> None:
    for one, slots in solved()[::5]:
        if not one.problem.one_slot:
            looks = iter([False] * 1)
            assert search(TimedStates(one.problem), 0, 1 << 30, lambda looks=looks: next(looks, True)).upper >= slots
            assert search(TimedStates(one.problem), 0, 5_000, lambda: False).upper >= slots, one


def test_from_no_state_a_schedule_is_longer_than_the_bound() -> None:
    for one, _ in solved()[::3]:
        if one.problem.one_slot:
            continue
        states = TimedStates(one.problem)
        nexts = {}
        todo = [states.start]
        while todo:
            state = todo.pop()
            if state not in nexts:
                nexts[state] = [states.after(state, choice) for choice in states.choices(state)]
                todo += [after for after, slots in nexts[state] if slots]
        longest: dict[object, int] = {}
        for state in sorted(nexts, key=states.work):
            longest[state] = max(longest[after] + slots if slots else 0 for after, slots in nexts[state])
            assert longest[state] <= states.bound(state), (one, state)


def test_every_string_gives_a_schedule_and_every_schedule_has_a_string() -> None:
    random = Random(7)
    for one, _ in solved()[::2]:
        if one.problem.one_slot:
            continue
        case = instance(one.problem)
        for kind in Start:
            row = list(start(case, kind))
            random.shuffle(row)
            schedule = construct(case, tuple(row))
            check(one.problem, schedule)
            columns = sorted((slot, warp) for warp, slots in enumerate(schedule.slots) for slot in slots)
            assert construct(case, tuple(warp for _, warp in columns)) == schedule, one


def test_annealing_finds_no_schedule_that_is_longer_and_most_longest() -> None:
    few = [(one, slots) for one, slots in solved()[: part(80, of=1)] if not one.problem.one_slot]
    chains = Anneal((Start.ROUND_ROBIN, Start.RANDOM), AnnealingPlan(150, 2.5, (Move.INSERT, Move.SWAP)))
    lower = [chains.run(one.problem, Budget(), lambda _: None).lower for one, _ in few]
    assert all(found is not None and found <= slots for found, (_, slots) in zip(lower, few, strict=True))
    assert sum(found == slots for found, (_, slots) in zip(lower, few, strict=True)) > len(few) * 0.8


def legal(one: TimedInstance, schedule: Schedule) -> bool:
    """Replay a schedule slot by slot with the reference: in each, one of the sets that the model allows begins."""
    times: Times = one.times
    blocks = [tuple(Busy(rest) for rest in one.strings[first : first + one.size]) for first in range(0, len(one.strings), one.size)]
    warps = unordered(blocks)
    for slot in range(schedule.makespan):
        chosen = tuple(warp for warp, row in enumerate(schedule.slots) if slot in row)
        if not any(warp.left.strip(BARRIER) or warp.slots for warp in warps) or chosen not in set(times.legal(warps)):
            return False
        moved = [times.slot(warp, begins=index in chosen) for index, warp in enumerate(warps)]
        warps = unordered([tuple(moved[first : first + one.size]) for first in range(0, len(moved), one.size)])
    return not any(warp.left.strip(BARRIER) or warp.slots for warp in warps)


def unordered(blocks: list[tuple[Busy, ...]]) -> tuple[Busy, ...]:
    """Return the warps of all blocks, in their order, with every barrier passed at which all of a block wait."""
    row: list[Busy] = []
    for block in blocks:
        while any(warp.left for warp in block) and all(not warp.slots and warp.left[:1] in {"", BARRIER} for warp in block):
            block = tuple(Busy(warp.left[1:], 0, warp.unit, warp.held) for warp in block)  # noqa: PLW2901 - until none opens
        row += block
    return tuple(row)


def accepted(one: TimedInstance, schedule: Schedule) -> bool:
    with suppress(SelfCheckError):
        check(one.problem, schedule)
        return True
    return False


@pytest.mark.slow  # few draws have no mutant that is accepted
def test_the_validator_accepts_what_the_model_allows_and_refuses_every_other_mutant() -> None:
    random = Random(5)
    verdicts: list[bool] = []
    for one, _ in some(solved()[::2]):
        schedule = load("beam").run(one.problem, Budget(), lambda _: None).schedule
        assert schedule is not None
        if one.problem.one_slot:
            continue
        assert legal(one, schedule), one
        mutants = [changed for changed in mutants_of(schedule.slots) if changed != schedule.slots]
        for rows in random.sample(mutants, min(len(mutants), 40)):
            for end in {schedule.end, (schedule.end or 0) + 1, max((row[-1] + 1 for row in rows if row), default=0)}:
                mutant = Schedule(rows, end)
                verdict = accepted(one, mutant)
                in_order = all(list(row) == sorted(set(row)) and row[:1] >= (0,)[: len(row)] for row in rows)
                assert verdict == (in_order and legal(one, mutant)), (one, mutant)
                verdicts.append(verdict)
    assert verdicts.count(False) > (1000 if FULL else 500)
    assert verdicts.count(True) > (10 if FULL else 5)


def mutants_of(rows: Rows) -> list[Rows]:
    """Return the schedules with one instruction moved, or two exchanged."""
    places = [(warp, index) for warp, row in enumerate(rows) for index in range(len(row))]
    slots = range(-1, max((row[-1] for row in rows if row), default=0) + 3)
    moved = [with_slots(rows, {place: slot}) for place in places for slot in slots]
    return moved + [with_slots(rows, {(a, i): rows[b][j], (b, j): rows[a][i]}) for (a, i), (b, j) in combinations(places, 2)]


def with_slots(rows: Rows, slots: dict[tuple[int, int], int]) -> Rows:
    return tuple(tuple(slots.get((warp, index), slot) for index, slot in enumerate(row)) for warp, row in enumerate(rows))
