"""Arguments that decide how often a loop iterates: without them there is no estimate, with them there is one."""

from dataclasses import replace

import pytest

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.settings import Settings
from sassan.ir import CompilerFacts, Parameter
from sassan.machine.launch import Launch
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from scheduled import scheduled

STRIDED = """
    S2R R0, SR_TID.X                             | 2 w0
    MOV R2, c[0x0][0x168]                        | 5
    SHF.R.U32.HI R1, RZ, 0xc, R2                 | 5
    ISETP.GE.AND P0, PT, R0, R1, PT              | 13 wait0
    @P0 EXIT                                     | 5
loop:
    IADD3 R0, R0, 0x100, RZ                      | 4
    ISETP.GE.AND P0, PT, R0, {limit}, PT         | 13
    @!P0 BRA loop                                | 5
    EXIT                                         | 5
"""
OF_THE_ARGUMENT, OF_A_NUMBER = STRIDED.replace("{limit}", "R1"), STRIDED.replace("{limit}", "0x8000")
FACTS = CompilerFacts(0x100, registers=16, parameters=(Parameter(0, 0, 8, "p"), Parameter(1, 8, 4, "n")), parameter_base=0x160)


def answer(text: str, *given: Setting) -> EstimateResult:
    settings = Settings(
        costs=models.model("control", Tables()),
        launch=Launch((128, 1, 1), (8, 1, 1), given),
        resources=Resources(sms=108),
        gpu=find("A100-PCIE-40GB"),
        contention=False,
    )
    return estimated(analyze(replace(scheduled(text), compiler=FACTS), settings))


def test_a_loop_that_an_argument_decides_is_a_gap_that_names_it():
    (gap,) = answer(OF_THE_ARGUMENT).gaps
    assert (gap.code, gap.address) == ("unknown-argument", 0x50)
    assert "--param n=N" in gap.message


@pytest.mark.parametrize("given", [1, 100_000_000])
def test_with_the_argument_there_is_an_estimate(given: int):
    assert answer(OF_THE_ARGUMENT, Setting("n", -1, given)).estimate is not None


def test_a_loop_that_another_argument_only_guards_needs_none():
    assert answer(OF_A_NUMBER).estimate is not None
