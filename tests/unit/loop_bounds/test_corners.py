"""The run that checks a bound finds the words that refute a planted one, where drawn memory holds them once in 2^32."""

from dataclasses import replace

import pytest

from budget import some
from listing import assemble
from sassan.ipet.loop_bounds import Inferred
from sassan.ipet.loop_bounds.recheck import SMALL
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import setting

LOADS = """
    S2R R6, SR_TID.X
    IMAD.WIDE.U32 R2, R6, 0x4, c[0x0][0x160]
    LDG.E R5, [R2.64]
    LDG.E R0, [R2.64+0x100]
"""
LOOP = """
    @P0 EXIT
    MOV R9, {begin}
head:
    IADD3 R9, R9, 0x1, RZ
    ISETP.GE.U32.AND P0, PT, R9, {limit}, PT
    @!P0 BRA head
    EXIT
"""
NARROW = """
    IADD3 R4, {word}, -0x12d687, RZ
    ISETP.GT.U32.AND P0, PT, R4, 0x31, PT
"""
WAYS = {
    "bytes of two words": NARROW.format(word="R5") + "PRMT R7, R5, 0x7610, R0",
    "an exclusive or": NARROW.format(word="R5") + "LOP3.LUT R7, R5, R0, RZ, 0x3c, !PT",
    "a funnel": NARROW.format(word="R5") + "SHF.R.U64 R7, R5, 0x4, R0",
    "a product": "IMAD R5, R5, 0x9e3779b1, 0x3\n" + NARROW.format(word="R5") + "IADD3 R7, R5, R0, RZ",
    "a word of the launch": "MOV R5, c[0x0][0x170]\n" + NARROW.format(word="R5") + "IADD3 R7, R5, R0, RZ",
    "a field": NARROW.format(word="R5") + "SGXT.U32 R4, R5, 0x15\nLEA.HI R7, R0, R4, RZ, 0x4",
}


@pytest.mark.parametrize("way", some(sorted(WAYS), of=3))
def test_words_at_the_corners_refute_what_drawn_words_do_not(way):
    cfg = assemble(LOADS + WAYS[way] + LOOP.format(begin="0x12d644", limit="R7"), "sm_80").graph()
    planted = (Inferred(0, cfg.nodes[cfg.loops[0].head].start, 115, "planted"),)
    facts, launch = tables.load("sm_80").facts, LaunchConfiguration((64, 1, 1))
    assert not check_bounds(cfg, facts, launch, planted, replace(SMALL, corners=False)).refuted
    (refuted,) = check_bounds(cfg, facts, launch, planted).refuted
    assert refuted.refutation is not None
    assert refuted.refutation.seen > 115


def test_words_that_the_launch_gives_stay_given():
    text = "MOV R5, c[0x0][0x160]\nISETP.GT.U32.AND P0, PT, R5, 0xc8, PT" + LOOP.format(begin="RZ", limit="R5")
    cfg = assemble(text, "sm_80").graph()
    planted = (Inferred(0, cfg.nodes[cfg.loops[0].head].start, 150, "planted"),)
    facts = tables.load("sm_80").facts
    assert check_bounds(cfg, facts, LaunchConfiguration((64, 1, 1)), planted).refuted
    assert not check_bounds(cfg, facts, LaunchConfiguration((64, 1, 1), parameters=(setting("0x160=8"),)), planted).refuted
