"""What one thread of a warp executes at a time, and what accesses cost there."""

import pytest

from listing import assemble
from sassan.access import Access, accesses
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.values import with_values
from sassan.values.single_thread import single_thread_nodes
from sassan.warpcfg import explore

LINE, TILE = (256, 1, 1), (16, 16, 1)
FIRST = "S2R R0, SR_TID.X\nLDS R3, [R0]\nISETP.NE.AND P0, PT, R0, RZ, PT\n"
"""An address is made of the index, so that it is followed."""
ADD = "RED.E.ADD.STRONG.GPU [R4.64], R2\n"


def atomic(text: str, block: Shape) -> Access:
    """Return the atomic operation of a listing of sm_80."""
    function = assemble("MOV R4, c[0x0][0x160]\nMOV R5, c[0x0][0x164]\n" + text, "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(block), lambda facts: explore(function, facts))
    assert values is not None
    return next(access for access in accesses(values) if access.opcode.startswith("RED"))


@pytest.mark.parametrize(
    ("text", "block", "lanes"),
    [
        (f"{FIRST}@!P0 {ADD}EXIT", LINE, 1),
        (f"{FIRST}@P0 {ADD}EXIT", LINE, 32),
        (f"{FIRST}@P0 EXIT\n{ADD}EXIT", LINE, 1),
        (f"{FIRST}BSSY B0, end\n@P0 BRA meet\n{ADD}meet:\nBSYNC B0\nend:\nEXIT", LINE, 1),
        (f"{FIRST}BSSY B0, end\n@P0 BRA meet\nMOV R2, R3\nmeet:\nBSYNC B0\nend:\n{ADD}EXIT", LINE, 32),
        # Nothing but the guard is made of the index.
        (f"S2R R0, SR_TID.X\nISETP.NE.AND P0, PT, R0, RZ, PT\n@!P0 {ADD}EXIT", LINE, 1),
        # Two rows of a warp have a first thread each.
        (f"{FIRST}@!P0 {ADD}EXIT", TILE, 2),
        (f"{FIRST}ISETP.LT.AND P0, PT, R0, 0x2, PT\n@P0 {ADD}EXIT", LINE, 32),
        (f"{FIRST}ISETP.NE.OR P0, PT, R0, RZ, P1\n@!P0 {ADD}EXIT", LINE, 1),
        (f"{FIRST}ISETP.NE.AND P0, PT, R0, RZ, P1\n@!P0 {ADD}EXIT", LINE, 32),
        (f"{FIRST}ISETP.EQ.AND P0, PT, R0, R7, PT\n@P0 {ADD}EXIT", LINE, 32),
        # An elected lane.
        (f"S2R R6, SR_LANEID\nVOTEU.ANY UR4, UPT, PT\nUFLO.U32 UR4, UR4\nISETP.EQ.U32.AND P0, PT, R6, UR4, PT\n@P0 {ADD}EXIT", TILE, 1),
        (f"S2R R6, SR_LANEID\nMOV R6, R7\nISETP.EQ.U32.AND P0, PT, R6, UR4, PT\n@P0 {ADD}EXIT", TILE, 32),
    ],
)
def test_operations_of_one_thread_do_not_collide(text: str, block: Shape, lanes: int):
    assert atomic(text, block).collisions == lanes


ELECTED = """
    MOV R9, RZ
again:
    ELECT P1, URZ, PT
    ISETP.EQ.AND P1, PT, R8, RZ, P1
    {more}
    @!P1 BRA meet
one:
    MOV R10, R9
    ISETP.NE.AND P2, PT, R11, RZ, PT
    @P2 BRA on
    MOV R10, RZ
on:
    RED.E.ADD.STRONG.GPU [R4.64], R2
meet:
    WARPSYNC.ALL
    IADD3 R9, R9, 0x1, RZ
    ISETP.LT.AND P0, PT, R9, 0x8, PT
    @P0 BRA again
    EXIT
"""


@pytest.mark.parametrize(("more", "alone"), [("NOP", True), ("ISETP.NE.AND P1, PT, R8, RZ, PT", False)])
def test_an_elected_lane_is_one_thread_in_a_loop_too_and_behind_branches_of_its_own(more: str, alone: bool):
    code = assemble(ELECTED.format(more=more), "sm_90")
    facts_of = tables.load("sm_90").facts
    values = with_values(explore(code.function, facts_of), facts_of, LaunchConfiguration(LINE), lambda facts: explore(code.function, facts))
    assert values is not None
    starts = {values.cfg.nodes[index].start for index in single_thread_nodes(values)}
    assert (code.labels["one"] in starts, code.labels["on"] in starts, code.labels["meet"] in starts) == (alone, alone, False)
