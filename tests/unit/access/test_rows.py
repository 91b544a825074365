"""Accesses of blocks whose rows are no warps: transactions of written listings, known by hand."""

import pytest

from listing import assemble
from sassan.access import Access, accesses
from sassan.access.access import AccessPattern
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.values import with_values
from sassan.warpcfg import explore

INDEX = """
    S2R R0, SR_TID.X
    S2R R1, SR_TID.Y
"""
KNOWN = "IMAD R2, R1, 0x30, R0\n"
PITCH = "IMAD R2, R1, c[0x0][0x168], R0\n"
LOADED = """
    IMAD.WIDE R6, R1, 0x4, R8
    LDG.E R3, [R6.64]
    IADD3 R2, R3, R0, RZ
"""
FLOAT = """
    I2F R3, R1
    F2I.TRUNC.NTZ R3, R3
    IADD3 R2, R3, R0, RZ
"""
AT = """
    IMAD.WIDE R4, R2, 0x4, R8
    LDG.E R10, [R4.64]
    EXIT
"""


def last_access(text: str, block: Shape) -> Access:
    """Return the last access of a listing of sm_80; R8 and R9 hold a pointer that nothing is known of, the same in all lanes."""
    function = assemble("MOV R8, c[0x0][0x160]\nMOV R9, c[0x0][0x164]\n" + text, "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(block), lambda facts: explore(function, facts))
    assert values is not None
    return accesses(values)[-1]


@pytest.mark.parametrize(
    ("index", "block", "pattern", "most"),
    [
        # One line of 128 bytes that begins anywhere.
        (KNOWN, (48, 4, 1), AccessPattern.MISALIGNED, 5),
        (KNOWN, (80, 3, 1), AccessPattern.IRREGULAR, 5),
        # Two rows of 16 lanes, or lanes of two rows: 64 bytes that begin anywhere, twice.
        (PITCH, (16, 16, 1), AccessPattern.ROWS, 6),
        (LOADED, (16, 16, 1), AccessPattern.ROWS, 6),
        (FLOAT, (16, 16, 1), AccessPattern.ROWS, 6),
        (PITCH, (48, 4, 1), AccessPattern.ROWS, 6),
        (PITCH, (32, 4, 1), AccessPattern.MISALIGNED, 5),
        # Each lane is a row.
        (PITCH, (1, 64, 1), AccessPattern.SCATTERED, 32),
    ],
)
def test_rows_of_lanes_may_lie_anywhere(index: str, block: Shape, pattern: AccessPattern, most: int):
    access = last_access(INDEX + index + AT, block)
    assert access.sectors is not None
    assert (access.pattern, access.sectors.most, access.ideal) == (pattern, most, 4)


def test_a_lane_that_takes_one_of_two_rows_is_in_it():
    picked = "LOP3.LUT R3, R0, 0x8, RZ, 0xc0, !PT\nISETP.NE.AND P0, PT, R3, RZ, PT\nSEL R3, RZ, c[0x0][0x168], P0\nIADD3 R2, R3, R0, RZ\n"
    access = last_access(INDEX + picked + AT, (32, 4, 1))
    assert access.sectors is not None
    # Lanes 0 to 7 and 16 to 23: two times 32 bytes at a distance of 64 that begin anywhere; so do the others.
    assert (access.pattern, access.sectors.most) == (AccessPattern.ROWS, 8)


GUARDED = """
    ISETP.GE.AND P1, PT, R0, c[0x0][0x170], PT
    @!P1 IMAD R2, R1, c[0x0][0x168], R0
    @!P1 IMAD.WIDE R4, R2, 0x4, R8
    {between}
    @{guard}P1 LDG.E R10, [R4.64]
    EXIT
"""


@pytest.mark.parametrize(
    ("guard", "between", "most"),
    [
        ("!", "NOP", 5),
        ("", "NOP", 32),
        ("!", "ISETP.GE.AND P1, PT, R1, c[0x0][0x174], PT", 32),
        ("!", "MOV R4, R10", 32),
        ("!", "@P1 MOV R4, R10", 5),
        ("!", "@P2 MOV R4, R10", 32),
    ],
)
def test_an_address_made_under_a_guard_is_known_where_it_holds(guard: str, between: str, most: int):
    access = last_access(INDEX + GUARDED.format(guard=guard, between=between), (32, 4, 1))
    assert access.sectors is not None
    assert access.sectors.most == most
