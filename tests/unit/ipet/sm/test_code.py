"""Code beyond the caches of instructions, by hand: lines of 8 instructions, 2 KiB in a partition, 4 KiB in an SM."""

from fractions import Fraction

import pytest

from budget import some
from samples import SAMPLES
from sassan import api
from sassan.errors import MissingToolError
from sassan.ipet.sm.code import FetchedLines, fetched, lines_of, lost
from sassan.isa.tables import load
from sassan.machine.code_caches import CodeCaches, code_caches
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg
from scheduled import scheduled

CACHES = CodeCaches(inner=2048, outer=4096, miss=32, port=4, ahead=8, unsure=False, source="")
ADD = "IADD3 R0, R0, R0, RZ | 4\n"


def straight(instructions: int, arch: str = "sm_80") -> WarpCfg:
    return explore(scheduled(ADD * (instructions - 1) + "EXIT | 5", arch), load(arch).facts)


def loop(inside: int, behind: int) -> WarpCfg:
    """A loop of one block, and straight code behind it; a block of one line before it."""
    text = ADD * 8 + "again:\n" + ADD * (inside - 2) + "UISETP.NE.AND UP0, UPT, UR4, URZ, UPT | 12\n BRA.U UP0, again | 5\n"
    return explore(scheduled(text + ADD * (behind - 1) + "EXIT | 5", "sm_80"), load("sm_80").facts)


@pytest.mark.parametrize("alone", [False, True])
def test_code_that_both_caches_keep_is_fetched_once(alone: bool):
    assert lost(straight(128), CACHES, alone=alone) == FetchedLines((0,), (0,), (0,))


def test_code_beyond_the_cache_of_a_partition_comes_from_that_of_the_sm():
    assert lost(straight(136), CACHES, alone=False) == FetchedLines((17,), (0,), (0,))


def test_code_beyond_both_comes_from_l2_and_straight_code_of_a_warp_alone_is_prefetched():
    assert lost(straight(264), CACHES, alone=False) == FetchedLines((0,), (33,), (0,))
    assert lost(straight(264), CACHES, alone=True) == FetchedLines((0,), (33,), (32,))


def test_a_warp_alone_fetches_a_loop_that_fits_once_per_entry_and_others_share_the_cache():
    cfg = loop(inside=64, behind=256)
    assert lines_of(cfg) == 41
    assert lost(cfg, CACHES, alone=False).far == (1, 8, 32)
    assert lost(cfg, CACHES, alone=True) == FetchedLines((0, 0, 0), (1 + 8, 0, 32), (0, 0, 31))


def test_a_loop_that_only_the_cache_of_the_sm_keeps_is_fetched_from_there_in_each_iteration():
    assert lost(loop(inside=136, behind=256), CACHES, alone=True) == FetchedLines((0, 17, 0), (1 + 17, 0, 32), (0, 0, 31))


def test_what_a_line_costs():
    long = straight(8 * 1030)
    taken = fetched(long, "sm_80", alone=False)
    assert (taken.shares[0].self_stall, taken.shares[0].scheduler_stall) == (1030 * (32 + 262), 1030 * 4)
    assert taken.bytes == (1030 * 128,)
    alone = fetched(long, "sm_80", alone=True)
    assert alone.shares[0].self_stall == Fraction(32 + 262 + 1029 * 68)
    assert not fetched(straight(8 * 256), "sm_80", alone=False)


@pytest.mark.parametrize(
    ("arch", "inner", "outer"),
    [
        ("sm_52", 8, 32),
        ("sm_60", 8, 128),
        ("sm_61", 8, 32),
        ("sm_70", 12, 128),
        ("sm_75", 16, 46),
        ("sm_80", 32, 128),
        ("sm_86", 16, 32),
        ("sm_89", 16, 32),
        ("sm_90", 32, 128),
        ("sm_120", 32, 128),
    ],
)
def test_the_sizes_of_the_generations(arch: str, inner: int, outer: int):
    caches = code_caches(arch)
    assert (caches.inner, caches.outer) == (1024 * inner, 1024 * outer)
    assert caches.unsure == (arch == "sm_90")


@pytest.mark.parametrize("arch", some(["sm_75", "sm_86"]))
def test_own_kernels_within_and_beyond_the_caches(arch: str):
    """samples/fetch: a loop over code that a partition keeps, one that an SM keeps, and one that comes from L2 in each turn."""
    try:
        functions = api.read(f"{SAMPLES}/fetch/{arch}/fetch.cubin").functions
    except MissingToolError as missing:
        pytest.skip(str(missing))
    caches, l2 = code_caches(arch), {"sm_75": 231, "sm_86": 273}[arch]
    kernels = sorted(functions, key=lambda function: len(function.instructions))
    for function, each, first in zip(kernels, (0, caches.miss, 68), (0, 0, caches.miss + l2 - 68), strict=True):
        cfg = explore(function, load(arch).facts)
        body = max(range(len(cfg.nodes)), key=lambda node: len(cfg.nodes[node].code))
        one = fetched(cfg, arch, alone=True).shares[body]
        assert one.self_stall == first + each * lines_of(cfg, (body,)), function.name
