"""Limits of loops in uniform registers that a thread of the warp has written: known where all threads hold the same word."""

import pytest

from listing import assemble
from sassan.ipet.loop_bounds import inference
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.warpcfg import explore

LOOP = """
    {limit}
    R2UR UR4, R0
    MOV R2, RZ
again:
    IADD3 R2, R2, 0x1, RZ
    ISETP.LT.AND P0, PT, R2, UR4, PT
    @P0 BRA again
    EXIT
"""


@pytest.mark.parametrize(
    ("limit", "bound"),
    [("MOV R0, c[0x0][0x210]", 9), ("MOV R0, 0x5", 4), ("S2R R0, SR_TID.X", None), ("LDG.E R0, [R4.64]", None)],
    ids=["parameter", "number", "thread", "memory"],
)
def test_the_word_of_one_thread_bounds_a_loop_where_it_is_that_of_all(limit: str, bound: int | None):
    code = assemble(LOOP.replace("{limit}", limit), "sm_90")
    facts_of = tables.load("sm_90").facts
    launch = LaunchConfiguration((64, 1, 1), (4, 1, 1), (Setting("", 0x210, 10, 4),))
    (loop,) = inference(explore(code.function, facts_of), facts_of, launch).loops
    assert loop.bound == bound
