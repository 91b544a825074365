"""Accesses behind branches and guards that are known lane by lane: what the lanes cost that may execute them."""

from listing import assemble
from sassan.access import Access, accesses
from sassan.access.traffic import traffic
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.values import with_values
from sassan.values.reach import unreached
from sassan.warpcfg import explore

BEGIN = """
S2R R0, SR_TID.X
MOV R6, 0x4
IMAD.WIDE R4, R0, R6, RZ
ISETP.GE.AND P0, PT, R0, {count}, PT
"""
"""R4 is the address of word tid.x; P0 is false in the first threads of a row."""
WIDE: Shape = (48, 2, 1)
"""Three warps: a row of 48 threads and a half, and what is left."""


def loads(text: str, block: Shape) -> list[Access]:
    """Return the loads of a listing of sm_80."""
    function = assemble(text, "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(block), lambda facts: explore(function, facts))
    assert values is not None
    return [access for access in accesses(values) if access.opcode.startswith("LDG")]


def sectors(access: Access) -> list[int]:
    """Return the sectors of each warp, at most."""
    return [each.sectors.most for each in access.warps or (access,) if each.sectors is not None]


def test_a_branch_leaves_the_lanes_that_take_it():
    branched = BEGIN.format(count="0x8") + "BSSY B0, end\n@P0 BRA meet\nLDG.E R2, [R4.64]\nmeet:\nBSYNC B0\nend:\nEXIT"
    [load] = loads(branched, WIDE)
    # Threads 0 to 7 of the first row are in the first warp, those of the second row in the second one.
    assert sectors(load) == [1, 1, 0]
    assert load.sectors == (1, 1), "a warp of which no thread executes it does not count"
    assert load.ideal == 1


def test_a_guard_leaves_the_lanes_in_which_it_holds():
    [load] = loads(BEGIN.format(count="0x8") + "@!P0 LDG.E R2, [R4.64]\nEXIT", WIDE)
    assert sectors(load) == [1, 1, 0]
    [other] = loads(BEGIN.format(count="0x8") + "@P0 LDG.E R2, [R4.64]\nEXIT", WIDE)
    assert sectors(other) == [3, 3, 4]


def test_threads_that_end_execute_nothing_behind():
    [load] = loads(BEGIN.format(count="0x8") + "@P0 EXIT\nLDG.E R2, [R4.64]\nEXIT", WIDE)
    assert sectors(load) == [1, 1, 0]


def test_lanes_that_reconverge_are_all_there():
    text = BEGIN.format(count="0x8") + "BSSY B0, end\n@P0 BRA meet\nMOV R7, R6\nmeet:\nBSYNC B0\nend:\nLDG.E R2, [R4.64]\nEXIT"
    assert sectors(loads(text, WIDE)[0]) == [4, 4, 4]


def test_an_unknown_branch_leaves_all_lanes():
    text = BEGIN.format(count="c[0x0][0x168]") + "@P0 EXIT\nLDG.E R2, [R4.64]\nEXIT"
    assert sectors(loads(text, WIDE)[0]) == [4, 4, 4]


def test_a_block_that_no_lane_reaches_is_excluded():
    function = assemble(BEGIN.format(count="0x0") + "@P0 EXIT\nLDG.E R2, [R4.64]\nEXIT", "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(WIDE), lambda facts: explore(function, facts))
    assert values is not None
    assert unreached(values)


def test_the_traffic_of_a_block_is_that_of_its_warps():
    moved = traffic(loads(BEGIN.format(count="0x8") + "@P0 EXIT\nLDG.E R2, [R4.64]\nEXIT", WIDE), memory_pipeline("sm_80"))
    [each] = moved.moved.values()
    assert (each.sectors, each.fetched) == (1, 64)
    assert [sum(made.sectors for made in warp.values()) for warp in moved.warps[:3]] == [1, 1, 0]
