"""Values of one warp of a block: branches on the index of a thread are decided for it, and counters begin with its own."""

from math import prod

import pytest

from listing import assemble
from sassan.domains.lanes import LANES
from sassan.ipet.loop_bounds import inference
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.values import WarpContext, WarpValues, warp_contexts, with_values
from sassan.values.reach import unreached
from sassan.warpcfg import explore

ARCH = "sm_80"
FACTS = tables.load(ARCH).facts
ROLES = """
S2R R0, SR_TID.X
SHF.R.U32.HI R0, RZ, 0x5, R0
ISETP.NE.AND P0, PT, R0, 0x2, PT
@P0 BRA others
MOV R1, 0x1
EXIT
others:
MOV R1, 0x2
EXIT
"""
"""Warp 2 does one thing, the others another."""
STRIDED = """
S2R R0, SR_TID.X
loop:
IADD3 R0, R0, 0x40, RZ
ISETP.LT.AND P0, PT, R0, 0x100, PT
@P0 BRA loop
EXIT
"""
"""for (i = threadIdx.x; i < 256; i += 64), entered at least once."""


def values(text: str, block: Shape, warp: WarpContext | None) -> WarpValues:
    function = assemble(text, ARCH).function
    made = with_values(explore(function, FACTS), FACTS, LaunchConfiguration(block), lambda facts: explore(function, facts), warp)
    assert made is not None
    return made


@pytest.mark.parametrize("block", [(32, 8, 1), (48, 3, 1), (7, 5, 3), (16, 16, 1), (1024, 1, 1), (1, 1, 1)])
def test_the_warps_of_a_block_have_its_threads(block: Shape):
    threads: list[tuple[int, ...]] = []
    for warp in warp_contexts(block):
        words = [warp.thread_index(axis) for axis in range(3)]
        assert all(word.known for word in words)
        threads += list(zip(*[word.words for word in words], strict=True))[: warp.threads]
    assert threads == [(x, y, z) for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]


def test_a_block_has_no_more_warps_than_its_threads_fill():
    with pytest.raises(ValueError, match="warp 2 of a block of 64 threads"):
        WarpContext((64, 1, 1), 2)
    with pytest.raises(ValueError, match="a launch of"):
        values(ROLES, (64, 1, 1), WarpContext((128, 1, 1), 0))


def test_a_branch_on_the_number_of_a_warp_is_decided_for_each():
    block = (128, 1, 1)
    code = assemble(ROLES, ARCH)
    role, others = code.labels["others"] - 2 * 16, code.labels["others"]
    assert unreached(values(ROLES, block, None)) == ()
    assert [unreached(values(ROLES, block, warp)) for warp in warp_contexts(block)] == [(role,), (role,), (others,), (role,)]


def test_a_shuffle_hands_over_the_number_of_a_warp():
    block = (128, 1, 1)
    text = ROLES.replace("ISETP", "SHFL.IDX PT, R0, R0, RZ, 0x1f\nISETP")
    code = assemble(text, ARCH)
    role, others = code.labels["others"] - 2 * 16, code.labels["others"]
    assert [unreached(values(text, block, warp)) for warp in warp_contexts(block)] == [(role,), (role,), (others,), (role,)]
    for other in ("SHFL.IDX PT, R0, R0, R5, 0x1f", "SHFL.BFLY PT, R0, R0, 0x1, 0x1f"):
        assert unreached(values(text.replace("SHFL.IDX PT, R0, R0, RZ, 0x1f", other), block, warp_contexts(block)[2])) == (others,)


def test_a_word_that_lanes_decide_is_any_of_theirs_behind_a_shuffle():
    text = ROLES.replace("SHF.R.U32.HI R0, RZ, 0x5, R0", "SHFL.IDX PT, R0, R0, RZ, 0x1f")
    assert [unreached(values(text, (64, 1, 1), warp)) for warp in warp_contexts((64, 1, 1))] == [(), (0x40,)]


def test_lanes_without_a_thread_come_nowhere():
    block = (40, 1, 1)
    first, last = (values(STRIDED, block, warp) for warp in warp_contexts(block))
    assert (first.threads, last.threads) == ((LANES,), (prod(block) - LANES,))
    assert last.lanes(last.cfg.entry) == (1 << 8) - 1


def test_a_counter_begins_with_the_index_of_the_threads_of_the_warp():
    block = (256, 1, 1)
    cfg = assemble(STRIDED, ARCH).graph()
    bounds = [inference(cfg, FACTS, LaunchConfiguration(block), warp).loops[0].bound for warp in (None, *warp_contexts(block))]
    assert bounds == [3, 3, 3, 2, 2, 1, 1, 0, 0]
