"""Half lines in which stores leave a sector in part: what lanes that surely take part do not cover is fetched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listing import assemble
from sassan.access import accesses
from sassan.access.reuse import Beside, partial
from sassan.access.transactions import HALF, LANES, SECTOR
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.warpcfg import explore

START = "S2R R0, SR_TID.X\nS2R R1, SR_CTAID.X\nIMAD R2, R1, 0x100, R0\n"
AT = "IMAD.WIDE R4, R2, {stride}, RZ\n"


def parts(text: str, stride: int, block: int = 256) -> list[tuple[int | None, int | None]]:
    """Return (partial, filled) of each store of a listing of sm_80, of one word per thread of a grid."""
    function = assemble(START + AT.format(stride=hex(stride)) + text + "EXIT", "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration((block, 1, 1)), lambda facts: explore(function, facts))
    assert values is not None
    return [(access.partial, access.filled) for access in accesses(values) if access.opcode.startswith("ST")]


@pytest.mark.parametrize(
    ("store", "stride", "half_lines"),
    [
        ("STG.E [R4.64], R1\n", 4, 0),
        ("STG.E [R4.64+0x4], R1\n", 4, 2),  # both ends
        ("STG.E [R4.64], R1\n", 8, 4),
        ("STG.E [R4.64], R1\n", 16, 8),
        ("STG.E [R4.64], R1\n", 32, 16),
        ("STG.E.U8 [R4.64], R1\n", 1, 0),
        ("STG.E.U8 [R4.64], R1\n", 4, 2),
        ("STG.E.U16 [R4.64], R1\n", 2, 0),
        ("STG.E.U16 [R4.64], R1\n", 4, 2),
        ("STG.E.64 [R4.64], R10\n", 8, 0),
        ("STG.E.128 [R4.64], R12\n", 16, 0),
        ("STG.E.128 [R4.64], R12\n", 32, 16),
    ],
)
def test_a_store_of_all_lanes_covers_what_arithmetic_says(store: str, stride: int, half_lines: int):
    assert parts(store, stride) == [(half_lines, half_lines)]


@pytest.mark.parametrize(
    ("guard", "half_lines"),
    [
        ("ISETP.GE.AND P0, PT, R1, 0x7, PT\n@P0 ", 0),  # all lanes agree
        ("LOP3.LUT R3, R0, 0x1, RZ, 0xc0, !PT\nISETP.NE.AND P0, PT, R3, RZ, PT\n@P0 ", 2),  # every other lane
        ("ISETP.GE.AND P0, PT, R2, 0x77, PT\n@P0 ", 2),  # may part a warp
        ("LDG.E R3, [R4.64]\nISETP.GE.AND P0, PT, R3, 0x7, PT\n@P0 ", 2),
    ],
)
def test_lanes_that_may_not_take_part_cover_nothing(guard: str, half_lines: int):
    assert parts(guard + "STG.E [R4.64], R1\n", 4)[-1][0] == half_lines


@pytest.mark.parametrize(
    ("leave", "half_lines"),
    [
        ("ISETP.GE.AND P0, PT, R1, 0x7, PT\n@P0 EXIT\n", 0),
        ("ISETP.GE.AND P0, PT, R0, 0x20, PT\n@P0 EXIT\n", 0),
        ("ISETP.GE.AND P0, PT, R2, 0x77, PT\n@P0 EXIT\n", 2),
        ("LDG.E R3, [R4.64]\nISETP.GE.AND P0, PT, R3, 0x7, PT\n@P0 EXIT\n", 2),
    ],
)
def test_lanes_that_may_have_ended_cover_nothing(leave: str, half_lines: int):
    assert parts(leave + "STG.E [R4.64], R1\n", 4) == [(half_lines, half_lines)]


def test_a_block_of_less_than_a_warp_leaves_the_last_sector_in_part():
    assert parts("STG.E [R4.64], R1\n", 4, block=12) == [(1, 1)]


def test_stores_of_one_piece_cover_sectors_together():
    fields = "".join(f"STG.E [R4.64+{hex(4 * field)}], R1\n" for field in range(8))
    assert parts(fields, 32) == [(16, 0)] * 8
    assert parts(fields.replace("+0x10]", "+0x14]"), 32) == [(16, 16), *[(16, 0)] * 7]


def test_a_half_line_that_was_loaded_before_in_the_piece_is_there():
    assert parts("LDG.E R3, [R4.64]\nSTG.E [R4.64], R1\n", 32) == [(16, 0)]
    assert parts("STG.E [R4.64], R1\nLDG.E R3, [R4.64]\n", 32) == [(16, 16)]


@given(
    stride=st.sampled_from([0, 4, 8, 12, 32, 36]),
    offsets=st.lists(st.integers(0, 10).map(lambda each: 4 * each), min_size=1, max_size=4),
    sure=st.sets(st.integers(0, LANES - 1)),
    start=st.integers(0, 15).map(lambda each: 4 * each),
)
def test_parts_of_a_piece_are_as_many_as_a_count_of_all_bytes(stride: int, offsets: list[int], sure: set[int], start: int):
    lanes = [(lane * stride, lane in sure) for lane in range(LANES)]
    said = sum(
        partial([lanes], 4, 4, Beside(tuple((each - offset, 4) for each in offsets[:place]), tuple((each - offset, 4) for each in offsets)))
        for place, offset in enumerate(offsets)
    )
    stored = {start + address + offset + byte for address, takes in lanes if takes for offset in offsets for byte in range(4)}
    touched = {(start + address + offset) // SECTOR for address, _ in lanes for offset in offsets}
    left = {part * SECTOR // HALF for part in touched if not stored.issuperset(range(part * SECTOR, (part + 1) * SECTOR))}
    assert said >= len(left)
