"""Loops that a clock ends: they have no bound, and are named as what they are."""

import pytest

from listing import assemble
from samples import explored
from sassan.ipet.loop_bounds import Ending, infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration

SPIN = """
    CS2R.32 R2, SR_CLOCKLO
loop:
    {read} R0, {clock}
    IADD3 R5, R0, -R2, RZ
    ISETP.GE.AND P0, PT, R5, c[0x0][0x160], PT
    @!P0 BRA loop
    EXIT
"""


@pytest.mark.parametrize(("read", "clock"), [("CS2R.32", "SR_CLOCKLO"), ("S2R", "SR_GLOBALTIMERLO")])
def test_a_loop_that_waits_for_a_time_is_named(read: str, clock: str):
    cfg = explored(assemble(SPIN.format(read=read, clock=clock), "sm_80").function)
    (loop,) = infer(cfg, tables.load("sm_80").facts, LaunchConfiguration((32, 1, 1), (1, 1, 1)))
    assert loop.bound is None
    assert loop.ended is not None
    assert loop.ended.ending is Ending.CLOCK
