"""Blocks that no thread of a launch reaches: behind branches and exits whose guard the launch decides."""

import pytest

from listing import assemble
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.values.reach import unreached
from sassan.warpcfg import explore

FEW, MANY = (32, 1, 1), (256, 1, 1)


def dead(text: str, block: tuple[int, int, int]) -> int:
    """Return how many blocks are not reached."""
    function, facts_of = assemble(text, "sm_80").function, tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration(block), lambda facts: explore(function, facts))
    assert values is not None
    return len(unreached(values))


def guarded(test: str, last: str) -> str:
    return f"S2R R0, SR_TID.X\n{test} P0, PT, R0, 0x40, PT\n{last}\nMOV R1, R2\nEXIT\nfar:\nMOV R1, R3\nEXIT"


@pytest.mark.parametrize(
    ("test", "last"),
    [
        ("ISETP.GE.U32.AND", "@P0 BRA far"),
        ("ISETP.LT.U32.AND", "@P0 BRA far"),
        ("ISETP.LT.U32.AND", "@!P0 BRA far"),
        ("ISETP.GE.U32.AND", "@!P0 BRA far"),
        ("ISETP.LT.U32.AND", "@P0 EXIT"),
    ],
)
def test_a_guard_that_the_launch_decides_leaves_one_side(test: str, last: str):
    assert [dead(guarded(test, last), block) for block in (FEW, MANY)] == [1, 0]


def test_what_is_not_reached_costs_nothing_and_needs_no_bound():
    text = guarded("ISETP.GE.U32.AND", "@P0 BRA far").replace(
        "far:\nMOV", "far:\nLDG.E R4, [R4]\nISETP.NE.AND P1, PT, R4, RZ, PT\n@P1 BRA far\nMOV"
    )
    function = assemble(text, "sm_80").function
    few, many = (analyze(function, Settings(launch=LaunchConfiguration(block))) for block in (FEW, MANY))
    assert (few.wcet.value, few.gaps) == (5, ())
    assert [gap.code for gap in many.gaps] == ["unbounded-loop"]
