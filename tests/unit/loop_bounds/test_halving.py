"""Loops that halve the distance of two indices: `while (low < high)` with the middle of both, as compilers write it."""

import pytest

from budget import some
from inferring import loops

PASCAL = """
    MOV R0, c[0x0][0x148]
    MOV R6, RZ
    ISETP.GE.AND P0, PT, R0, 0x1, PT
    @!P0 EXIT
head:
    IADD R2, -R6, R0
    LEA.HI R2, R2, R2, RZ, 0x1
    SHR R3, R2, 0x1
    IADD R7, R3, R6
    LDG.E R2, [R2]
    FSETP.GEU.AND P0, PT, R2, c[0x0][0x158], PT
    @!P0 IADD32I R6, R7, 0x1
    SEL R0, R0, R7, !P0
    ISETP.GT.AND P0, PT, R0, R6, PT
    @P0 BRA head
    EXIT
"""
AMPERE = """
    IMAD.MOV.U32 R0, RZ, RZ, c[0x0][0x168]
    ISETP.GE.AND P0, PT, R0, 0x1, PT
    @!P0 EXIT
    MOV R7, RZ
head:
    IMAD.IADD R2, R0, 0x1, -R7
    LEA.HI R2, R2, R2, RZ, 0x1
    LEA.HI.SX32 R9, R2, R7, 0x1f
    LDG.E R2, [R2.64]
    FSETP.GEU.AND P0, PT, R2, c[0x0][0x178], PT
    SEL R0, R0, R9, !P0
    @!P0 IADD3 R7, R9, 0x1, RZ
    ISETP.GT.AND P0, PT, R0, R7, PT
    @P0 BRA head
    EXIT
"""
MEAN = """
    IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x168]
    ISETP.GE.AND P0, PT, R7, RZ, PT
    @!P0 EXIT
    MOV R0, RZ
head:
    IMAD.IADD R5, R0, 0x1, R7
    SHF.R.S32.HI R5, RZ, 0x1, R5
    LDG.E R2, [R2.64]
    FSETP.GEU.AND P0, PT, R2, c[0x0][0x178], PT
    @!P0 IADD3 R0, R5, 0x1, RZ
    @P0 IADD3 R7, R5, -0x1, RZ
    ISETP.GT.AND P0, PT, R0, R7, PT
    @!P0 BRA head
    EXIT
"""
LONG = """
    IMAD.MOV.U32 R6, RZ, RZ, c[0x0][0x178]
    IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x17c]
    CS2R R10, SRZ
    IMAD.MOV.U32 R9, RZ, RZ, c[0x0][0x178]
    IMAD.MOV.U32 R8, RZ, RZ, c[0x0][0x17c]
head:
    SHF.R.U64 R6, R6, 0x1, R7
    SHF.R.U32.HI R7, RZ, 0x1, R7
    IADD3 R6, P0, R11, R6, RZ
    IMAD.X R7, R10, 0x1, R7, P0
    LDG.E R3, [R2.64]
    FSETP.GEU.AND P0, PT, R0, R3, PT
    SEL R11, R11, R6, !P0
    SEL R9, R6, R9, !P0
    SEL R10, R10, R7, !P0
    IADD3 R6, P1, R9, -R11, RZ
    SEL R8, R7, R8, !P0
    ISETP.GT.U32.AND P0, PT, R6, 0x1, PT
    IMAD.X R7, R8, 0x1, ~R10, P1
    ISETP.GT.U32.AND.EX P0, PT, R7, RZ, PT, P0
    @P0 BRA head
    EXIT
"""
PASCAL_LONG = """
    MOV R10, c[0x0][0x148]
    MOV R13, c[0x0][0x14c]
    MOV R9, RZ
    MOV R11, RZ
head:
    IADD R7.CC, R10, -R9
    IADD.X R8, R13, -R11
    SHF.R.U64 R7, R7, 0x1, R8
    SHR.U32 R8, R8, 0x1
    IADD R7.CC, R9, R7
    IADD.X R8, R11, R8
    LDG.E R4, [R4]
    IADD32I R0.CC, R7, 0x1
    IADD.X R6, RZ, R8
    FSETP.GEU.AND P0, PT, R4, c[0x0][0x158], PT
    SEL R9, R0, R9, !P0
    SEL R10, R10, R7, !P0
    SEL R11, R6, R11, !P0
    SEL R13, R13, R8, !P0
    IADD RZ.CC, R10, -R9
    ISETP.GT.U32.X.AND P0, PT, R13, R11, PT
    @P0 BRA head
    EXIT
"""
SIZES = some([1, 2, 3, 7, 8, 9, 100, 1000, 65_537, 1 << 20])


def steps(size: int) -> int:
    """Return how often a search of this kind takes one half or the other, at most: with the middle, or without it."""
    return 0 if size <= 0 else 1 + max(steps(size // 2), steps(size - size // 2 - 1))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("arch", "text", "place"), [("sm_61", PASCAL, "x148"), ("sm_75", AMPERE, "x168"), ("sm_80", AMPERE, "x168")])
def test_a_search_takes_as_many_steps_as_halves(arch, text, place, size):
    (loop,) = loops(text, arch, **{place: size})
    assert loop.bound == steps(size) - 1


@pytest.mark.parametrize("last", [0, 1, 6, 7, 99, 1000])
def test_the_mean_of_two_indices(last):
    (loop,) = loops(MEAN, "sm_80", x168=last)
    assert loop.bound == (last + 1).bit_length() - 1


@pytest.mark.parametrize("size", [2, 3, 100, 1 << 20])
def test_a_search_by_words_of_64_bits(size):
    (loop,) = loops(LONG, "sm_80", x178=size, x17c=0)
    assert loop.bound == (size - 1).bit_length() - 1


@pytest.mark.parametrize("size", SIZES)
def test_a_search_by_words_of_64_bits_until_pascal(size):
    (loop,) = loops(PASCAL_LONG, x148=size, x14c=0)
    assert loop.bound == steps(size) - 1


def test_a_search_of_any_size_halves_a_word():
    (loop,) = loops(AMPERE, "sm_80")
    assert (loop.bound, loop.missing) == (31, frozenset())
