"""Counters of two words, as compilers write them: `for (long i = 0; i < n; i++)`, and the same counted down to 0."""

import pytest

from inferring import loops

PASCAL = """
    MOV R7, RZ
    MOV R8, RZ
head:
    IADD32I R7.CC, R7, 0x1
    IADD.X R8, RZ, R8
    IADD RZ.CC, R7, -c[0x0][0x160]
    ISETP.GE.X.AND P0, PT, R8, c[0x0][0x164], PT
    @!P0 BRA head
    EXIT
"""
AMPERE = """
    CS2R R6, SRZ
    MOV R0, RZ
head:
    IADD3 R0, P0, R0, 0x1, RZ
    IMAD.X R6, RZ, RZ, R6, P0
    ISETP.GE.U32.AND P0, PT, R0, c[0x0][0x160], PT
    ISETP.GE.AND.EX P0, PT, R6, c[0x0][0x164], PT, P0
    @!P0 BRA head
    EXIT
"""
AMPERE_UNROLLED = """
    MOV R4, c[0x0][0x160]
    LOP3.LUT R18, R4, 0x3, RZ, 0xc0, !PT
    MOV R21, RZ
    MOV R19, RZ
    IADD3 R22, P1, R18, -c[0x0][0x160], RZ
    IMAD.X R24, RZ, RZ, ~c[0x0][0x164], P1
head:
    IADD3 R21, P1, R21, 0x4, RZ
    IADD3 R32, P2, R21, R22, RZ
    IMAD.X R19, RZ, RZ, R19, P1
    ISETP.NE.U32.AND P1, PT, R32, RZ, PT
    IADD3.X R0, R19, R24, RZ, P2, !PT
    ISETP.NE.AND.EX P1, PT, R0, RZ, PT, P1
    @P1 BRA head
    EXIT
"""
AMPERE_UP_TO_ZERO = """
    IADD3 R18, P2, RZ, -c[0x0][0x160], RZ
    IMAD.X R8, RZ, RZ, -0x1, P2
head:
    IADD3 R18, P0, R18, 0x1, RZ
    IMAD.X R8, RZ, RZ, R8, P0
    ISETP.NE.U32.AND P0, PT, R18, RZ, PT
    ISETP.NE.AND.EX P0, PT, R8, RZ, PT, P0
    @P0 BRA head
    EXIT
"""
AMPERE_TWO_STRIDES = """
    MOV R7, RZ
    MOV R0, RZ
    MOV R2, 0x100
head:
    IADD3 R7, P0, P1, R2, R7, R2
    IADD3.X R0, RZ, R0, RZ, P0, P1
    ISETP.GE.U32.AND P0, PT, R7, c[0x0][0x160], PT
    ISETP.GE.AND.EX P0, PT, R0, c[0x0][0x164], PT, P0
    @!P0 BRA head
    EXIT
"""
PASCAL_DOWN = """
    MOV R7, c[0x0][0x160]
    MOV R8, c[0x0][0x164]
head:
    IADD32I R7.CC, R7, -0x1
    IADD32I.X R8, R8, -0x1
    IADD32I RZ.CC, R7, -0x1
    ISETP.GT.X.AND P0, PT, R8, RZ, PT
    @P0 BRA head
    EXIT
"""
AMPERE_DOWN = """
    MOV R6, c[0x0][0x160]
    MOV R10, c[0x0][0x164]
head:
    IADD3 R6, P1, R6, -0x1, RZ
    IADD3.X R10, R10, -0x1, RZ, P1, !PT
    ISETP.NE.U32.AND P1, PT, R6, RZ, PT
    ISETP.NE.AND.EX P1, PT, R10, RZ, PT, P1
    @P1 BRA head
    EXIT
"""
BLACKWELL_DOWN = """
    LDCU.64 UR4, c[0x0][0x380]
head:
    UIADD3.64 UR4, UPT, UPT, UR4, -0x1, URZ
    UISETP.NE.S64.AND UP0, UPT, UR4, URZ, UPT
    BRA.U UP0, head
    EXIT
"""

BLACKWELL_POINTER = """
    LDC.64 R2, c[0x0][0x380]
    LDCU.64 UR6, c[0x0][0x388]
head:
    IADD.64 R2, R2, 0x4
    ISETP.NE.S64.AND P0, PT, R2, UR6, PT
    @P0 BRA head
    EXIT
"""


@pytest.mark.parametrize(("arch", "text"), [("sm_61", PASCAL), ("sm_75", AMPERE), ("sm_80", AMPERE)])
@pytest.mark.parametrize("count", [2, 100, 100_000])
def test_a_counter_whose_high_word_stays_zero(arch, text, count):
    (loop,) = loops(text, arch, x160=count, x164=0)
    assert loop.bound == count - 1


@pytest.mark.parametrize(("arch", "text"), [("sm_61", PASCAL), ("sm_80", AMPERE)])
def test_a_counter_that_leaves_its_low_word_has_no_bound(arch, text):
    (loop,) = loops(text, arch, x160=5, x164=1)
    assert loop.bound is None


@pytest.mark.parametrize(("arch", "text"), [("sm_61", PASCAL), ("sm_80", AMPERE)])
def test_a_limit_of_which_the_high_word_is_not_given_gives_no_bound(arch, text):
    (loop,) = loops(text, arch, x160=5)
    assert loop.bound is None


def test_a_counter_that_goes_down_to_one():
    (loop,) = loops(PASCAL_DOWN, x160=101, x164=0)
    assert loop.bound == 99


@pytest.mark.parametrize(("arch", "text", "place"), [("sm_80", AMPERE_DOWN, 0x160), ("sm_120", BLACKWELL_DOWN, 0x380)])
def test_a_counter_that_goes_down_to_zero(arch, text, place):
    (loop,) = loops(text, arch, **{f"x{place:x}": 100, f"x{place + 4:x}": 0})
    assert loop.bound == 99


@pytest.mark.parametrize(("count", "turns"), [(1, 0), (100, 99), (4096, 4095)])
def test_a_pointer_that_meets_the_end_of_its_array(count, turns):
    begin = 0x7F00_1234_5600
    words = {"x380": begin & 0xFFFFFFFF, "x384": begin >> 32, "x388": begin + 4 * count & 0xFFFFFFFF, "x38c": begin >> 32}
    (loop,) = loops(BLACKWELL_POINTER, "sm_120", **words)
    assert loop.bound == turns


def test_a_pointer_that_passes_over_the_end_of_its_array_has_no_bound():
    (loop,) = loops(BLACKWELL_POINTER, "sm_120", x380=0x1000, x384=1, x388=0x1006, x38c=1)
    assert loop.bound is None


def test_a_counter_that_begins_at_zero_and_goes_down_has_no_bound():
    (loop,) = loops(AMPERE_DOWN, "sm_80", x160=0, x164=0)
    assert loop.bound is None


@pytest.mark.parametrize("count", [4, 4096, 4099, 1 << 20])
def test_a_counter_that_is_compared_by_its_distance_to_the_limit(count):
    (loop,) = loops(AMPERE_UNROLLED, "sm_80", x160=count, x164=0)
    assert loop.bound == count // 4 - 1


def test_a_distance_of_which_the_high_word_is_not_given_gives_no_bound():
    (loop,) = loops(AMPERE_UNROLLED, "sm_80", x160=4096)
    assert loop.bound is None


def test_a_counter_that_steps_over_its_limit_has_no_bound():
    (loop,) = loops(AMPERE_UNROLLED.replace("R21, 0x4, RZ", "R21, 0x3, RZ"), "sm_80", x160=4096, x164=0)
    assert loop.bound is None


@pytest.mark.parametrize("count", [1, 3, 100])
def test_a_negative_number_that_goes_up_to_zero(count):
    (loop,) = loops(AMPERE_UP_TO_ZERO, "sm_80", x160=count, x164=0)
    assert loop.bound == count - 1


@pytest.mark.parametrize(("count", "back"), [(512, 0), (513, 1), (4096, 7)])
def test_a_sum_of_three_words_without_carries(count, back):
    (loop,) = loops(AMPERE_TWO_STRIDES, "sm_80", x160=count, x164=0)
    assert loop.bound == back


def test_what_a_loop_holds_only_sometimes_is_not_held():
    # The high word is set where memory says so: the counter may go on from anywhere.
    text = AMPERE.replace("head:", "head:\n    LDG.E R9, [R2.64]\n    ISETP.NE.AND P2, PT, R9, RZ, PT\n    @P2 MOV R6, R9")
    (loop,) = loops(text, "sm_80", x160=5, x164=0)
    assert loop.bound is None


AMPERE_SHORT = """
    S2R R18, SR_TID.X
    MOV R17, R18
head:
    IADD3 R17, R18, 0x20, RZ
    ISETP.GE.U32.AND P0, PT, R17, c[0x0][0x160], PT
    MOV R18, R17
    SHF.R.S32.HI R2, RZ, 0x1f, R17
    ISETP.GE.AND.EX P0, PT, R2, c[0x0][0x164], PT, P0
    @!P0 BRA head
    EXIT
"""


@pytest.mark.parametrize("relation", ["GE", "GT"])
def test_a_short_counter_with_a_long_limit(relation: str):
    (loop,) = loops(AMPERE_SHORT.replace("GE", relation), "sm_80", x160=4096, x164=0)
    # From the first thread on, 32 each; what is equal goes on once more.
    assert loop.bound == (127 if relation == "GE" else 128)
    down = AMPERE_SHORT.replace("0x20", "-0x20").replace("@!P0", "@P0").replace("GE", relation)
    (loop,) = loops(down, "sm_80", x160=32, x164=0)
    # Of 1024 threads, the last one begins at 1023.
    assert loop.bound == 30


@pytest.mark.parametrize(("low", "high"), [(4096, 1), (1 << 31, 0), ((1 << 32) - 1, (1 << 32) - 1)])
def test_a_limit_beyond_short_numbers_ends_no_short_counter(low: int, high: int):
    (loop,) = loops(AMPERE_SHORT, "sm_80", x160=low, x164=high)
    assert loop.bound is None or (high, loop.bound) == ((1 << 32) - 1, 0)
