"""Divisions by a register as ptxas spells them: found, and what lanes share of the quotient and of the remainder."""

import pytest

from budget import part
from listing import assemble
from sassan.domains.lanes import LaneWord
from sassan.isa import tables
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.values import with_values
from sassan.warpcfg import explore
from soundness.values.runs import WordPlan, inspect_words

START = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    IMAD R2, R0, c[0x0][0x0], R1
"""
RECIPROCAL = """
    I2F.U32.RP R5, c[0x0][0x160]
    MUFU.RCP R5, R5
    IADD3 R6, R5, 0xffffffe, RZ
    F2I.FTZ.U32.TRUNC.NTZ R7, R6
    IMAD.MOV.U32 R6, RZ, RZ, RZ
    IMAD.MOV R3, RZ, RZ, -R7
    IMAD R3, R3, c[0x0][0x160], RZ
    IMAD.HI.U32 R7, R7, R3, R6
"""
ESTIMATE = """
    IMAD.HI.U32 R4, R7, R2, RZ
    IMAD.MOV R3, RZ, RZ, -R4
    IMAD R2, R3, c[0x0][0x160], R2
"""
FIRST = """
    ISETP.GE.U32.AND P0, PT, R2, c[0x0][0x160], PT
    @P0 IADD3 R2, R2, -c[0x0][0x160], RZ
    @P0 IADD3 R4, R4, 0x1, RZ
"""
QUOTIENT = """
    ISETP.GE.U32.AND P1, PT, R2, c[0x0][0x160], PT
    @P1 IADD3 R4, R4, 0x1, RZ
"""
REMAINDER = """
    ISETP.GE.U32.AND P1, PT, R2, c[0x0][0x160], PT
    @P1 IADD3 R2, R2, -c[0x0][0x160], RZ
"""
WHOLE = START + RECIPROCAL + ESTIMATE + FIRST


def behind(text: str, register: int, divisor: int | None) -> LaneWord | None:
    """Return the word of a register behind a listing of sm_80, None where threads may differ in more than its lanes."""
    function = assemble(text + "MOV R20, RZ\nSTG.E [R2.64], R4\nSTG.E [R4.64], R4\nEXIT\n", "sm_80").function
    facts_of = tables.load("sm_80").facts
    settings = () if divisor is None else (Setting("", 0x160, divisor, 4),)
    values = with_values(
        explore(function, facts_of), facts_of, LaunchConfiguration((256, 1, 1), (64, 1, 1), settings), lambda f: explore(function, f)
    )
    assert values is not None
    seen = [
        point.word(bit("R", register).bit_length() - 1)
        for node in range(len(values.cfg.nodes))
        for instruction, point in values.along(node)
        if instruction.opcode == "STG.E"
    ]
    return seen[0]


@pytest.mark.parametrize("divisor", [32, 96, 1 << 12, 640])
def test_a_warp_shares_the_quotient_by_a_multiple_of_its_threads(divisor: int):
    quotient = behind(WHOLE + QUOTIENT, 4, divisor)
    assert quotient is not None
    assert not quotient.varies
    assert quotient.high == (64 * 256 - 1) // divisor
    remainder = behind(WHOLE + REMAINDER, 2, divisor)
    assert remainder is not None
    assert (remainder.lanes, remainder.rows, remainder.high) == (tuple(range(32)), None, divisor - 1)


def test_half_warps_share_the_quotient_by_a_multiple_of_16():
    quotient = behind(WHOLE + QUOTIENT, 4, 48)
    assert quotient is not None
    assert quotient.rows == (0,) * 16 + (1,) * 16


@pytest.mark.parametrize(
    "text",
    [
        START + RECIPROCAL + ESTIMATE + QUOTIENT,
        WHOLE.replace("0xffffffe", "0x0") + QUOTIENT,
        WHOLE.replace("0xffffffe", "0x10000010") + QUOTIENT,
        WHOLE.replace("@P0 IADD3 R2, R2, -c", "@P0 IADD3 R2, R2, c") + QUOTIENT,
        WHOLE + QUOTIENT.replace("GE", "GT"),
        WHOLE + QUOTIENT.replace("@P1", "@!P1"),
        WHOLE.replace("R7, R2, RZ", "R7, R1, RZ") + QUOTIENT,
        WHOLE.replace("-R4", "-R6") + QUOTIENT,
        START + RECIPROCAL + "S2R R7, SR_CLOCKLO\n" + ESTIMATE + FIRST + QUOTIENT,
    ],
)
def test_what_is_no_division_is_none(text: str):
    assert behind(WHOLE + QUOTIENT, 4, 96) is not None
    assert behind(text, 4, 96) is None


def test_a_divisor_that_is_not_given_has_no_quotient():
    assert behind(WHOLE + QUOTIENT, 4, None) is None


@pytest.mark.slow
@pytest.mark.parametrize("text", [WHOLE + QUOTIENT, WHOLE + REMAINDER])
def test_threads_hold_what_is_said_of_a_division(text: str):
    report = inspect_words(
        assemble(text + "MOV R20, RZ\nSTG.E [R2.64], R4\nSTG.E [R4.64], R4\nEXIT\n", "sm_80").function, WordPlan(3, launches=part(24, of=2))
    )
    assert not isinstance(report, str)
    assert [str(finding) for finding in report.findings] == []
