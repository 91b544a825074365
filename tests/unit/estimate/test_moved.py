"""What an access keeps of the memory pipeline of an SM, and what L2 gives it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sassan.access import accesses
from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.settings import Settings
from sassan.estimate.figures import l2_rate
from sassan.estimate.traffic import expected
from sassan.ipet.sm.gpu import memory_of
from sassan.isa.tables import load
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.values import with_values
from sassan.warpcfg import explore
from scheduled import scheduled

COPY = """
S2R R0, SR_TID.X | 5
IMAD.SHL.U32 R6, R0, 0x10, RZ | 5
MOV R2, R6 | 5
MOV R3, RZ | 5
LDGSTS.E.BYPASS.128 [R6], [R2.64] | 5
EXIT | 5
"""

COPY_OF_BLOCKS = """
S2R R0, SR_TID.X | 5
S2R R4, SR_CTAID.X | 5
IMAD.SHL.U32 R6, R0, 0x10, RZ | 5
IMAD R2, R4, 0x1000, R6 | 5
MOV R3, RZ | 5
LDGSTS.E.BYPASS.128 [R6], [R2.64] | 5
EXIT | 5
"""


def test_a_copy_by_warps_takes_dram_for_all_of_its_bytes():
    gpu, blocks = find("A100-PCIE-40GB"), 65536
    settings = Settings(
        costs=models.model("control", Tables()),
        launch=LaunchConfiguration((256, 1, 1), (blocks, 1, 1)),
        resources=Resources(registers=16, shared=4096, sms=gpu.sms),
        gpu=gpu,
        contention=False,
    )
    known = estimated(analyze(replace(scheduled(COPY_OF_BLOCKS, "sm_80"), kernel=True), settings)).estimate
    assert known is not None
    peak = 1555e3  # bytes per microsecond: data sheet
    assert blocks * 4096 / known.us < peak


def test_a_copy_by_warps_keeps_the_pipeline_for_the_longer_of_its_two_accesses():
    """512 bytes of a warp come in 8 cycles over the link of an SM, and are written to shared memory in 4 passes meanwhile."""
    facts, function, launch = load("sm_80").facts, scheduled(COPY, "sm_80"), LaunchConfiguration((32, 1, 1), (1, 1, 1))
    values = with_values(explore(function, facts), facts, launch, lambda known: explore(function, known))
    assert values is not None
    moved = expected(accesses(values), [node.code for node in values.cfg.nodes], memory_pipeline("sm_80"), {})
    assert [(each.cycles, each.sectors) for each in moved.values()] == [(8, 16)]


@pytest.mark.parametrize(("name", "per_sm"), [("B200", 57), ("H100 NVL", 27), ("A30", 34)])
def test_an_estimate_takes_a_usual_l2_where_none_was_measured_and_a_bound_the_slowest(name: str, per_sm: int):
    gpu = find(name)
    assert l2_rate(gpu.architecture) == per_sm
    assert memory_of(gpu, Fraction(per_sm)).l2 == per_sm * gpu.sms > memory_of(gpu).l2
