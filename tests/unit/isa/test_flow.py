"""What an instruction does to the program counter and the token stack, and who decides."""

import pytest

from assembly import facts, listed
from sassan.isa.facts import Flow

CLASSES = [
    ("sm_61", "IADD R0, R1, R2", Flow.NONE, ""),
    ("sm_61", "BRA 0x1a8", Flow.BRANCH, ""),
    ("sm_61", "BRX R0 -0x140", Flow.INDIRECT_BRANCH, ""),
    ("sm_61", "BRA c[0x0][0x140]", Flow.INDIRECT_BRANCH, ""),
    ("sm_61", "SSY 0x1a8", Flow.PUSH, "SYNC"),
    ("sm_61", "SSY c[0x0][0x140]", Flow.UNSUPPORTED, "SYNC"),
    ("sm_61", "PBK 0x1a8", Flow.PUSH, "BRK"),
    ("sm_61", "PCNT 0x1a8", Flow.PUSH, "CONT"),
    ("sm_61", "PRET 0x1a8", Flow.PUSH, "RET"),
    ("sm_61", "CAL 0x1a8", Flow.CALL, "RET"),
    ("sm_61", "JCAL `(vprintf)", Flow.CALL, "RET"),
    ("sm_61", "SYNC", Flow.POP, "SYNC"),
    ("sm_61", "BRK", Flow.POP, "BRK"),
    ("sm_61", "CONT", Flow.POP, "CONT"),
    ("sm_61", "RET", Flow.POP, "RET"),
    ("sm_61", "EXIT", Flow.EXIT, ""),
    ("sm_61", "EXIT.KEEPREFCOUNT", Flow.EXIT, ""),
    ("sm_61", "KIL", Flow.EXIT, ""),
    ("sm_61", "BPT.TRAP 0x1", Flow.TRAP, ""),
    ("sm_61", "BPT.DRAIN 0x0", Flow.NONE, ""),
    ("sm_61", "BPT.INT 0x1", Flow.UNSUPPORTED, ""),
    ("sm_61", "LONGJMP", Flow.UNSUPPORTED, ""),
    ("sm_61", "RAM", Flow.UNSUPPORTED, ""),
    ("sm_61", "BAR.SYNC 0x0", Flow.BLOCK_BARRIER, ""),
    ("sm_61", "BAR.RED.POPC 0x0, P0", Flow.BLOCK_BARRIER, ""),
    ("sm_61", "BAR.ARV 0x3, 0x40", Flow.NONE, ""),
    ("sm_61", "MEMBAR.CTA", Flow.NONE, ""),
    ("sm_70", "BSSY B3, 0x1a0", Flow.PUSH, "B3"),
    ("sm_70", "BSYNC B3", Flow.POP, "B3"),
    ("sm_70", "BREAK B3", Flow.BREAK, "B3"),
    ("sm_70", "WARPSYNC 0xffffffff", Flow.WARP_BARRIER, ""),
    ("sm_90", "WARPSYNC.ALL", Flow.WARP_BARRIER, ""),
    ("sm_70", "WARPSYNC R4", Flow.NONE, ""),
    ("sm_70", "WARPSYNC 0xffff", Flow.NONE, ""),
    ("sm_70", "WARPSYNC.EXCLUSIVE R4", Flow.NONE, ""),
    ("sm_90", "WARPSYNC.COLLECTIVE R20, 0x1a0", Flow.NONE, ""),
    ("sm_90", "ENDCOLLECTIVE", Flow.NONE, ""),
    ("sm_75", "BRA.DIV UR6, 0x1a0", Flow.BRANCH, ""),
    ("sm_90", "@P0 BRA.U.ANY 0x1a0", Flow.BRANCH, ""),
    ("sm_90", "UCGABAR_WAIT", Flow.BLOCK_BARRIER, ""),
    ("sm_75", "BRA.CONV UR6, 0x1a0", Flow.BRANCH, ""),
    ("sm_70", "BMOV.32.CLEAR RZ, B0", Flow.BARRIER_MOVE, "B0"),
    ("sm_70", "BMOV.32 B6, R19", Flow.BARRIER_MOVE, "B6"),
    ("sm_70", "BMOV.32 R19, B6", Flow.BARRIER_MOVE, "B6"),
    ("sm_70", "BMOV.32.PQUAD B6, R19", Flow.UNSUPPORTED, "B6"),
    ("sm_75", "BMOV.32 R4, MEXITED", Flow.NONE, ""),
    ("sm_70", "CALL.REL.NOINC 0x1a0", Flow.CALL, ""),
    ("sm_70", "CALL.REL.NOINC R2 `(kernel)", Flow.INDIRECT_CALL, ""),
    ("sm_70", "RET.REL.NODEC R20 `(kernel)", Flow.RETURN, ""),
    ("sm_70", "YIELD", Flow.NONE, ""),
    ("sm_70", "NANOSLEEP R2", Flow.NONE, ""),
]


@pytest.mark.parametrize(("arch", "text", "flow", "tag"), CLASSES)
def test_flow_class_and_tag_are_as_listed(arch: str, text: str, flow: Flow, tag: str):
    found = facts(arch, text)
    assert (found.flow, found.tag) == (flow, tag)


def test_a_branch_knows_its_target():
    assert facts("sm_61", "BRA 0x1a8").target == 0x1A8


def test_a_push_knows_its_target():
    assert facts("sm_61", "PBK 0x1a8").target == 0x1A8


def test_a_call_of_a_symbol_has_no_target():
    assert facts("sm_61", "JCAL `(vprintf)").target is None


def test_a_branch_that_the_compiler_calls_an_indirect_call_is_one():
    assert facts("sm_61", "BRX R2 -0xa0", '(*"INDIRECT_CALL"*)').flow is Flow.INDIRECT_CALL


def test_a_guard_decides_alone():
    found = facts("sm_61", "@!P0 BRA 0x1a8")
    assert (listed(found.condition), found.guard_alone) == ("P0", True)


def test_a_flag_test_decides_with_the_guard():
    found = facts("sm_61", "@P0 BRA CC.NEU, 0x1a8")
    assert (listed(found.condition), found.guard_alone) == ("P0 CC", False)


def test_a_predicate_operand_decides_with_the_guard():
    found = facts("sm_70", "@P0 BRA P2, 0x1a8")
    assert (listed(found.condition), found.guard_alone) == ("P0 P2", False)


def test_a_branch_with_no_guard_has_no_condition():
    found = facts("sm_61", "BRA 0x1a8")
    assert (found.condition, found.guard_alone) == (0, True)


def test_the_predicate_of_a_block_reduction_decides_nothing():
    found = facts("sm_61", "BAR.RED.OR 0x0, P1")
    assert (found.condition, found.guard_alone) == (0, True)


def test_a_branch_said_to_be_uniform_is():
    assert facts("sm_61", "@P0 BRA.U 0x1a8").uniform


def test_a_branch_on_a_uniform_predicate_is_uniform():
    assert facts("sm_75", "@UP0 BRA 0x1a8").uniform


def test_a_branch_on_a_predicate_is_not_uniform():
    assert not facts("sm_61", "@P0 BRA 0x1a8").uniform


def test_a_branch_on_both_kinds_of_predicates_is_not_uniform():
    assert not facts("sm_75", "@P0 BRA UP0, 0x1a8").uniform


@pytest.mark.parametrize(
    ("text", "uniform", "alone"),
    [("BRA.DIV UR6, 0x1a0", True, False), ("@!P0 BRA.CONV UR6, 0x1a0", False, False), ("@P0 BRA.U.ANY 0x1a0", True, False)],
)
def test_a_branch_on_convergence_is_decided_by_more_than_its_guard(text: str, *, uniform: bool, alone: bool):
    found = facts("sm_90", text)
    assert (found.uniform, found.guard_alone) == (uniform, alone)
