"""Schedules of machine code in cycles: the validator against a replay, and the bound of many warps against every schedule."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest

from budget import part
from sassan.makespan.cycles.code import Core, ResidentCode, TimedStep
from sassan.makespan.cycles.schedules import longest
from sassan.makespan.cycles.validator import refusal

BARRIERS = 2
Warp = tuple[int, int, tuple[int, ...], tuple[int, ...], int]
"""Place on the path, cycle from which it may issue as far as stalls go, when barriers are clear, when units are free to it, its end."""
State = tuple[tuple[Warp, ...], tuple[tuple[int, ...], ...], int]


def step(random: Random, units: int, *, opens: bool = False) -> TimedStep:
    delay, interval = random.choice((1, 1, 2, 4)), random.choice((1, 1, 2, 3))
    latency, pipeline = random.randint(1, 6), random.choice((0, 0, 2, 3))
    sets = tuple((barrier, latency) for barrier in range(BARRIERS) if random.random() < 0.3)
    own = max(interval, pipeline)
    ends, drains = max(latency, own), opens or random.random() < 0.1
    return TimedStep(delay, random.randrange(1 << BARRIERS), sets, drains, ends, random.randrange(units), interval, own, pipeline, opens)


def code(random: Random, warps: int, length: int, *, barriers: bool) -> ResidentCode:
    units = random.randint(1, 2)
    steps = tuple(step(random, units, opens=barriers and random.random() < 0.3) for _ in range(length))
    core = Core(tuple(random.randint(1, 2) for _ in range(units)), random.randint(1, 2))
    path = [random.randrange(length) for _ in range(length)]
    return ResidentCode(steps, tuple(path), core, warps, random.randint(1, warps) if barriers else warps)


def codes(count: int, seed: int, *, warps: int = 3, length: int = 4) -> Iterator[ResidentCode]:
    random = Random(seed)
    for number in range(count):
        yield code(random, random.randint(1, warps), random.randint(1, length), barriers=number % 2 == 1)


def begin(one: ResidentCode) -> State:
    warp = (0, 0, (0,) * BARRIERS, (0,) * len(one.core.places), 0)
    return (warp,) * one.warps, ((),) * len(one.core.places), 0


def ready(one: ResidentCode, warp: Warp, now: int) -> bool:
    place, may, clear, own, ends = warp
    if place == len(one.path) or may > now:
        return False
    of = one.steps[one.path[place]]
    waits = (clear[barrier] for barrier in range(BARRIERS) if of.waits >> barrier & 1)
    return own[of.unit] <= now and all(at <= now for at in waits) and not (of.drains and ends > now)


def after(one: ResidentCode, state: State, chosen: tuple[int, ...], now: int) -> State | None:
    """Return the state with these warps' instructions issued, None where units, pipeline or issue slots do not take them."""
    warps, held, pipeline = list(state[0]), [list(until) for until in state[1]], state[2]
    if len(chosen) > one.core.issue:
        return None
    for index in chosen:
        place, _, clear, own, ends = warps[index]
        of = one.steps[one.path[place]]
        held[of.unit] = [until for until in held[of.unit] if until > now]
        if len(held[of.unit]) == one.core.places[of.unit] or (of.pipeline and pipeline > now):
            return None
        held[of.unit].append(now + of.interval)
        pipeline = now + of.pipeline if of.pipeline else pipeline
        set_now = dict(of.sets)
        clear = tuple(max(at, now + set_now.get(barrier, 0) if barrier in set_now else 0) for barrier, at in enumerate(clear))
        own = tuple(now + of.own if unit == of.unit else at for unit, at in enumerate(own))
        warps[index] = (place + 1, 1 << 30 if of.opens else now + of.delay, clear, own, max(ends, now + of.ends))
    for first in range(0, one.warps, one.block):
        block = range(first, min(first + one.block, one.warps))
        # All paths are equal: a barrier opens when all warps of the block are as far.
        places = {warps[index][0] for index in block}
        if len(places) == 1 and any(index in chosen for index in block) and one.steps[one.path[min(places) - 1]].opens:
            for index in block:
                place, _, *rest = warps[index]
                warps[index] = (place, now + one.steps[one.path[place - 1]].delay, *rest)  # type: ignore[assignment]
    return tuple(warps), tuple(tuple(sorted(until for until in unit if until > now)) for unit in held), pipeline


def nexts(one: ResidentCode, state: State, now: int) -> dict[tuple[int, ...], State]:
    """Return what may issue in a cycle, each maximal set of warps, with the state that follows."""
    may = [index for index, warp in enumerate(state[0]) if ready(one, warp, now)]
    every = {
        chosen: moved
        for count in range(len(may) + 1)
        for chosen in combinations(may, count)
        if (moved := after(one, state, chosen, now)) is not None
    }
    return {chosen: moved for chosen, moved in every.items() if not any(set(chosen) < set(other) for other in every)}


def legal(one: ResidentCode, issued: np.ndarray, cycles: int) -> bool:
    """Replay a schedule cycle by cycle; instructions without a stall, two of which a warp may issue in a cycle, are not in these codes."""
    state = begin(one)
    for now in range(cycles):
        chosen = tuple(warp for warp in range(one.warps) if now in issued[warp])
        possible = nexts(one, state, now)
        if chosen not in possible:
            return False
        state = possible[chosen]
        if any(issued[warp, place - 1] > now for warp, (place, *_) in enumerate(state[0]) if place):
            return False
    return all(place == len(one.path) for place, *_ in state[0]) and max(warp[4] for warp in state[0]) == cycles


def worst(one: ResidentCode) -> int:
    """Return the end of the longest schedule."""
    known: dict[tuple[State, int], int] = {}

    def search(state: State, now: int) -> int:
        if all(place == len(one.path) for place, *_ in state[0]):
            return max(warp[4] for warp in state[0])
        if (state, now) not in known:
            known[state, now] = max(search(moved, now + 1) for moved in nexts(one, state, now).values())
        return known[state, now]

    return search(begin(one), 0)


def bound(one: ResidentCode) -> int:
    """The bound of docs/proofs/many-warps.md: without barriers C + (W - 1) share, with them p C + (W - p) share."""
    alone = longest(replace(one, warps=1, block=1)).cycles
    share = sum(
        max(Fraction(of.interval, one.core.places[of.unit]), Fraction(1, one.core.issue), Fraction(of.pipeline))
        for of in (one.steps[number] for number in one.path)
    )
    block = one.block if any(one.steps[number].opens for number in one.path) else 1
    return int(block * alone + (one.warps - block) * share)


def test_no_schedule_is_longer_than_the_longest_and_that_not_longer_than_the_bound() -> None:
    met, count = 0, part(150, of=3)
    for one in codes(count, 1):
        if any(places > one.core.issue and max(of.interval for of in one.steps) > 1 for places in one.core.places):
            continue  # the proof asks for no more units than issue slots where a unit is held for several cycles
        most, found = worst(one), longest(one).cycles
        assert found <= most <= bound(one), one
        met += found == most
    assert met > 0.4 * count


def test_the_validator_refuses_what_a_replay_refuses_and_nothing_else() -> None:
    random, verdicts = Random(3), []
    for one in codes(60, 2):
        schedule = longest(one)
        assert legal(one, schedule.issued, schedule.cycles), one
        for _ in range(12):
            mutant = schedule.issued.copy()
            for _ in range(random.choice((1, 1, 2))):
                mutant[random.randrange(one.warps), random.randrange(len(one.path))] += random.choice((-2, -1, 1, 2))
            if mutant.min() < 0 or (np.diff(mutant, axis=1) <= 0).any():
                continue
            cycles = max(
                int(mutant[warp, place] + one.steps[one.path[place]].ends) for warp in range(one.warps) for place in range(len(one.path))
            )
            verdict = refusal(one, mutant, cycles) == ""
            assert verdict == legal(one, mutant, cycles), (one, mutant)
            verdicts.append(verdict)
        assert refusal(one, schedule.issued, schedule.cycles + 1)
        assert refusal(one, schedule.issued[:, :-1], schedule.cycles)
    assert verdicts.count(False) > 100
    assert verdicts.count(True) > 10


def test_a_cycle_holds_no_more_than_its_units_and_slots() -> None:
    plain = TimedStep(1, 0, (), drains=False, ends=1, unit=0, interval=1, own=1)
    one = ResidentCode((plain,), (0,), Core((2,), 2), 3, 3)
    assert refusal(one, np.array([[0], [0], [1]]), 2) == ""
    assert "more than" in refusal(one, np.array([[0], [0], [0]]), 1)
    assert "waits" in refusal(one, np.array([[0], [1], [2]]), 3)


@pytest.mark.parametrize("delay", [0, 1])
def test_a_warp_may_issue_two_instructions_in_one_cycle_where_the_first_has_no_stall(delay: int) -> None:
    plain = TimedStep(delay, 0, (), drains=False, ends=1, unit=0, interval=1, own=0)
    one = ResidentCode((plain, replace(plain, unit=1)), (0, 1), Core((1, 1), 2), 1, 1)
    assert longest(one).cycles == 1 + delay
