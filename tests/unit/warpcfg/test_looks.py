"""Loops in which threads only look at words of memory until other threads have written them."""

import pytest

from listing import assemble
from samples import SAMPLES
from sassan.frontend import load, read
from sassan.isa import tables
from sassan.warpcfg import explore
from sassan.warpcfg.looks import looks

PLAIN = """
again:
    LDG.E.STRONG.GPU R2, [R4]
    ISETP.NE.AND P0, PT, R2, RZ, PT
    @!P0 BRA again
    EXIT
"""
LOADED_BEFORE = """
    LDG.E.STRONG.GPU R2, [R4]
again:
    ISETP.NE.AND P0, PT, R2, RZ, PT
    VOTE.ANY P0, !P0
    @!P0 BRA over
    NANOSLEEP 0x40
    LDG.E.STRONG.GPU R2, [R4]
    BRA again
over:
    EXIT
"""
TWO_BEFORE = """
again:
    ISETP.NE.AND P0, PT, R3, RZ, PT
    MOV R3, R2
    LDG.E.STRONG.GPU R2, [R4]
    @!P0 BRA again
    EXIT
"""
LONGER_SLEEPS = """
    MOV R6, 0x8
again:
    NANOSLEEP R6
    IADD3 R6, R6, R6, RZ
    LDG.E.STRONG.GPU R2, [R4]
    ISETP.NE.AND P0, PT, R2, RZ, PT
    @!P0 BRA again
    EXIT
"""
SHARED = PLAIN.replace("LDG.E.STRONG.GPU", "LDS")
COUNTED = """
again:
    LDG.E.STRONG.GPU R2, [R4]
    IADD3 R6, R6, 0x1, RZ
    ISETP.GE.AND P0, PT, R2, R6, PT
    @!P0 BRA again
    EXIT
"""
WALKING = """
again:
    LDG.E.STRONG.GPU R2, [R4]
    IADD3 R4, R4, 0x4, RZ
    ISETP.NE.AND P0, PT, R2, RZ, PT
    @!P0 BRA again
    EXIT
"""
KEPT = PLAIN.replace("    LDG", "    @P1 LDG").replace("@!P0", "@!P0")
STORING = PLAIN.replace("    ISETP", "    STG.E [R8], R2\n    ISETP")
SWAPPING = PLAIN.replace("LDG.E.STRONG.GPU R2, [R4]", "ATOMG.E.CAS.STRONG.GPU PT, R2, [R4], R6, R7")
TIMED = """
again:
    LDG.E.STRONG.GPU R2, [R4]
    CS2R.32 R6, SR_CLOCKLO
    ISETP.GE.AND P0, PT, R6, R2, PT
    @!P0 BRA again
    EXIT
"""
TURNING = """
again:
    LDG.E.STRONG.GPU R2, [R4]
    @P1 BRA other
    ISETP.NE.AND P0, PT, R2, RZ, PT
other:
    PLOP3.LUT P1, PT, P1, PT, PT, 0x8, 0x0
    @!P0 BRA again
    EXIT
"""


@pytest.mark.parametrize(
    ("text", "back_edges", "outside"),
    [(PLAIN, 2, True), (LOADED_BEFORE, 3, True), (TWO_BEFORE, 4, True), (LONGER_SLEEPS, 2, True), (SHARED, 2, False)],
)
def test_a_thread_that_looks_at_a_word_until_it_is_there(text: str, back_edges: int, outside: bool):
    cfg = explore(assemble(text, "sm_80").function, tables.load("sm_80").facts)
    (look,) = looks(cfg, tables.load("sm_80").facts).values()
    assert (look.back_edges, look.outside) == (back_edges, outside)


@pytest.mark.parametrize("text", [COUNTED, WALKING, KEPT, STORING, SWAPPING, TIMED, TURNING])
def test_what_goes_on_by_itself_is_no_wait(text: str):
    cfg = explore(assemble(text, "sm_80").function, tables.load("sm_80").facts)
    assert cfg.loops
    assert not looks(cfg, tables.load("sm_80").facts)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
@pytest.mark.parametrize(
    ("file", "name", "found"),
    [
        ("lookback", "lookback", 1),
        ("grid_barrier", "grid_sync", 1),
        ("turn", "wait_flag", 1),
        ("searches", "lookback_cub", 1),
        ("searches", "spin_lock", 0),
        ("searches", "list_pointer", 0),
        ("recorded", "strlen", 0),
    ],
)
def test_compiled_waits(file: str, name: str, found: int, arch: str):
    functions = read(load(str(SAMPLES / "loops" / arch / f"{file}.cubin"))).functions
    facts = tables.load(arch).facts
    assert len(looks(explore(next(each for each in functions if each.name == name), facts), facts)) == found
