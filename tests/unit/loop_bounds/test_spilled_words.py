"""Words of the stack as variables: what a store and a load of one place agree on, and every way to lose it."""

import pytest

from inferring import loops
from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.isa import tables
from sassan.isa.languages import spilling, variables
from sassan.machine.launch import LaunchConfiguration
from sassan.warpcfg.stack_words import stack_words

LOOP = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x20, RZ
    MOV R4, 0x9
    LDG.E R5, [R2.64]
    STL [R1+0x8], R4
    {between}
    LDL R6, [R1+0x8]
    MOV R0, RZ
head:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.U32.AND P0, PT, R0, R6, PT
    @P0 BRA head
    EXIT
"""
COUNTER = """
    MOV R1, c[0x0][0x28]
    STL [R1+-0x8], RZ
head:
    LDL R0, [R1+-0x8]
    IADD3 R0, R0, 0x3, RZ
    STL [R1+-0x8], R0
    {between}
    ISETP.LT.AND P0, PT, R0, 0x1e, PT
    @P0 BRA head
    EXIT
"""


def bound(text: str, between: str) -> int | None:
    (loop,) = loops(text.format(between=between), "sm_80")
    return loop.bound


@pytest.mark.parametrize(
    "between",
    [
        "NOP",
        "STL [R1+0xc], R5",
        "STL.U8 [R1+0xc], R5",
        "STL.64 [R1+0x10], R4",
        "STG.E [R2.64], R5",
        "IADD3 R7, R1, 0x4, RZ\n STL [R7+0x8], R5",
        "IADD3 R7, R1, 0x4, RZ\n STL [R7+0x4], R4",
        "@P1 STL [R1+0x8], R4",
    ],
)
def test_a_spilled_word_comes_back(between: str):
    assert bound(LOOP, between) == 8


@pytest.mark.parametrize(
    "between",
    [
        "STL [R1+0x8], R5",
        "@P1 STL [R1+0x8], R5",
        "STL.U8 [R1+0x9], R5",
        "STL.U8 [R1+0x9], RZ",
        "STL.U16 [R1+0xa], R5",
        "STL.64 [R1+0x8], R2",
        "STL [R5], R4",
        "STL [R5+0x8], R4",
        "STL.U8 [R5], R4",
        "ST.E [R2.64], R4",
        "IADD3 R7, R1, 0x4, RZ\n STL [R7+0x4], R5",
        "@P1 IADD3 R1, R1, 0x4, RZ",
        "IADD3 R1, R1, 0x4, RZ",
        "MOV R1, R5",
    ],
)
def test_a_word_that_another_store_may_have_changed_is_not_known(between: str):
    assert bound(LOOP, between) is None


def test_a_counter_may_live_on_the_stack():
    assert bound(COUNTER, "NOP") == 9
    (loop,) = loops(COUNTER.format(between="NOP"), "sm_80")
    assert "R0" in loop.reason or "stack word at -0x8" in loop.reason
    assert bound(COUNTER, "@P1 STL [R1+-0x8], RZ") is None
    assert bound(COUNTER, "STL [R3], RZ") is None


WIDE = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x40, RZ
    MOV R4, 0x3
    MOV R5, 0x5
    MOV R6, 0x7
    MOV R7, 0x9
    {stored}
    MOV R0, RZ
head:
    {loaded}
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.U32.AND P0, PT, R0, R9, PT
    @P0 BRA head
    EXIT
"""


@pytest.mark.parametrize(
    ("stored", "loaded", "bound"),
    [
        ("STL.128 [R1+0x10], R4", "LDL R9, [R1+0x18]", 6),
        ("STL.128 [R1+0x10], R4", "LDL.64 R8, [R1+0x10]", 4),
        ("STL.64 [R1+0x10], R4\nSTL.64 [R1+0x18], R6", "LDL.128 R8, [R1+0x10]", 4),
        ("STL.64 [R1+0x10], R4\nSTL.64 [R1+0x14], R6", "LDL R9, [R1+0x14]", 6),
        ("STL.64 [R1+0x10], R6\n@P1 STL [R1+0x14], R4", "LDL R9, [R1+0x14]", 8),
    ],
)
def test_wide_spills_are_words(stored: str, loaded: str, bound: int):
    (loop,) = loops(WIDE.format(stored=stored, loaded=loaded), "sm_80")
    assert loop.bound == bound


def test_runs_refute_a_bound_that_forgets_a_store():
    cfg, isa, launch = (
        assemble(LOOP.format(between="STL [R1+0x8], R5"), "sm_80").graph(),
        tables.load("sm_80"),
        LaunchConfiguration((64, 1, 1)),
    )
    known = stack_words(cfg, isa.facts)
    first, second, load = sorted(known)
    found = infer(cfg, variables(spilling(isa, {first: known[first], load: known[load]})), launch)
    assert known[second] != known[first]
    assert [one.bound for one in found] == [8]
    assert len(check_bounds(cfg, isa.facts, launch, found).refuted) == 1
