"""The bound of a grid with the memory of its GPU against simulated launches, and against proofs that forget something."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from budget import part
from sassan.access.traffic import Moved
from soundness.memory_launches import LAUNCH_OVERHEAD, Claim, Kernel, Outcome, block_share, claim, hold, outcomes, share
from soundness.memory_simulator import Access, Barrier, Gpu, Launch, Operation, Wait

pytestmark = pytest.mark.slow

UNLIMITED = Fraction(10**9)
GPU = Gpu(sms=1, places=1, issue=1, units=(1, 1), ticks=1, sector=1, piece=1, atomic=1)
Forgetful = Callable[[Outcome], Claim]


def test_no_launch_takes_longer_than_the_bound() -> None:
    ratios, wrong = hold(part(20_000, 160), 1)
    assert wrong == []
    assert len(ratios) >= part(20_000, 160)


@cache
def launches() -> tuple[Outcome, ...]:
    return tuple(outcomes(part(4000, 4), 12))


def with_memory(dram: int = 1, l2: int = 1) -> Forgetful:
    """Return the claim with other bandwidths: so many times that of the hardware, 0 for unlimited."""

    def changed(one: Outcome) -> Claim:
        memory = one.claim.memory
        fast = replace(memory, dram=memory.dram * dram or UNLIMITED, l2=memory.l2 * l2 or UNLIMITED)
        return replace(one.claim, memory=fast)

    return changed


def with_atomics(cycles: Callable[[Access, Gpu], int]) -> Forgetful:
    """Return the claim with other times of the atomic operations of an access."""

    def changed(one: Outcome) -> Claim:
        gpu, paths = one.kernel.gpu, zip(one.claim.moved, one.kernel.paths, strict=True)
        moved = tuple(tuple(of_access(*each, gpu) for each in zip(some, path, strict=True)) for some, path in paths)
        return replace(one.claim, moved=moved)

    def of_access(moved: Moved, operation: Operation, gpu: Gpu) -> Moved:
        return replace(moved, atomics=cycles(operation, gpu)) if isinstance(operation, Access) else moved

    return changed


def of_the_cheapest(access: Access, gpu: Gpu) -> int:
    return sum(times for _, times in access.atomics) * gpu.atomic


def of_one_word(access: Access, gpu: Gpu) -> int:
    return max((times for _, times in access.atomics), default=0) * access.operation * gpu.atomic


def without_pipeline(one: Outcome) -> Claim:
    block = one.claim.optima.block and block_share(one.kernel, pipeline=False)
    return replace(one.claim, optima=replace(one.claim.optima, scheduler_stall=share(one.kernel, pipeline=False), block=block))


def without_other_warps_of_a_block(one: Outcome) -> Claim:
    return replace(one.claim, grid=replace(one.claim.grid, block_warps=1))


def of_one_sm(one: Outcome) -> Claim:
    return replace(one.claim, blocks=-(-one.claim.blocks // one.kernel.gpu.sms))


def with_the_best_path_of_each_warp(one: Outcome) -> Claim:
    block = one.claim.optima.block and block_share(one.kernel, worst=min)
    return replace(one.claim, optima=replace(one.claim.optima, block=block))


def with_the_traffic_of_one_warp(one: Outcome) -> Claim:
    return replace(one.claim, choices=one.claim.choices[:1])


def with_relays_as_short_as_half(one: Outcome) -> Claim:
    relay = one.claim.optima.relay
    return one.claim if relay is None else replace(one.claim, optima=replace(one.claim.optima, relay=relay / 2))


def with_relays_of_one_warp(one: Outcome) -> Claim:
    chain = one.claim.optima.relay and one.claim.optima.relay - one.claim.grid.block_warps * one.claim.optima.scheduler_stall
    return one.claim if chain is None else replace(one.claim, optima=replace(one.claim.optima, relay=chain))


def without_launch(one: Outcome) -> Claim:
    return replace(one.claim, memory=replace(one.claim.memory, launch=0))


def without_what_is_written_back(one: Outcome) -> Claim:
    return replace(one.claim, moved=tuple(tuple(replace(each, written=0) for each in path) for path in one.claim.moved))


def without_what_is_filled(one: Outcome) -> Claim:
    def forgotten(each: Moved) -> Moved:
        return replace(each, fetched=0) if each.written and not each.atomics else each

    return replace(one.claim, moved=tuple(tuple(map(forgotten, path)) for path in one.claim.moved))


def without_dispatch(one: Outcome) -> Claim:
    return replace(one.claim, memory=replace(one.claim.memory, dispatch=Fraction(0)))


@pytest.mark.parametrize(
    "forgetful",
    [
        pytest.param(with_memory(dram=0), id="DRAM"),
        pytest.param(with_memory(l2=0), id="L2"),
        pytest.param(with_atomics(lambda _, __: 0), id="atomics"),
        pytest.param(with_atomics(of_the_cheapest), id="of the cheapest operation"),
        pytest.param(with_atomics(of_one_word), id="of the word with the most"),
        pytest.param(with_memory(dram=2), id="half-of-DRAM"),
        pytest.param(with_memory(l2=2), id="half-of-L2"),
        without_pipeline,
        without_other_warps_of_a_block,
        of_one_sm,
        with_the_best_path_of_each_warp,
        with_the_traffic_of_one_warp,
        with_relays_as_short_as_half,
        with_relays_of_one_warp,
        without_launch,
        without_what_is_written_back,
        without_what_is_filled,
        without_dispatch,
    ],
)
def test_a_proof_that_forgets_something_is_noticed(forgetful: Forgetful) -> None:
    assert any(True for one in launches() for above in one.above(forgetful(one)))


def test_what_a_launch_takes_is_more_than_the_largest_part_of_its_bound() -> None:
    def largest(one: Outcome) -> Fraction:
        terms = one.claim.terms
        return terms.launch + max(terms.chain + terms.drain, terms.sm, terms.memory)

    assert any(cycles > largest(one) for one in launches() for cycles in one.cycles)


def test_a_block_goes_to_an_sm_with_the_most_room() -> None:
    changed = outcomes(part(4000, 5), 3, lambda gpu: replace(gpu, most_room=False))
    assert any(True for one in changed for above in one.above(one.claim))


@pytest.mark.parametrize("without", ["overlaps", "in_order"])
def test_the_larger_stage_of_the_memory_pipeline_is_not_enough_where_accesses_pass_it_otherwise(without: str) -> None:
    changed = outcomes(part(4000, 5), 3, lambda gpu: replace(gpu, **{without: False}))
    assert any(True for one in changed for above in one.above(one.claim))


def chain(gpu: Gpu) -> tuple[int, int]:
    """Return time and bound of one warp with four accesses, one after the other, of which L2 takes 1 and DRAM 1.5 cycles."""
    path = (Access(1, 1, (0,), 13), Wait(0)) * 4
    kernel = Kernel(gpu, (path,), 1, 1, 1)
    return LAUNCH_OVERHEAD + Launch(gpu, [[path]], Random(1), worst=True).run(), claim(kernel).bound


def test_a_latency_holds_what_is_lost_to_whole_cycles() -> None:
    gpu = replace(GPU, ticks=2, sector=2, piece=3)
    time, bound = chain(gpu)
    assert time <= bound


def longest(kernel: Kernel) -> int:
    """Return the longest of some launches of a kernel with one path and one block."""
    random = Random(1)
    paths = [[kernel.paths[0]] * kernel.warps]
    return LAUNCH_OVERHEAD + max(Launch(kernel.gpu, paths, random, worst=worst).run() for worst in (False, True) for _ in range(20))


def test_accesses_that_are_apart_keep_l2_and_dram_one_after_the_other() -> None:
    # The first access takes 12 cycles of L2 and 8 of DRAM, the second 12 and 16: in all 28 of each warp, not 24.
    gpu = replace(GPU, issue=4, ticks=2, sector=3, piece=2)
    sectors = tuple(range(8))
    path = Access(1, 1, sectors, 5), Wait(0), Barrier(), Access(1, 1, sectors, 5, spare=8), Wait(0)
    kernel = Kernel(gpu, (path,), 1, 8, 64)
    assert 8 * 24 + 31 < longest(kernel) <= claim(kernel).bound


@pytest.mark.parametrize("eager", [True, False], ids=["eager", "late"])
def test_a_cache_that_hoards_what_is_stored_takes_longer_than_the_bound(eager: bool) -> None:
    gpu = replace(GPU, issue=4, sector=2, piece=2, eager=eager)
    path = Access(1, 1, tuple(range(8)), 6, writes=True), Wait(0), Access(1, 1, (9,), 6), Wait(0)
    kernel = Kernel(gpu, (path,), 1, 4, 64)
    assert (longest(kernel) <= claim(kernel).bound) == eager
