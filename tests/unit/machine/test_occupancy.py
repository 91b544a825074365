"""Occupancy against NVIDIA's own calculator: occupancy.csv holds what cuda_occupancy.h told scripts/build_occupancy_cases."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sassan.errors import InputError, UsageError
from sassan.ir import CompilerFacts, Function
from sassan.machine import load
from sassan.machine.occupancy import BlockDemand, Resources, demand_of, occupancy

ROWS = list(csv.DictReader(Path(__file__).with_name("occupancy.csv").read_text("utf-8").splitlines()))
LIMITS = ("warps", "blocks", "registers", "shared", "barriers")


def demand(row: dict[str, str]) -> BlockDemand:
    return BlockDemand(
        int(row["threads"]), int(row["registers"]), int(row["static_shared"]) + int(row["dynamic_shared"]), int(row["barriers"])
    )


def blocks(row: dict[str, str]) -> int:
    try:
        return occupancy(load(f"sm_{row['capability'].replace('.', '')}"), demand(row)).blocks
    except UsageError:
        return 0


def test_every_launch_of_the_table_has_the_blocks_that_the_calculator_says() -> None:
    assert [(row, blocks(row)) for row in ROWS if blocks(row) != int(row["blocks"])] == []


def test_every_limit_is_the_one_that_the_calculator_says() -> None:
    for row in ROWS:
        if row["blocks"] != "0":
            found = occupancy(load(f"sm_{row['capability'].replace('.', '')}"), demand(row)).limits
            assert [found[name] for name in LIMITS] == [int(row[f"by_{name}"]) if row[f"by_{name}"] else None for name in LIMITS], row


def test_the_table_is_large_and_holds_launches_that_every_resource_limits() -> None:
    assert len(ROWS) >= 400
    assert {name for row in ROWS for name in LIMITS if row[f"by_{name}"] == row["blocks"] != "0"} == set(LIMITS)
    assert sum(row["blocks"] == "0" for row in ROWS) >= 20


def test_what_limits_is_named() -> None:
    found = occupancy(load("sm_61"), BlockDemand(256, 64, 0))
    assert (found.blocks, found.warps, found.limited_by) == (4, 32, ("registers",))


def test_a_part_of_a_warp_takes_a_whole_one() -> None:
    assert occupancy(load("sm_61"), BlockDemand(33, 16, 0)).block_warps == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (BlockDemand(1025, 16, 0), "a block of 1025 threads cannot be launched"),
        (BlockDemand(0, 16, 0), "a block of 0 threads cannot be launched"),
        (BlockDemand(1024, 128, 0), "a block of 1024 threads with 128 registers each cannot be launched on compute capability 6.1"),
        (BlockDemand(32, 256, 0), "256 registers per thread cannot be launched on compute capability 6.1"),
        (BlockDemand(32, 16, 49153), "a block that uses 49153 bytes of shared memory cannot be launched on compute capability 6.1"),
    ],
    ids=str,
)
def test_a_block_that_fits_no_sm_is_a_usage_error_that_says_what_is_too_large(wanted: BlockDemand, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        occupancy(load("sm_61"), wanted)
    assert (caught.value.code, caught.value.message) == ("launch", words)


@pytest.mark.parametrize(("arch", "counted"), [("sm_80", 2048), ("sm_90", 3072)])
def test_since_hopper_a_cubin_counts_the_reserved_kilobyte(arch: str, counted: int) -> None:
    kernel = Function("f", arch, (), compiler=CompilerFacts(0, registers=32, barriers=1, shared=counted))
    assert demand_of(kernel, 256, Resources(), load(arch)) == BlockDemand(256, 32, 2048, 1)


def test_dynamic_shared_memory_comes_on_top_of_what_a_cubin_tells() -> None:
    kernel = Function("f", "sm_61", (), compiler=CompilerFacts(0, registers=32, shared=100))
    assert demand_of(kernel, 64, Resources(shared=1000), load("sm_61")) == BlockDemand(64, 32, 1100, 1)


def test_a_listing_tells_nothing_and_the_user_all() -> None:
    kernel = Function("f", "sm_61", ())
    told = (Resources(), Resources(registers=8), Resources(shared=0), Resources(registers=8, shared=4))
    assert [demand_of(kernel, 64, one, load("sm_61")) for one in told] == [None, None, None, BlockDemand(64, 8, 4)]


def test_an_sm_without_rules_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        occupancy(load("sm_35"), BlockDemand(32, 16, 0))
    assert caught.value.code == "no-occupancy"
