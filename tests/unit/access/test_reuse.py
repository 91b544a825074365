"""Half lines that several accesses of a straight piece of code touch are moved once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listing import assemble
from sassan.access import accesses
from sassan.access.opcodes import MemorySpace, Reference
from sassan.access.reuse import fresh
from sassan.access.transactions import HALF, LANES
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.warpcfg import explore

PLACE = "S2R R0, SR_TID.X\nMOV R8, c[0x0][0x160]\nMOV R9, c[0x0][0x164]\nIMAD.WIDE R4, R0, 0xc, R8\n"


def touched(text: str) -> list[int | None]:
    """Return the fresh half lines of each access of a listing of sm_80."""
    function = assemble(PLACE + text + "EXIT", "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration((256, 1, 1)), lambda facts: explore(function, facts))
    assert values is not None
    return [access.fresh for access in accesses(values)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 384 bytes of structures of 12: 6 half lines, and one more where they do not begin in a half line.
        ("LDG.E R1, [R4.64]\nLDG.E R2, [R4.64+0x4]\nLDG.E R3, [R4.64+0x8]\n", [None, 1, 1]),
        ("LDG.E R1, [R4.64]\nLDG.E R2, [R4.64]\n", [None, 0]),
        ("LDG.E R1, [R4.64]\n@P0 LDG.E R2, [R4.64]\n", [None, None]),
        ("@P0 LDG.E R1, [R4.64]\n@P0 LDG.E R2, [R4.64]\n", [None, 0]),
        ("@P0 LDG.E R1, [R4.64]\nISETP.NE.AND P0, PT, R1, RZ, PT\n@P0 LDG.E R2, [R4.64]\n", [None, None]),
        ("LDG.E R1, [R4.64]\nIADD3 R4, R4, 0x4, RZ\nLDG.E R2, [R4.64]\n", [None, None]),
        ("LDG.E R1, [R4.64]\nIADD3 R5, R5, 0x4, RZ\nLDG.E R2, [R4.64]\n", [None, None]),
        ("STG.E [R4.64], R1\nLDG.E R2, [R4.64]\nSTG.E [R4.64], R1\n", [None, None, 0]),
        ("LDG.E R1, [R4.64]\nBAR.SYNC.DEFER_BLOCKING 0x0\nLDG.E R2, [R4.64]\n", [None, None]),
    ],
)
def test_an_access_that_others_made_before_touches_little_more(text: str, expected: list[int | None]):
    assert touched(text) == expected


@given(
    stride=st.sampled_from([0, 4, 8, 12, 36, 64, 132]),
    offsets=st.lists(st.integers(-40, 40).map(lambda each: 4 * each), min_size=1, max_size=4),
    rows=st.sampled_from([1, 2, 32]),
    starts=st.lists(st.integers(0, 1 << 20).map(lambda each: 4 * each), min_size=32, max_size=32),
)
def test_fresh_half_lines_are_as_many_as_a_count_of_all_addresses(stride: int, offsets: list[int], rows: int, starts: list[int]):
    reference, per_row = Reference(MemorySpace.GLOBAL, 4, 0), LANES // rows
    lanes = [[lane * stride for lane in range(per_row)] for _ in range(rows)]
    said = sum(
        fresh(lanes, 4, reference, tuple((earlier - offset, 4) for earlier in offsets[:place])) for place, offset in enumerate(offsets)
    )
    counted = {(start + lane + offset) // HALF for row, start in zip(lanes, starts, strict=False) for lane in row for offset in offsets}
    assert len(counted) <= said
