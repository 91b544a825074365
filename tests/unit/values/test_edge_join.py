"""What registers hold where lanes meet again that a branch parted, of which it is known which side each took."""

import pytest

from listing import assemble
from sassan.domains.lanes import LaneWord
from sassan.isa import tables
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.warpcfg import explore

LANES = range(32)
HALF = "S2R R0, SR_TID.X\nISETP.GE.U32.AND P0, PT, R0, 0x10, PT\n"
"""P0 in the upper half of a warp."""


def meeting(text: str, register: int, *, block: tuple[int, int, int] = (32, 1, 1)) -> LaneWord:
    """Return what a register holds before the store, where it is known."""
    function, facts_of = assemble(text, "sm_80").function, tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(block), lambda facts: explore(function, facts))
    assert values is not None
    name = bit("R", register).bit_length() - 1
    found = [
        point.words.held.get(name, LaneWord())
        for index in range(len(values.cfg.nodes))
        for instruction, point in values.along(index)
        if instruction.opcode.startswith("STG")
    ]
    assert len(found) == 1
    return found[0]


def parted(low: str, high: str, *, before: str = HALF) -> str:
    """Return code whose lanes run `high` where P0 holds, `low` elsewhere, and then store R2 at R1."""
    return f"{before}@P0 BRA up\n{low}\nBRA end\nup:\n{high}\nend:\nSTG.E [R1], R2\nEXIT"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("MOV R1, 0x4", "MOV R1, 0x8", [4] * 16 + [8] * 16),
        ("MOV R1, 0x4", "MOV R1, R0", [4] * 16 + list(range(16, 32))),
        ("SHF.L.U32 R1, R0, 0x2, RZ", "IADD3 R1, R0, 0x1, RZ", [4 * lane for lane in range(16)] + list(range(17, 33))),
    ],
)
def test_each_lane_has_what_its_side_wrote(low: str, high: str, expected: list[int]):
    word = meeting(parted(low, high), 1)
    assert word.known
    assert list(word.words) == expected


@pytest.mark.parametrize(
    ("before", "low", "high"),
    [
        # Nobody knows who goes where.
        ("S2R R0, SR_TID.X\nLDC R4, c[0x0][0x200]\nISETP.NE.AND P0, PT, R4, RZ, PT\n", "MOV R1, 0x4", "MOV R1, 0x8"),
        # One side writes what is not known.
        (HALF, "MOV R1, 0x4", "MOV R1, R9"),
    ],
)
def test_what_a_lane_brings_is_not_known_where_its_side_or_the_word_is_not(before: str, low: str, high: str):
    assert not meeting(parted(low, high, before=before), 1).known


def test_a_lane_that_may_come_from_two_sides_with_different_words_spoils_it():
    # R4 is not known: lanes of the upper half write 8 or 12.
    high = "ISETP.NE.AND P1, PT, R4, RZ, PT\nMOV R1, 0x8\n@P1 BRA end\nMOV R1, 0xc"
    assert not meeting(parted("MOV R1, 0x4", high), 1).known


def test_what_lanes_hold_that_left_for_good_does_not_matter():
    text = f"{HALF}MOV R1, R0\nISETP.LT.U32.AND P1, PT, R0, 0x8, PT\n@P0 BRA up\n@P1 EXIT\nMOV R1, 0x8\nup:\nSTG.E [R1], R2\nEXIT"
    word = meeting(text, 1)
    assert word.known
    assert list(word.words)[8:] == [8] * 8 + list(range(16, 32))


def test_a_side_that_no_lane_takes_brings_nothing():
    # All lanes that do not go up go to the end at once.
    split = "ISETP.NE.AND P2, PT, R4, RZ, PT\nMOV R1, 0x8\n@P2 BRA met\nMOV R1, 0x9\nmet:\nIADD3 R1, R1, R1, RZ"
    low = f"ISETP.LT.U32.AND P1, PT, R0, 0x10, PT\nMOV R1, 0x4\n@P1 BRA end\n{split}"
    word = meeting(parted(low, "MOV R1, 0x8"), 1)
    assert word.known
    assert list(word.words) == [4] * 16 + [8] * 16


def test_a_branch_behind_such_a_place_is_known_too():
    first = parted("MOV R3, 0x1", "MOV R3, 0x2").removesuffix("STG.E [R1], R2\nEXIT")
    second = "ISETP.EQ.AND P1, PT, R3, 0x2, PT\n@P1 BRA again\nMOV R1, 0x10\nBRA last\nagain:\nMOV R1, 0x20\nlast:\nSTG.E [R1], R2\nEXIT"
    word = meeting(first + second, 1)
    assert word.known
    assert list(word.words) == [16] * 16 + [32] * 16


def test_warps_of_a_block_have_a_part_of_the_table_each():
    word = meeting(parted("MOV R1, 0x4", "MOV R1, R0"), 1, block=(20, 3, 1))
    assert word.known
    rows = [min(number, 59) % 20 for number in range(64)]
    assert list(word.words) == [4 if number < 16 else number for number in rows]
