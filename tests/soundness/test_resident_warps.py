"""Bounds of the warps of an SM and of a grid against the longest of all executions: random kernels, with and without block barriers."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Protocol

import pytest

from budget import part
from sassan.ipet.sm.bounds import Optima, grid_bound, resident_bound
from sassan.ipet.sm.residency import Grid, Residents
from sassan.ipet.sm.shares import of_letters
from sassan.machine import Multiprocessor
from soundness.resident_warps import Kernel, Search, counts, exact, kernel, optima

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

ONE_EACH = (("L", 1), ("C", 1), ("D", 1))
LAUNCHES = ((1, 2), (1, 3), (2, 1), (2, 2), (3, 1))
"""Blocks, and warps of a block."""


class Alone(Protocol):
    """How long paths take alone."""

    def __call__(self, one: Kernel, /, *, segments: bool) -> Optima: ...


def without_rest(one: Kernel, /, *, segments: bool) -> Optima:
    """Return the optima of a model for which a warp ends with its last instruction, whatever unit that still holds."""
    return exact(one, segments=segments, rest=False)


def residents(count: int, seed: int, *, barriers: bool, alone: Alone = optima) -> Iterator[tuple[int, int, int]]:
    """Yield (longest execution, bound, bound that knows segments) of random kernels whose blocks start together."""
    random = Random(seed)
    for _ in range(count):
        one = kernel(random, random.randint(2, 4), 3 if barriers else 4, barriers=barriers)
        blocks, warps = random.choice(LAUNCHES)
        plain, segments = (
            resident_bound(replace(alone(one, segments=known), barriers=barriers), Residents(blocks * warps, warps))
            for known in (False, barriers)
        )
        yield Search(one).residents(blocks, warps), plain, segments


def grids(count: int, seed: int, *, barriers: bool, alone: Alone = optima) -> Iterator[tuple[int, int, int]]:
    """Yield the same of random grids."""
    random = Random(seed)
    for _ in range(count):
        one = kernel(random, random.randint(1, 2), 3, barriers=barriers)
        warps, sms, places = random.choice((1, 1, 2)), random.choice((1, 1, 2)), random.choice((1, 2, 2))
        blocks = random.randint(1, 5 if sms * places * warps <= 2 else 4)
        of = Grid(blocks, warps, sms, places)
        plain, segments = (grid_bound(replace(alone(one, segments=known), barriers=barriers), of) for known in (False, barriers))
        yield Search(one).grid(blocks, warps, sms, places), plain, segments


def average(found: list[tuple[int, int, int]]) -> float:
    """Return how many times the longest execution the better bound is."""
    return sum(min(bounds) / longest for longest, *bounds in found) / len(found)


@pytest.mark.parametrize("barriers", [False, True], ids=["without-barriers", "with-barriers"])
def test_no_execution_of_a_random_kernel_takes_longer_than_the_bounds(barriers: bool) -> None:
    found = list(residents(part(2500, of=20), 7, barriers=barriers))
    assert [one for one in found if one[0] > min(one[1:])] == []
    assert average(found) < 1.2


@pytest.mark.parametrize("barriers", [False, True], ids=["without-barriers", "with-barriers"])
def test_no_execution_of_a_random_grid_takes_longer_than_the_bounds(barriers: bool) -> None:
    found = list(grids(part(500, of=2), 8, barriers=barriers))
    assert [one for one in found if one[0] > min(one[1:])] == []
    assert average(found) < 1.25


@pytest.mark.parametrize("barriers", [False, True], ids=["without-barriers", "with-barriers"])
def test_nor_than_the_bounds_of_a_model_that_knows_how_long_a_warp_takes_its_units(barriers: bool) -> None:
    together, one_by_one = (
        residents(part(1500, of=20), 17, barriers=barriers, alone=exact),
        grids(part(300, of=20), 18, barriers=barriers, alone=exact),
    )
    assert [one for one in (*together, *one_by_one) if one[0] > min(one[1:])] == []


@pytest.mark.parametrize("barriers", [False, True], ids=["without-barriers", "with-barriers"])
def test_a_model_that_charges_a_unit_that_outlives_its_warp_to_nobody_is_noticed(barriers: bool) -> None:
    assert any(one[0] > min(one[1:]) for one in residents(100, 17, barriers=barriers, alone=without_rest))
    assert any(one[0] > min(one[1:]) for one in grids(100, 18, barriers=barriers, alone=without_rest))


def partitions(count: int, seed: int) -> list[tuple[int, int]]:
    """Return (longest execution, bound) of random kernels on an SM with two partitions, whose warps alternate between them."""
    random, found = Random(seed), list[tuple[int, int]]()
    for _ in range(count):
        part, shared = random.choice((1, 2, -2)), random.choice((1, 2, -2, -4))
        paths = tuple(sorted({"".join(random.choices("LC.", k=random.randint(1, 4))) for _ in range(random.randint(1, 4))}))
        lanes = 2 * (32 * part if part > 0 else 32 // -part)
        sm = Multiprocessor(
            "9.9", lanes, lanes, 32, 32, 32 * shared if shared > 0 else 32 // -shared, 2, 8, 64, 32, 65536, (48, 48), (), "a test"
        )
        shares = [of_letters(sm, counts(path), partition=True) for path in paths]
        alone = max(len(path) + share.self_stall for path, share in zip(paths, shares, strict=True))
        best = Optima(alone, max(share.scheduler_stall for share in shares), max(share.sm_stall for share in shares))
        warps = random.randint(1, 4)
        one = Kernel(paths, (("L", shared), ("C", part), ("E", part)), 99)
        found.append((Search(one).partitions(warps), resident_bound(best, Residents(warps), 2)))
    return found


def test_no_execution_on_a_random_partitioned_sm_takes_longer_than_the_bound_of_the_partition_model() -> None:
    found = partitions(part(1000), 9)
    assert [one for one in found if one[0] > one[1]] == []
    assert sum(bound / longest for longest, bound in found) / len(found) < 1.25


@pytest.mark.parametrize(
    ("path", "warps", "longest"), [("LCL", 4, 9), ("LCCL", 3, 8), ("LLCL", 4, 13), ("LCLCL", 3, 11), ("CCLCC", 1, 5)], ids=str
)
def test_the_search_finds_the_vectors_of_the_makespan_page(path: str, warps: int, longest: int) -> None:
    assert Search(Kernel((path,), ONE_EACH, 8)).residents(warps, 1) == longest


def test_the_search_knows_that_a_barrier_makes_warps_of_a_block_wait() -> None:
    one = Kernel(("CCCCB", "BCCCC"), (("L", 1), ("C", 4), ("D", 1)), 8)
    assert (Search(one).residents(1, 2), Search(one).residents(2, 1)) == (8, 4)


def test_waves_times_the_bound_of_a_full_sm_is_no_bound_of_a_grid() -> None:
    # docs/concepts/time.md: LCL, one unit of each, two blocks of one warp resident, four blocks: 9 slots, and two waves of 4.
    search = Search(Kernel(("LCL",), ONE_EACH, 8))
    assert (search.residents(2, 1), search.grid(4, 1, 1, 2)) == (4, 9)


def test_with_barriers_the_bound_without_them_would_be_wrong() -> None:
    one = Kernel(("CCCCB", "BCCCC"), (("L", 1), ("C", 4), ("D", 1)), 8)
    wrong, right = (resident_bound(replace(optima(one, segments=False), barriers=barriers), Residents(2, 2)) for barriers in (False, True))
    assert (wrong, right) == (5, 8)


def test_more_sms_never_raise_the_bound_of_a_grid() -> None:
    one = optima(Kernel(("LCL", "CCCCL"), ONE_EACH, 2), segments=False)
    bounds = [grid_bound(one, Grid(40, 2, sms, 4)) for sms in range(1, 12)]
    assert bounds == sorted(bounds, reverse=True)
