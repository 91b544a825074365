"""What `simt.integers` computes of one instruction: literal words in, literal words out."""

import pytest

from integer_step import number, run


@pytest.mark.parametrize(
    ("text", "held", "word"),
    [
        ("IADD3 R0, R1, -R2, 0x5", {"R1": 3, "R2": 10}, 0xFFFFFFFE),
        ("IMAD R0, R1, R2, R3", {"R1": 0x10000, "R2": 0x10003, "R3": 1}, 0x30001),
        ("IMAD.HI.U32 R0, R1, R2, RZ", {"R1": 0x80000000, "R2": 6}, 3),
        ("SHF.R.S32.HI R0, RZ, 0x4, R1", {"R1": 0xFFFFFF00}, 0xFFFFFFF0),
        ("LEA R0, R1, R2, 0x2", {"R1": 5, "R2": 3}, 23),
        ("LEA.HI R0, R1, R2, RZ, 0x1", {"R1": 0x80000000, "R2": 3}, 4),
        ("LOP3.LUT R0, R1, R2, RZ, 0x3c, !PT", {"R1": 0b1100, "R2": 0b1010}, 0b0110),
        ("SEL R0, R1, R2, !P3", {"R1": 1, "R2": 2, "P3": 1}, 2),
        ("IMNMX R0, R1, R2, !PT", {"R1": 0xFFFFFFFF, "R2": 2}, 2),
        ("IABS R0, R1", {"R1": 0xFFFFFFFD}, 3),
        ("POPC R0, R1", {"R1": 0xF0F}, 8),
        ("MOV R0, c[0x0][0x168]", {}, 0x168),
        ("LDC R0, c[0x0][R1+0x160]", {"R1": 8}, 0x168),
        ("HFMA2.MMA R0, -RZ, RZ, 0, 9.5367431640625e-07", {}, 16),
    ],
)
def test_a_word(text, held, word):
    assert run(text, **held)[number("R0")] == word


@pytest.mark.parametrize(
    ("text", "held", "word"),
    [
        ("XMAD R0, R1, R2.H1, R3", {"R1": 0x10003, "R2": 0x50007, "R3": 1}, 16),
        ("XMAD.MRG R0, R1, R2.H1, RZ", {"R1": 3, "R2": 0x50007}, 0x7000F),
        ("XMAD.PSL.CBCC R0, R1.H1, R2.H1, R3", {"R1": 0x20000, "R2": 0x7000F, "R3": 21}, 0x1D0015),
        ("IADD3 R0, R1, 0xffffe, RZ", {"R1": 5}, 3),
        ("IADD32I R0, R1, 0x80000", {"R1": 5}, 0x80005),
        ("IMUL R0, R1, R2", {"R1": 0x10001, "R2": 0x10003}, 0x40003),
        ("I2I.S32.S32 R0, R1", {"R1": 5}, 5),
        ("ISET.LT.AND R0, R1, 0x3, PT", {"R1": 0xFFFFFFFF}, 0xFFFFFFFF),
    ],
)
def test_a_word_until_pascal(text, held, word):
    assert run(text, "sm_61", short=True, **held)[number("R0")] == word


@pytest.mark.parametrize(
    ("text", "held", "truth"),
    [
        ("ISETP.LT.AND P0, PT, R1, 0x3, PT", {"R1": 0xFFFFFFFF}, 1),
        ("ISETP.LT.U32.AND P0, PT, R1, 0x3, PT", {"R1": 0xFFFFFFFF}, 0),
        ("ISETP.GE.AND.EX P0, PT, R1, R2, PT, P1", {"R1": 4, "R2": 4, "P1": 0}, 0),
        ("IADD3 R0, P0, R1, -R2, RZ", {"R1": 4, "R2": 4}, 1),
        ("IADD3 R0, P0, R1, -R2, RZ", {"R1": 4, "R2": 0}, 1),
        ("IADD3 R0, P0, R1, R2, RZ", {"R1": 0xFFFFFFFF, "R2": 1}, 1),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x2a, 0x0", {"P1": 1, "P2": 0}, 1),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x2a, 0x0", {"P1": 1, "P2": 1}, 0),
    ],
)
def test_a_condition(text, held, truth):
    assert run(text, **held)[number("P0")] == truth


@pytest.mark.parametrize(("words", "carries"), [((1, 1, 1), 0), ((0xFFFFFFFF, 1, 0), 1), ((0xFFFFFFFF,) * 3, 2)])
def test_two_predicates_hold_as_many_carries_as_a_sum_of_three_words_has(words, carries):
    left = run("IADD3 R0, P1, P2, R2, R3, R4", R2=words[0], R3=words[1], R4=words[2])
    assert left[number("P1")] + left[number("P2")] == carries
    alone = run("IADD3 R0, PT, P2, R2, R3, R4", R2=words[0], R3=words[1], R4=words[2])
    assert alone[number("P2")] == bool(carries)


def test_memory_is_drawn_anew_for_each_lane_and_run():
    assert run("LDG.E R0, [R2]", "sm_61")[number("R0")] not in {0, 1}


def test_the_bits_of_what_is_no_number_are_drawn():
    assert run("HFMA2.MMA R0, -RZ, RZ, 0, +QNAN")[number("R0")] not in {0x7E00, 0x7FFF}
