"""Counters of 8 and 16 bits, as compilers write them: masked or extended from words whose other bits are anything."""

import pytest

from inferring import bound, loops

BYTES = {
    "sm_61": """
    XMAD.PSL.CLO R0, R0.H1, 0x1, RZ
head:
    IADD32I R0, R0, 0x3
    LOP32I.AND R7, R0, 0xff
    ISETP.GE.U32.AND P0, PT, R7, 0x64, PT
    @!P0 BRA head
    EXIT
""",
    "sm_80": """
    PRMT R0, RZ, 0x7610, R0
head:
    IADD3 R0, R0, 0x3, RZ
    LOP3.LUT R6, R0, 0xff, RZ, 0xc0, !PT
    ISETP.GE.U32.AND P0, PT, R6, 0x64, PT
    @!P0 BRA head
    EXIT
""",
}
HALVES = {
    "sm_61": """
    MOV R0, 0x1234
head:
    BFE.U32 R0, R0, 0xf01
    BFE R1, R0, 0x1000
    ISETP.GT.AND P0, PT, R1, RZ, PT
    @P0 BRA head
    EXIT
""",
    "sm_80": """
    MOV R0, 0x1234
head:
    SHF.R.U32.HI R0, RZ, 0x1, R0
    PRMT R1, R0, 0x9910, RZ
    ISETP.GT.AND P0, PT, R1, RZ, PT
    @P0 BRA head
    EXIT
""",
}
ONES = """
    FLO.U32 R3, c[0x0][0x160]
    IADD3 R3, R3, 0x1, RZ
    MOV R2, RZ
head:
    IADD3 R2, R2, 0x1, RZ
    ISETP.GE.AND P0, PT, R2, R3, PT
    @!P0 BRA head
    EXIT
"""

OF_TWO_WORDS = """
    LDG.E R0, [R2]
    LDG.E R1, [R2+0x100]
    PRMT R5, R0, 0x7610, R1
    {less}
    ISETP.GE.U32.AND P0, PT, R4, 0x32, PT
    @P0 EXIT
    MOV R6, 0x4a00
head:
    IADD3 R6, R6, 0x1, RZ
    ISETP.GE.U32.AND P0, PT, R6, R5, PT
    @!P0 BRA head
    EXIT
"""
LESS = {"sm_61": "IADD32I R4, R0, -0x4b00", **dict.fromkeys(("sm_80", "sm_90", "sm_120"), "IADD3 R4, R0, -0x4b00, RZ")}


@pytest.mark.parametrize("arch", BYTES)
def test_a_byte_that_counts_to_a_hundred(arch):
    (loop,) = loops(BYTES[arch], arch)
    assert loop.bound == 33


@pytest.mark.parametrize("arch", HALVES)
def test_sixteen_bits_that_are_halved(arch):
    (loop,) = loops(HALVES[arch], arch)
    assert loop.bound == 0x1234.bit_length() - 1


@pytest.mark.parametrize("word", [1, 2, 255, 256, 0x80000000])
def test_the_place_of_the_highest_one_bounds_a_loop(word):
    (loop,) = loops(ONES, "sm_80", x160=word)
    assert loop.bound == word.bit_length() - 1


@pytest.mark.parametrize(("arch", "less"), LESS.items())
def test_a_word_with_a_half_of_another_one_is_not_within_the_guard_of_its_own(arch: str, less: str):
    (loop,) = loops(OF_TWO_WORDS.format(less=less), arch)
    assert loop.bound is None


@pytest.mark.parametrize(("mask", "expected"), [("", 2), (", 0x1", None)])
def test_a_move_of_two_words_under_a_byte_mask_leaves_the_other_bytes(mask: str, expected: int | None):
    code = f"MOV R2, 0x3\nMOV R3, RZ\nLDG.E R4, [R8]\nMOV.64 R4, R2{mask}\nMOV R0, RZ\n"
    loop = "head:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, R4, PT\n@P0 BRA head\nEXIT"
    assert bound(code + loop, "sm_120") == expected
