"""Bounds that are quotients: division by a parameter through the approximated reciprocal, `ceilf(n / 32.0f)`, and remainders."""

from random import Random

import pytest

from budget import part, some
from inferring import loops

QUOTIENT = """
    IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x168]
    I2F.U32.RP R0, c[0x0][0x16c]
    MUFU.RCP R0, R0
    IADD3 R4, R0, 0xffffffe, RZ
    F2I.FTZ.U32.TRUNC.NTZ R5, R4
    MOV R4, RZ
    IMAD.MOV R9, RZ, RZ, -R5
    IMAD R9, R9, c[0x0][0x16c], RZ
    IMAD.HI.U32 R6, R5, R9, R4
    IMAD.HI.U32 R6, R6, R7, RZ
    IMAD.MOV R8, RZ, RZ, -R6
    IMAD R7, R8, c[0x0][0x16c], R7
    ISETP.GE.U32.AND P0, PT, R7, c[0x0][0x16c], PT
    @P0 IADD3 R7, R7, -c[0x0][0x16c], RZ
    @P0 IADD3 R6, R6, 0x1, RZ
    ISETP.GE.U32.AND P1, PT, R7, c[0x0][0x16c], PT
    @P1 IADD3 R7, R7, -c[0x0][0x16c], RZ
    @P1 IADD3 R6, R6, 0x1, RZ
    MOV R2, RZ
head:
    IADD3 R2, R2, 0x1, RZ
    ISETP.LE.U32.AND P0, PT, {limit}, R2, PT
    @!P0 BRA head
    EXIT
"""
CEILING = {
    "sm_61": """
    I2F.F32.S32 R0, c[0x0][0x150]
    FMUL R0, R0, 0.03125
    F2I.S32.F32.CEIL R0, R0
    MOV R2, RZ
head:
    IADD32I R2, R2, 0x1
    ISETP.LE.AND P0, PT, R0, R2, PT
    @!P0 BRA head
    EXIT
""",
    "sm_80": """
    I2F R0, c[0x0][0x168]
    FMUL R0, R0, 0.03125
    F2I.CEIL.NTZ R0, R0
    MOV R2, RZ
head:
    IADD3 R2, R2, 0x1, RZ
    ISETP.LE.AND P0, PT, R0, R2, PT
    @!P0 BRA head
    EXIT
""",
}
PAIRS = [(100, 7), (128, 32), (1000, 1000), (65_535, 256), (1 << 20, 3)]


def pairs() -> list[tuple[int, int]]:
    """Return dividends and divisors: written ones, and others that are drawn."""
    random = Random(5)
    drawn = [
        (random.randrange(1, 1 << random.randrange(4, 20)), random.randrange(2, 1 << random.randrange(2, 12)))
        for _ in range(part(30, of=5))
    ]
    return PAIRS + [(dividend, divisor) for dividend, divisor in drawn if dividend >= divisor]


@pytest.mark.parametrize(("dividend", "divisor"), pairs())
def test_a_quotient_is_exact(dividend, divisor):
    (loop,) = loops(QUOTIENT.format(limit="R6"), "sm_80", x168=dividend, x16c=divisor)
    assert loop.bound == dividend // divisor - 1


@pytest.mark.parametrize(("dividend", "divisor"), [(dividend, divisor) for dividend, divisor in pairs() if dividend % divisor])
def test_a_remainder_is_exact(dividend, divisor):
    (loop,) = loops(QUOTIENT.format(limit="R7"), "sm_80", x168=dividend, x16c=divisor)
    assert loop.bound == dividend % divisor - 1


@pytest.mark.parametrize("count", some([31, 1, 33, 32, 100_000, 100, 4096]))
@pytest.mark.parametrize(("arch", "place"), [("sm_61", "x150"), ("sm_80", "x168")])
def test_the_ceiling_of_a_product(arch, place, count):
    (loop,) = loops(CEILING[arch], arch, **{place: count})
    assert loop.bound == -(-count // 32) - 1


def test_a_divisor_that_is_not_given_gives_no_bound():
    (loop,) = loops(QUOTIENT.format(limit="R6"), "sm_80", x168=100)
    assert loop.bound is None or loop.bound >= 99
