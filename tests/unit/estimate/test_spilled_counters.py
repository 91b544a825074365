"""Counters that are spilled: warps that are run find again what they stored in their own memory."""

import pytest

from listing import assemble
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.estimate.sampled_launch import sampled_launch
from sassan.machine.launch import LaunchConfiguration

LAUNCH = LaunchConfiguration((64, 1, 1), (8, 1, 1))
LOOP = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x20, RZ
    MOV R4, 0x9
    LDG.E R5, [R2.64]
    STL [R1+0x8], {stored}
    MOV R4, RZ
    LDL.LU R6, [R1+0x8]
    MOV R0, RZ
head:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.U32.AND P0, PT, R0, R6, PT
    @P0 BRA head
    EXIT
"""


@pytest.mark.parametrize(("stored", "counts"), [("R4", True), ("R5", False)])
def test_a_limit_that_comes_back_from_the_stack_counts_the_iterations(stored: str, counts: bool):
    result = analyze(assemble(LOOP.format(stored=stored), "sm_80").function, Settings(launch=LAUNCH, loop_bound=100, check=False))
    (loop,) = result.cfg.loops
    seen = sampled_launch(result.cfg, result.isa.facts, LAUNCH, result.wcet.counts, 1000.0)
    assert seen is not None
    assert (seen.counted.executions[loop.head] == 9) is counts
