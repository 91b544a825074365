"""Words of which it is known what they are made of: quotients through a product, differences, the ones of a word, tables of parameters."""

from random import Random

import pytest

from inferring import loops
from sassan.domains import ranges
from sassan.ipet.loop_bounds.values import Quotient, UnknownWord, Value

ONES = """
    LDG.E R0, [R2.64]
    {before}
    ISETP.NE.AND P0, PT, R0, RZ, PT
    @!P0 EXIT
head:
    {step}
    {test}
    @P0 BRA head
    EXIT
"""
HIGHEST = "FLO.U32 R1, R0\n SHF.L.U32 R1, R7, R1, RZ\n LOP3.LUT R0, R0, R1, RZ, 0x3c, !PT"
BACKWARDS = "FLO.U32 R1, R0\n IADD3 R1, -R1, 0x1f, RZ\n MOV R4, 0x80000000\n SHF.R.U32.HI R4, RZ, R1, R4"
LOWEST = "IADD3 R1, R0, -0x1, RZ\n LOP3.LUT R0, R1, RZ, R0, 0xa0, !PT"
NOT_ZERO = "ISETP.NE.AND P0, PT, R0, RZ, PT"


@pytest.mark.parametrize(
    ("before", "step", "test", "bound"),
    [
        ("NOP", LOWEST, NOT_ZERO, 31),
        ("NOP", f"{LOWEST}\n{LOWEST}", NOT_ZERO, 31),
        ("LOP3.LUT R0, R0, 0xff, RZ, 0xc0, !PT", LOWEST, NOT_ZERO, 7),
        ("MOV R0, 0x8421", LOWEST, NOT_ZERO, 3),
        # Without its lowest one.
        ("NOP", "IADD3 R1, RZ, -R0, RZ\n LOP3.LUT R0, R0, R1, RZ, 0x30, !PT", NOT_ZERO, 31),
        # The word before is tested: one more, for the word that is 0.
        ("NOP", f"{NOT_ZERO}\n{LOWEST}", "NOP", 32),
        ("MOV R7, 0x1", HIGHEST, NOT_ZERO, 31),
        ("MOV R7, 0x2", HIGHEST, NOT_ZERO, None),
        ("MOV R7, 0x1", f"{HIGHEST}\n{HIGHEST}", NOT_ZERO, None),
        ("MOV R7, 0x1", f"{NOT_ZERO}\n{HIGHEST}", "NOP", 32),
        ("NOP", f"{BACKWARDS}\n ISETP.NE.AND P0, PT, R4, R0, PT\n LOP3.LUT R0, R4, R0, RZ, 0x3c, !PT", "NOP", 31),
        ("NOP", f"{BACKWARDS}\n ISETP.NE.AND P0, PT, R4, R0, PT\n LOP3.LUT R0, R4, R0, RZ, 0xfc, !PT", "NOP", None),
        # The highest one is another one, and of 0 there is none.
        ("NOP", f"{BACKWARDS}\n ISETP.NE.AND P0, PT, R4, R0, PT\n {LOWEST}", "NOP", None),
        ("NOP", LOWEST, "ISETP.NE.AND P0, PT, R0, 0x1, PT", None),
        ("NOP", "IADD3 R1, R0, -0x2, RZ\n LOP3.LUT R0, R1, RZ, R0, 0xa0, !PT", NOT_ZERO, None),
        ("NOP", "LDG.E R1, [R2.64]\n LOP3.LUT R0, R1, RZ, R0, 0xa0, !PT", NOT_ZERO, None),
        ("NOP", f"{LOWEST}\n @P1 LDG.E R0, [R2.64]", NOT_ZERO, None),
    ],
)
def test_a_word_has_as_many_ones_as_a_loop_over_them_has_iterations(before: str, step: str, test: str, bound: int | None):
    (loop,) = loops(ONES.format(before=before, step=step, test=test), "sm_80")
    assert loop.bound == bound


def test_the_rest_of_a_division_holds_every_rest():
    random = Random(7)
    tight = 0
    for _ in range(400):
        divisor = random.randrange(1, 1 << random.randrange(1, 20))
        places = 32 + random.randrange(0, 12)
        factor = min((1 << 32) - 1, -(-(1 << places) // divisor) + random.choice((0, 0, 0, 1, -1)))
        addend = random.choice((0, 0, random.getrandbits(33)))
        low = random.getrandbits(random.randrange(1, 32))
        words = ranges.span(low, low + random.getrandbits(random.randrange(1, 16)))
        found = Quotient(Value(UnknownWord(words), 1, ranges.const(0)), factor, addend, places).rest(words, divisor)
        first, last = words.unsigned
        numbers = {first, last, *(random.randint(first, last) for _ in range(50))}
        rests = {number - divisor * ((number * factor + addend) >> places) for number in numbers}
        if found is not None:
            assert all(found.holds(rest % ranges.SIZE) for rest in rests)
            tight += found.width < 2 * divisor
    assert tight > 200


@pytest.mark.parametrize(("first", "most", "factor", "bound"), [(0, 999, 0x24924925, 6), (1, 7, 0x24924925, 6), (0, 999, 0x24924924, 7)])
def test_a_division_through_a_product_leaves_less_than_its_divisor(first: int, most: int, factor: int, bound: int):
    text = f"""
        LDG.E R3, [R2.64]
        IADD3 R4, R3, -{first:#x}, RZ
        ISETP.GT.U32.AND P0, PT, R4, {most - first:#x}, PT
        @P0 EXIT
        MOV R5, {factor:#x}
        IMAD.HI.U32 R6, R3, R5, RZ
        IMAD R7, R6, -0x7, R3
        MOV R0, RZ
        ISETP.EQ.AND P0, PT, R7, RZ, PT
        @P0 EXIT
    head:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.U32.AND P0, PT, R0, R7, PT
        @P0 BRA head
        EXIT
    """
    (loop,) = loops(text, "sm_80")
    assert loop.bound is not None
    assert loop.bound == bound - 1


DIFFERENCE = """
    LDG.E R2, [R10.64]
    LDG.E R3, [R12.64]
    ISETP.GE.U32.AND P0, PT, R2, 0x64, PT
    @P0 EXIT
    ISETP.GE.U32.AND P0, PT, R3, 0x64, PT
    @P0 EXIT
    {test}
    @!P0 EXIT
    IADD3 R4, R3, -R2, RZ
    MOV R0, RZ
head:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.U32.AND P0, PT, R0, R4, PT
    @P0 BRA head
    EXIT
"""


@pytest.mark.parametrize(
    ("test", "bound"),
    [
        ("ISETP.LT.AND P0, PT, R2, R3, PT", 98),
        ("ISETP.LE.U32.AND P0, PT, R2, R3, PT", 98),
        ("ISETP.GT.AND P0, PT, R3, R2, PT", 98),
        ("ISETP.GT.AND P0, PT, R2, R3, PT", None),
        ("ISETP.NE.AND P0, PT, R2, R3, PT", None),
    ],
)
def test_a_difference_is_as_large_as_the_comparison_says(test: str, bound: int | None):
    (loop,) = loops(DIFFERENCE.format(test=test), "sm_80")
    assert loop.bound == bound


TABLE = """
    S2R R2, SR_CTAID.X
    IMAD.SHL.U32 R2, R2, 0x4, RZ
    {place}
    LDC R3, c[0x0][R2+0x160]
    MOV R0, RZ
head:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P0, PT, R0, R3, PT
    @P0 BRA head
    EXIT
"""


@pytest.mark.parametrize(("place", "bound"), [("NOP", 29), ("LOP3.LUT R2, R2, 0x4, RZ, 0xc0, !PT", 19), ("IADD3 R2, R2, 0x2, RZ", None)])
def test_a_table_of_parameters_holds_one_of_its_words(place: str, bound: int | None):
    (loop,) = loops(TABLE.format(place=place), "sm_80", (32, 1, 1), (4, 1, 1), x160=10, x164=20, x168=30, x16c=5)
    assert loop.bound == bound


def test_a_table_with_a_word_that_is_not_given_asks_for_it():
    (loop,) = loops(TABLE.format(place="NOP"), "sm_80", (32, 1, 1), (4, 1, 1), x160=10, x164=20, x16c=5)
    assert (loop.bound, "parameter 0x168" in " ".join(loop.missing) or "param_2" in " ".join(loop.missing)) == (None, True)
