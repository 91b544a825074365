"""Every form of operand that the disassemblers print, with the record that it becomes."""

import math

import pytest

from sassan.ir import Constant, Guard, Immediate, Memory, Register, Special, Symbol, Target, Word
from unit.frontend.listings import instruction

R2, R3, R8, RZ = Register("R", 2), Register("R", 3), Register("R", 8), Register("R", None)
UR4 = Register("UR", 4)

FORMS = [
    ("R3", R3),
    ("RZ", RZ),
    ("PT", Register("P", None)),
    ("UPT", Register("UP", None)),
    ("URZ", Register("UR", None)),
    ("UP6", Register("UP", 6)),
    ("B15", Register("B", 15)),
    ("SB5", Register("SB", 5)),
    ("CC", Register("CC", 0)),
    ("!P0", Register("P", 0, negated=True)),
    ("!PT", Register("P", None, negated=True)),
    ("-R3", Register("R", 3, negated=True)),
    ("~R2", Register("R", 2, inverted=True)),
    ("|R3|", Register("R", 3, absolute=True)),
    ("-|R3|", Register("R", 3, negated=True, absolute=True)),
    ("|R11|.reuse", Register("R", 11, absolute=True, modifiers=("reuse",))),
    ("|R4.H0|", Register("R", 4, absolute=True, modifiers=("H0",))),
    ("R0.reuse", Register("R", 0, modifiers=("reuse",))),
    ("R0.H1", Register("R", 0, modifiers=("H1",))),
    ("R9.H1.reuse", Register("R", 9, modifiers=("H1", "reuse"))),
    ("-R5.H0_H0", Register("R", 5, negated=True, modifiers=("H0_H0",))),
    ("R4.F32x2.HI_LO", Register("R", 4, modifiers=("F32x2", "HI_LO"))),
    ("R6.CC", Register("R", 6, modifiers=("CC",))),
    ("0x1f", Immediate(31)),
    ("-0x8", Immediate(-8)),
    ("0x3fd8000000000000", Immediate(0x3FD8000000000000)),
    ("0", Immediate(0)),
    ("16777216", Immediate(16777216)),
    ("-1", Immediate(-1)),
    ("1.5e-07", Immediate(1.5e-07)),
    ("-1.175494350822287508e-38", Immediate(-1.175494350822287508e-38)),
    ("1e+30", Immediate(1e30)),
    ("+INF ", Immediate(math.inf)),
    ("-INF ", Immediate(-math.inf)),
    ("+QNAN ", Immediate(math.nan)),
    ("c[0x0][0x140]", Constant(0, (), 0x140)),
    ("c[0x0] [0x8].H1", Constant(0, (), 8, modifiers=("H1",))),
    ("c[0x3][R8+0xc]", Constant(3, (R8,), 0xC)),
    ("c[0x0][R8+-0x4]", Constant(0, (R8,), -4)),
    ("c[0x0][RZ]", Constant(0, (RZ,), 0)),
    ("cx[UR4][0x8]", Constant(UR4, (), 8)),
    ("-c[0x0][0x4]", Constant(0, (), 4, negated=True)),
    ("|c[0x0][0x4]|", Constant(0, (), 4, absolute=True)),
    ("-|c[0x0][0x4]|", Constant(0, (), 4, negated=True, absolute=True)),
    ("|c[0x0] [0x4].H0_H0|", Constant(0, (), 4, absolute=True, modifiers=("H0_H0",))),
    ("~c[0x0][0x4]", Constant(0, (), 4, inverted=True)),
    ("[R2]", Memory((R2,), 0)),
    ("[RZ]", Memory((RZ,), 0)),
    ("[0x10]", Memory((), 0x10)),
    ("[R2+0x4]", Memory((R2,), 4)),
    ("[R2+-0x4]", Memory((R2,), -4)),
    ("[R2.64+UR4+0x8]", Memory((Register("R", 2, modifiers=("64",)), UR4), 8)),
    ("[R7.X4+UR4]", Memory((Register("R", 7, modifiers=("X4",)), UR4), 0)),
    ("[UR4+-0x400]", Memory((UR4,), -0x400)),
    ("desc[UR4][R2.64+0x8]", Memory((Register("R", 2, modifiers=("64",)),), 8, (UR4,), "desc")),
    ("desc[UR4]", Memory((), 0, (UR4,), "desc")),
    ("gdesc[UR8]", Memory((Register("UR", 8),), 0, (), "gdesc")),
    ("a[0x80]", Memory((), 0x80, (), "a")),
    ("SR_CTAID.X", Special("SR_CTAID.X")),
    ("SR_CgaCtaId", Special("SR_CGACTAID")),
    ("SRZ", Special("SRZ")),
    ("gsb0", Word("gsb0")),
    ("2D", Word("2D")),
    ("ARRAY_2D.DC", Word("ARRAY_2D.DC")),
    ("RGBA", Word("RGBA")),
    ("R", Word("R")),
    ("PR", Word("PR")),
    ("INVALID3", Word("INVALID3")),
    ("{0,1,2}", Word("{0,1,2}")),
    ("32@lo(gv)", Symbol("32@lo(gv)")),
    ("32@hi((k + .L_x_0@srel))", Symbol("32@hi((k + .L_x_0@srel))")),
    ("`(vprintf)", Symbol("vprintf")),
]


@pytest.mark.parametrize(("text", "record"), FORMS, ids=[text for text, _ in FORMS])
def test_an_operand_becomes_its_record(text, record):
    assert instruction(f"X R2, {text}, R3 ;").operands == (R2, record, R3)


@pytest.mark.parametrize(("text", "record"), FORMS, ids=[text for text, _ in FORMS])
def test_an_operand_may_stand_last(text, record):
    assert instruction(f"X R2, {text};").operands == (R2, record)


def test_minus_nan_keeps_its_sign():
    value = instruction("MUFU.RSQ R2, -QNAN ;").operands[1].value
    assert math.copysign(1, value) == -1


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("@P0 MOV R1, R2 ;", Guard("P", 0, negated=False)),
        ("@!P3 MOV R1, R2 ;", Guard("P", 3, negated=True)),
        ("@UP2 UMOV UR1, UR2 ;", Guard("UP", 2, negated=False)),
        ("@!PT SHFL.IDX PT, RZ, RZ, RZ, RZ ;", Guard("P", None, negated=True)),
        ("@PT MOV R1, R2 ;", None),
        ("MOV R1, R2 ;", None),
    ],
)
def test_a_guard_is_a_predicate_and_its_sign(text, guard):
    assert instruction(text).guard == guard


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("BRA P2, 0x10 ;", (Register("P", 2), Target(0x10))),
        ("BRA.U !UP0, 0x10 ;", (Register("UP", 0, negated=True), Target(0x10))),
        ("BRA.DIV UR6, 0x10 ;", (Register("UR", 6), Target(0x10))),
        ("BRA.DIV ~URZ, 0x10 ;", (Register("UR", None, inverted=True), Target(0x10))),
        ("RET.REL.NODEC R20 0x0 ;", (Register("R", 20), Target(0))),
        ("CALL.REL.NOINC R2 0x0 ;", (R2, Target(0))),
        ("BSSY B0, 0x10 ;", (Register("B", 0), Target(0x10))),
        ("LEPC R20, 0x10 ;", (Register("R", 20), Target(0x10))),
        ("WARPSYNC.COLLECTIVE R2, 0x10 ;", (R2, Target(0x10))),
        ("WARPSYNC 0x10 ;", (Immediate(0x10),)),
        ("BRX R6 -0x1a0 ;", (Register("R", 6), Immediate(-0x1A0))),
        ("CALL.ABS.NOINC 0x0 ;", (Immediate(0),)),
        ("RET.ABS.NODEC R20 0x0 ;", (Register("R", 20), Immediate(0))),
        ("BRA 0x500 ;", (Symbol("0x500"),)),
        ("BRA 0x8 ;", (Symbol("0x8"),)),
    ],
)
def test_a_control_operand_is_a_target_only_if_it_is_an_instruction_of_the_function(text, operands):
    assert instruction(text).operands == operands


def test_a_cc_test_is_the_condition_of_the_instruction():
    one = instruction("@P0 BRA CC.NEU, 0x10 ;", "sm_61")
    assert (one.condition, one.operands) == ("CC.NEU", (Target(0x10),))


def test_a_cc_test_may_stand_alone():
    one = instruction("EXIT CC.EQ ;", "sm_61")
    assert (one.condition, one.operands) == ("CC.EQ", ())


def test_the_carry_flag_as_an_operand_is_no_condition():
    assert instruction("P2R R0, CC, RZ, 0x7f ;", "sm_61").condition == ""


@pytest.mark.parametrize("text", ["R255", "R300", "UR255", "P16", "UP8", "B16", "[R999]"])
def test_a_register_that_does_not_exist_is_refused(text, refusal):
    error = refusal(f"MOV R1, {text} ;")
    assert (error.code, error.message) == ("syntax", f"there is no register {text.strip('[]')}")
