"""What no path for all warps tells is a gap."""

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.settings import Settings
from sassan.machine.launch import Launch
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
        launch=Launch((160, 1, 1), (8, 1, 1)),
        resources=Resources(sms=108, registers=16, shared=0),
        gpu=find("A100-PCIE-40GB"),
        contention=False,
        loop_bound=0,
    )
    return estimated(analyze(scheduled(text), settings))


def test_warps_of_a_block_that_run_other_loops_have_no_path_in_common():
    (gap,) = answer(ROLES.replace("{limit}", "0x80")).gaps
    assert (gap.code, gap.address) == ("warp-roles", 0x40)
    assert "0x0080" in gap.message


def test_a_loop_that_ends_at_once_is_no_role():
    assert answer(ROLES.replace("{limit}", "0x2")).estimate is not None
