"""Arguments that decide how often a loop iterates: without them, an estimate says what it expects."""

from dataclasses import replace

import numpy as np
import pytest

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.settings import Settings
from sassan.estimate.accesses.contents import near, span
from sassan.estimate.arguments import numbers_missing
from sassan.estimate.watch import Executions
from sassan.ir import CompilerFacts, Parameter
from sassan.machine.launch import LaunchConfiguration
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
        launch=LaunchConfiguration((128, 1, 1), (8, 1, 1), given),
        resources=Resources(sms=108),
        gpu=find("A100-PCIE-40GB"),
        contention=False,
        check=False,
    )
    return estimated(analyze(replace(scheduled(text), compiler=FACTS), settings))


def test_a_loop_that_an_argument_decides_is_expected_to_iterate():
    texts = answer(OF_THE_ARGUMENT).assumptions
    assert any("the loop at 0x0050 iterates: 8 back edges per entry are expected" in text for text in texts)
    assert any("--param n=N" in text for text in texts)


def test_a_number_that_is_not_given_is_as_large_as_the_grid():
    whole = answer(OF_THE_ARGUMENT.replace("0xc", "0x0")), answer(OF_THE_ARGUMENT.replace("0xc", "0x0"), Setting("n", -1, 1024))
    first, second = (each.estimate for each in whole)
    assert first is not None
    assert second is not None
    assert first.cycles == second.cycles


@pytest.mark.parametrize("given", [1, 100_000_000])
def test_with_the_argument_there_is_an_estimate(given: int):
    assert answer(OF_THE_ARGUMENT, Setting("n", -1, given)).estimate is not None


def test_a_loop_that_another_argument_only_guards_needs_none():
    assert answer(OF_A_NUMBER).estimate is not None


CALLING = """
    MOV R4, 0x10                                 | 5
    CALL.ABS.NOINC `(vprintf)                    | 5
    EXIT                                         | 5
"""


def test_a_function_outside_the_input_is_expected_to_take_its_time():
    with_call, without = (answer(text) for text in (CALLING, CALLING.replace("CALL.ABS.NOINC `(vprintf)", "NOP")))
    assert with_call.estimate is not None
    assert without.estimate is not None
    assert with_call.estimate.cycles - without.estimate.cycles == pytest.approx(2000, abs=200)
    assert any("a call is expected to take 2000 cycles" in text for text in with_call.assumptions)


COUNTED = """
    MOV R1, RZ                                   | 5
    MOV R2, c[0x0][{place}]                      | 5
loop:
    IADD3 R1, R1, 0x1, RZ                        | 4
    ISETP.GE.AND P0, PT, R1, R2, PT              | 13
    @!P0 BRA loop                                | 5
    EXIT                                         | 5
"""


@pytest.mark.parametrize(("place", "given"), [("0x160", Setting("p", -1, 300_000)), ("0x168", Setting("n", -1, 300_000))])
def test_what_stands_for_an_argument_that_is_not_given_counts_no_iterations(place: str, given: Setting):
    """A long number may be a pointer, for which an address stands that lies far from all others: 2^28 iterations."""
    text = COUNTED.replace("{place}", place)
    without, long = answer(text), answer(text, given)
    assert without.estimate is not None
    assert long.estimate is not None
    assert any("8 back edges per entry are expected" in each for each in without.assumptions)
    assert without.estimate.cycles < 20_000
    assert long.estimate.cycles > 3_000_000


def test_a_structure_that_is_given_in_part_is_no_number():
    facts = replace(FACTS, parameters=(Parameter(0, 0, 48),))
    function = replace(scheduled(OF_A_NUMBER, "sm_80"), kernel=True, compiler=facts)
    launch = LaunchConfiguration((128, 1, 1), (8, 1, 1), (Setting("", 0x168, 1 << 14, 4),))
    assert numbers_missing(function, launch) == ()
    assert numbers_missing(function, replace(launch, parameters=())) == ()


def test_an_access_that_no_lane_executes_lies_within_no_byte():
    none = Executions(*(np.zeros(shape, kind) for shape, kind in ((1, np.int64), (1, np.int64), ((1, 32), np.uint64), ((1, 32), np.bool_))))
    assert (span(none), near(none, None)) == (0, True)
