"""The bound for W warps against the longest schedule, found by trying every one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import floor
from random import Random

import pytest

from sassan.alphabet import Letter
from sassan.errors import UsageError
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.sm_bound import _own, occupancy, path_bound, sm_bound
from sassan.ipet.wcet import problem
from sassan.machine import Multiprocessor, load
from sassan.timing import Unit
from unit.ipet.brute import Op, graph


def machine(load_lanes: int, compute_lanes: int, issue: int) -> Multiprocessor:
    return Multiprocessor("0.0", compute_lanes, compute_lanes, 32, 32, load_lanes, issue, 1, 64, 32, 65536, (48, 48), (), "a test")


def opened(paths: tuple[str, ...], at: tuple[int, ...]) -> tuple[int, ...]:
    """Let the warps past a barrier `B` at which every warp that is not done stands."""
    waiting = [place < len(path) and path[place] == "B" for place, path in zip(at, paths, strict=True)]
    done = [place == len(path) for place, path in zip(at, paths, strict=True)]
    if not any(waiting) or not all(one or other for one, other in zip(waiting, done, strict=True)):
        return at
    return opened(paths, tuple(place + wait for place, wait in zip(at, waiting, strict=True)))


def choices(paths: tuple[str, ...], at: tuple[int, ...], held: tuple[str, ...], sm: Multiprocessor) -> Iterator[tuple[int, ...]]:
    """Every maximal set of warps that may run in a slot."""
    ready = [warp for warp, path in enumerate(paths) if at[warp] < len(path) and path[at[warp]] != "B"]

    def fits(some: tuple[int, ...]) -> bool:
        units = [*(paths[warp][at[warp]] for warp in some), *held]
        return len(some) <= sm.issue and all(units.count(unit) <= max(1, sm.capacity(Letter(unit))) for unit in set(units))

    for size in range(len(ready) + 1):
        for some in combinations(ready, size):
            if fits(some) and not any(fits((*some, warp)) for warp in ready if warp not in some):
                yield some


def longest(paths: tuple[str, ...], sm: Multiprocessor) -> int:
    """The longest work-conserving schedule of one warp per path; a unit of capacity 1/n is held for n slots."""

    @cache
    def rest(at: tuple[int, ...], busy: tuple[tuple[str, int], ...]) -> int:
        at = opened(paths, at)
        if all(place == len(path) for place, path in zip(at, paths, strict=True)):
            return 0
        best = 0
        for some in choices(paths, at, tuple(unit for unit, _ in busy), sm):
            begun = [(unit, max(1, int(1 / sm.capacity(Letter(unit))))) for unit in (paths[warp][at[warp]] for warp in some)]
            after = tuple(sorted((unit, left - 1) for unit, left in (*busy, *begun) if left > 1))
            best = max(best, 1 + rest(tuple(place + (warp in some) for warp, place in enumerate(at)), after))
        return best

    return rest((0,) * len(paths), ())


def counts(path: str) -> dict[Letter, int]:
    return {letter: path.count(letter.value) for letter in Letter}


def length(path: str) -> int:
    return len(path.replace("B", ""))


MACHINES = [machine(32, 32, 2), machine(32, 64, 3), machine(32, 64, 1), machine(16, 64, 4), machine(8, 32, 4), machine(64, 128, 8)]


def instances(letters: str, *, barriers: bool) -> list[tuple[tuple[str, ...], Multiprocessor]]:
    random = Random(letters)
    found: list[tuple[tuple[str, ...], Multiprocessor]] = []
    for sm in MACHINES:
        for _ in range(12):
            warps = random.choice((2, 3))
            marks = random.randint(0, 2) if barriers else 0
            pieces = [["".join(random.choices(letters, k=random.randint(0, 2))) for _ in range(marks + 1)] for _ in range(warps)]
            found.append((tuple("B".join(row) or letters[0] for row in pieces), sm))
    return found


def bound(paths: tuple[str, ...], sm: Multiprocessor, *, barriers: bool) -> int:
    """The bound over a choice of paths: every warp may take any of them, so each term is taken at its worst."""
    alone = max(length(path) + _own(sm, counts(path)) for path in paths)
    others = max(occupancy(sm, counts(path)) for path in paths)
    return floor(len(paths) * alone) if barriers else floor(alone) + floor((len(paths) - 1) * others)


def test_no_schedule_of_warps_on_different_paths_is_longer_than_the_bound() -> None:
    assert [(paths, sm) for paths, sm in instances("LC", barriers=False) if longest(paths, sm) > bound(paths, sm, barriers=False)] == []


def test_no_schedule_with_barriers_is_longer_than_the_serial_bound() -> None:
    assert [(paths, sm) for paths, sm in instances("LC", barriers=True) if longest(paths, sm) > bound(paths, sm, barriers=True)] == []


def test_with_barriers_the_bound_without_barriers_would_be_wrong() -> None:
    paths, sm = ("CCCCB", "BCCCC"), machine(32, 128, 8)
    assert (longest(paths, sm), bound(paths, sm, barriers=False), bound(paths, sm, barriers=True)) == (8, 5, 8)


@pytest.mark.parametrize(("path", "warps", "longest_known"), [("LCL", 4, 9), ("CCCC", 8, 11), ("LCCL", 3, 8), ("LLCLL", 3, 13)], ids=str)
def test_the_vectors_of_the_makespan_page_are_not_above_the_bound(path: str, warps: int, longest_known: int) -> None:
    sm = machine(32, 128, 8) if path == "CCCC" else machine(32, 32, 8)
    assert path_bound(len(path), counts(path), warps, sm, barriers=False) >= longest_known


def test_the_bound_of_one_path_is_no_bound_of_the_kernel() -> None:
    # timing.md: CCCC or LLL, sigma_L = 1, sigma_C = 4, W = 8: 11 for the path that is worst alone, 24 in truth.
    cfg = graph([Op("bra", (5,), some=True, uniform=True), Op("op"), Op("op"), Op("op"), Op("exit"), Op("op"), Op("op"), Op("exit")])
    letters = [
        dict.fromkeys(Letter, 0) | ({Letter.LOAD: 3} if node.start == 40 else {Letter.COMPUTE: len(node.instructions)})
        for node in cfg.nodes
    ]
    whole = sm_bound(problem(cfg, Unit(), bounds_of(cfg)), letters, 8, machine(32, 128, 8), barriers=False)
    assert whole.value is not None
    assert whole.value >= 24


def test_more_warps_than_are_resident_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        path_bound(1, counts("L"), 65, load("sm_61"), barriers=False)
    assert caught.value.code == "bad-warps"


def test_a_problem_with_gaps_has_no_bound_and_says_why() -> None:
    cfg = graph([Op("op"), Op("bra", (0,), some=True), Op("exit")])
    result = sm_bound(problem(cfg, Unit(), bounds_of(cfg)), [counts("L")] * len(cfg.nodes), 4, load("sm_61"), barriers=False)
    assert (result.value, [gap.code for gap in result.gaps]) == (None, ["unbounded-loop"])
