"""Masks and funnel shifts as `simt.integers` computes them: bmsk and shf of PTX, whose names in machine code ptxas shows."""

import pytest

from integer_step import number, run


@pytest.mark.parametrize(
    ("text", "place", "width", "result"),
    [
        ("BMSK R0, R1, R2", 4, 8, 0xFF0),
        ("BMSK R0, R1, R2", 28, 8, 0xF0000000),
        ("BMSK R0, R1, R2", 0, 32, 0xFFFFFFFF),
        ("BMSK R0, R1, R2", 0, 255, 0xFFFFFFFF),
        ("BMSK R0, R1, R2", 32, 4, 0),
        ("BMSK R0, R1, R2", 3, 0, 0),
        ("BMSK.W R0, R1, R2", 35, 4, 0x78),
        ("BMSK.W R0, R1, R2", 35, 36, 0x78),
        ("BMSK.W R0, R1, R2", 0, 32, 0),
    ],
)
def test_a_mask(text: str, place: int, width: int, result: int):
    assert run(text, R1=place, R2=width)[number("R0")] == result


@pytest.mark.parametrize(
    ("name", "places", "result"),
    [
        ("SHF.R.U32", 8, 0xEF012345),
        ("SHF.R.U32", 32, 0x89ABCDEF),
        ("SHF.R.U32", 40, 0x89ABCDEF),
        ("SHF.R.W.U32", 8, 0xEF012345),
        ("SHF.R.W.U32", 40, 0xEF012345),
        ("SHF.R.W.U32", 32, 0x01234567),
        ("SHF.R.W.U32.HI", 36, 0x089ABCDE),
        ("SHF.R.W.S32.HI", 36, 0xF89ABCDE),
        ("SHF.L.W.U32", 36, 0x12345670),
        ("SHF.L.W.U32.HI", 36, 0x9ABCDEF0),
    ],
)
def test_a_turn_of_two_words(name: str, places: int, result: int):
    assert run(f"{name} R0, R1, R2, R3", R1=0x01234567, R2=places, R3=0x89ABCDEF)[number("R0")] == result


def test_a_word_becomes_uniform_whatever_its_predicate_says():
    assert run("R2UR P0, UR4, R1", R1=0x12345678)[number("UR4")] == 0x12345678
