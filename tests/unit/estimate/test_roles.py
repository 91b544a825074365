"""Warps of a block with paths of their own: each is simulated on its own, and a wait that nobody ends is named."""

import numpy as np
import pytest

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.settings import Settings
from sassan.estimate.roles.barrier_operations import BarrierOperation
from sassan.estimate.roles.phases import matched
from sassan.estimate.roles.traces import BarrierExecution, WarpTrace
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from scheduled import scheduled

ROLES = """
    S2R R0, SR_TID.X                             | 2 w0
    MOV R1, RZ                                   | 5
    ISETP.GE.AND P0, PT, R0, 0x20, PT            | 13 wait0
    @P0 BRA other                                | 5
first:
    IADD3 R1, R1, 0x1, RZ                        | 4
    ISETP.NE.AND P1, PT, R1, 0x40, PT            | 13
    @P1 BRA first                                | 5
    EXIT                                         | 5
other:
    IADD3 R1, R1, 0x2, RZ                        | 4
    ISETP.NE.AND P1, PT, R1, {limit}, PT         | 13
    @P1 BRA other                                | 5
    EXIT                                         | 5
"""


def answer(text: str) -> EstimateResult:
    settings = Settings(
        costs=models.model("control", Tables()),
        launch=LaunchConfiguration((160, 1, 1), (8, 1, 1)),
        resources=Resources(sms=108, registers=16, shared=0),
        gpu=find("A100-PCIE-40GB"),
        contention=False,
        loop_bound=0,
    )
    return estimated(analyze(scheduled(text), settings))


def test_warps_of_a_block_that_run_other_loops_are_simulated_each_on_its_own():
    few, many = (answer(ROLES.replace("{limit}", limit)).estimate for limit in ("0x80", "0x2000"))
    assert few is not None
    assert many is not None
    assert few.rows["total"].cycles["issue"] < many.rows["total"].cycles["issue"]
    assert few.cycles < many.cycles


def test_a_loop_that_ends_at_once_is_no_role():
    assert answer(ROLES.replace("{limit}", "0x2")).estimate is not None


def trace(*met: tuple[BarrierOperation, int, int | None]) -> WarpTrace:
    """Return the trace of a warp that meets others at barriers, once in each visit."""
    several = tuple(BarrierExecution(visit, 16 * visit, kind, barrier, 1, amount) for visit, (kind, barrier, amount) in enumerate(met))
    return WarpTrace(np.zeros(len(met), np.int64), several, ended=True)


BEGIN = (1 << 20) - 1 << 1
"""The word that sets up a barrier for one arrival."""
STAGES = [(BarrierOperation.BEGIN, stage, BEGIN) for stage in range(4)]


def pipeline(turns: int, missing: int = -1) -> tuple[WarpTrace, WarpTrace]:
    """Return a producer and a consumer of two stages, without the arrival of one turn."""
    producer, consumer = list(STAGES), list[tuple[BarrierOperation, int, int | None]]()
    for turn in range(turns):
        stage, phase = turn % 2, turn // 2 % 2
        producer += [
            (BarrierOperation.TEST, 2 + stage, (1 - phase) << 31),
            (BarrierOperation.EXPECT, stage, 4096),
            (BarrierOperation.COPY, stage, None),
        ]
        consumer.append((BarrierOperation.TEST, stage, phase << 31))
        consumer += [(BarrierOperation.ARRIVE, 2 + stage, 0)] if turn != missing else []
    return trace(*producer), trace(*consumer)


@pytest.mark.parametrize("turns", [1, 2, 7])
def test_every_wait_of_a_pipeline_is_matched(turns: int):
    found = matched(pipeline(turns))
    assert found.gaps == ()
    assert found.visits == tuple(len(each.nodes) for each in pipeline(turns))
    assert set(found.bytes.values()) == {4096}


def test_a_missing_arrival_is_named_with_its_barrier():
    (gap, *_) = matched(pipeline(7, missing=2)).gaps
    assert gap.code == "unmatched-wait"
    assert "0x2 of shared memory" in gap.message
