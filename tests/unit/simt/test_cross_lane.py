"""What lanes tell each other, by `simt.integers`: the words of 32 lanes in, those of 32 lanes out."""

import numpy as np
import pytest

from assembly import instruction
from integer_step import all_outputs, number
from sassan.simt.integer_work import WarpInputs
from sassan.simt.values import LANES


def lanes(text: str, **held: list[int]) -> dict[int, list[int]]:
    place = WarpInputs(np.array([7], dtype=np.uint32), {}, lambda offset: np.array([offset], dtype=np.uint32))
    words = {number(name): np.array(each, dtype=np.int64) for name, each in held.items()}
    return {register: out.tolist() for register, out in all_outputs(instruction(text), "sm_80", words, place).items()}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("SHFL.DOWN PT, R0, R1, 0x10, 0x1f", [min(lane + 16, 31) if lane < 16 else lane for lane in range(LANES)]),
        ("SHFL.UP PT, R0, R1, 0x1, RZ", [max(lane - 1, 0) for lane in range(LANES)]),
        ("SHFL.BFLY PT, R0, R1, 0x2, 0x1f", [lane ^ 2 for lane in range(LANES)]),
        ("SHFL.IDX PT, R0, R1, 0x3, 0x1f", [3] * LANES),
        ("SHFL.IDX PT, R0, R1, 0x3, 0x181f", [lane // 8 * 8 + 3 for lane in range(LANES)]),
    ],
)
def test_a_shuffle_reads_the_word_of_a_lane(text, source):
    assert lanes(text, R1=[100 + lane for lane in range(LANES)])[number("R0")] == [100 + lane for lane in source]


def test_a_shuffle_says_which_lanes_read_another_one():
    out = lanes("SHFL.DOWN P0, R0, R1, 0x1, 0x1f", R1=list(range(LANES)))
    assert out[number("P0")] == [1] * 31 + [0]


@pytest.mark.parametrize(("how", "truth"), [("ALL", 0), ("ANY", 1), ("EQ", 0)])
def test_a_vote(how, truth):
    out = lanes(f"VOTE.{how} R0, P1, P0", P0=[1] + [0] * 31)
    assert out[number("P1")] == [truth] * LANES
    assert out[number("R0")] == [1] * LANES


def test_a_match_has_the_lanes_with_the_same_word():
    out = lanes("MATCH.ANY R0, R2", R2=[lane % 16 for lane in range(LANES)])
    assert out[number("R0")] == [0x10001 << lane % 16 for lane in range(LANES)]


@pytest.mark.parametrize(("how", "result"), [("SUM", 496), ("MAX", 31), ("XOR", 0)])
def test_a_reduction(how, result):
    assert lanes(f"REDUX.{how} UR0, R2", R2=list(range(LANES)))[number("UR0")] == [result] * LANES
