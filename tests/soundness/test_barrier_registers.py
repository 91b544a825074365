"""Barrier registers that are written and emptied before any token: the machine, its twins, and the graph agree on them."""

from collections import Counter

import pytest

from listing import assemble
from sassan.isa import tables
from sassan.simt.code import lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import SideOrder
from sassan.warpcfg import explore
from simt.plain import PlainRun
from simt.uninterpreted import Uninterpreted, draw
from soundness.oracles import Plan, inspect
from soundness.volta import Volta

RUNS, STEPS = 200, 100
TEXT = """
    ISETP.NE.U32.AND P2, PT, RZ, UR2, PT
    @P2 BRA start
    BMOV.32 B0, 0xffffffff
    BMOV.32.CLEAR B1, B0
    BMOV.32.CLEAR B2, B1
    BMOV.32 B2, 0x0
    UMOV UR2, 0x1
    start:
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
    ISETP.GT.AND P1, PT, R0, 0x5, PT
    BSSY B2, end
    @P0 BRA sync
    BSSY B0, inner
    @P1 BRA meet
    NOP
    meet:
    BSYNC B0
    inner:
    NOP
    sync:
    BSYNC B2
    end:
    EXIT
"""
"""How ptxas begins the kernels of sm_87, with three barriers instead of sixteen."""
FUNCTION = assemble(TEXT, "sm_75").function


@pytest.mark.parametrize("order", SideOrder)
def test_every_step_is_an_edge(order: SideOrder):
    cfg = explore(FUNCTION, tables.load(FUNCTION.arch).facts)
    report = inspect(FUNCTION, cfg, Plan(RUNS, 3, STEPS, order=order, solve=4, free=RUNS // 4))
    assert ([str(finding) for finding in report.findings], cfg.gaps, report.ended) == ([], (), RUNS)
    assert order is not SideOrder.RANDOM or report.edges_seen == report.edges


def test_the_plain_machine_takes_the_same_steps():
    code, runs = lower(FUNCTION, Volta(FUNCTION)), draw(1, 40)
    outcome = Machine(code, Uninterpreted(runs), SideOrder.RANDOM, Limits(steps=STEPS)).run(runs.active)
    for run in range(40):
        plain = PlainRun(code, runs, run, order=SideOrder.RANDOM)
        plain.execute(STEPS)
        assert {step: int(n) for step, n in zip(outcome.transitions, outcome.counts[run], strict=True) if n} == Counter(plain.path)
