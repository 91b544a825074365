"""On what the active threads agree at the start of blocks."""

import pytest

from listing import agreed, assemble, edges

ALL_BUT_TID = """
    MOV R1, RZ
    MOV R2, c[0x0][0x140]
    MOV R3, RZ
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
"""


def test_nothing_is_agreed_when_the_kernel_starts():
    assert agreed(assemble("EXIT"), "kernel") == ""


def test_a_register_written_on_one_side_no_longer_agrees_behind_the_reconvergence():
    code = assemble(
        ALL_BUT_TID
        + """
        SSY end
        @P0 BRA side
    rest:
        MOV R2, 0x1
        SYNC
    side:
        SYNC
    end:
        EXIT
    """
    )
    assert agreed(code, "side") == "R1 R2 R3 P0"
    assert agreed(code, "rest") == "R1 R2 R3 P0"
    assert agreed(code, "end") == "R1 R3"


def test_what_a_uniform_branch_writes_agrees_behind_it():
    code = assemble(
        """
        MOV R2, RZ
        S2R R0, SR_CTAID.X
        ISETP.NE.AND P0, PT, R0, RZ, PT
        SSY end
        @P0 BRA side
    rest:
        MOV R2, 0x1
        SYNC
    side:
        SYNC
    end:
        EXIT
    """
    )
    assert agreed(code, "end") == "R0 R2 P0"


def test_the_waiting_side_does_not_see_what_the_running_one_writes():
    code = assemble(
        ALL_BUT_TID
        + """
        @P0 BRA side
    rest:
        EXIT
    side:
        S2R R1, SR_TID.X
        S2R R2, SR_TID.X
        EXIT
    """
    )
    assert agreed(code, "rest") == "R1 R2 R3 P0"


def test_a_token_below_loses_what_only_some_of_its_threads_write():
    code = assemble(
        ALL_BUT_TID
        + """
        SSY end
        @P0 SYNC
    body:
        MOV R1, 0x1
        SYNC
    end:
        EXIT
    """
    )
    assert agreed(code, "body") == "R1 R2 R3 P0"
    assert agreed(code, "end") == "R2 R3"


def test_a_guarded_write_under_an_agreed_guard_gains_nothing_and_loses_nothing():
    code = assemble(
        """
        MOV R1, RZ
        S2R R0, SR_CTAID.X
        ISETP.NE.AND P0, PT, R0, RZ, PT
        @P0 MOV R1, 0x1
        @P0 MOV R2, 0x1
        BRA end
    end:
        EXIT
    """
    )
    assert agreed(code, "end") == "R0 R1 P0"


def test_a_guarded_write_under_another_guard_loses_agreement():
    code = assemble(f"{ALL_BUT_TID} @P0 MOV R1, 0x1\n BRA end\n end:\n EXIT")
    assert agreed(code, "end") == "R2 R3"


@pytest.mark.parametrize(
    ("branch", "side", "rest"),
    [
        ("@P0 BRA side", "P0", "P0"),
        ("@!P0 BRA side", "P0", "P0"),
        ("BRA P1, side", "P1", ""),
        ("@P0 BRA P1, side", "P0 P1", ""),
        ("@P0 BRA CC.EQ, side", "P0", ""),
        ("BRA CC.EQ, side", "", ""),
    ],
)
def test_a_side_learns_the_guard_only_where_the_guard_alone_decided(branch: str, side: str, rest: str):
    code = assemble(f"{branch}\n rest:\n EXIT\n side:\n EXIT")
    assert (agreed(code, "side"), agreed(code, "rest")) == (side, rest)


@pytest.mark.parametrize(("leave", "rest"), [("@P0 SYNC", "P0"), ("@P0 EXIT", "P0"), ("SYNC CC.EQ", ""), ("@P0 SYNC CC.EQ", "")])
def test_those_who_stay_learn_the_guard_where_it_alone_decided(leave: str, rest: str):
    code = assemble(f"SSY end\n {leave}\n rest:\n SYNC\n end:\n EXIT")
    assert agreed(code, "rest") == rest


def test_either_order_teaches_both_sides():
    code = assemble("@P0 BRA side\n rest:\n EXIT\n side:\n EXIT")
    graph = code.graph(order="either")
    assert (agreed(code, "side", graph), agreed(code, "rest", graph)) == ("P0", "P0")


def test_a_vote_agrees_in_those_who_voted_and_is_lost_where_they_meet_others():
    code = assemble(
        ALL_BUT_TID
        + """
        SSY end
        @P0 BRA side
    rest:
        SYNC
    side:
        VOTE.ALL R4, P2, P1
        BRA next
    next:
        SYNC
    end:
        VOTE.ALL R4, P2, P1
        BRA last
    last:
        EXIT
    """
    )
    assert agreed(code, "next") == "R1 R2 R3 R4 P0 P2"
    assert agreed(code, "end") == "R1 R2 R3"
    assert agreed(code, "last") == "R1 R2 R3 R4 P2"


def test_a_load_agrees_at_an_agreed_address_only():
    code = assemble(f"{ALL_BUT_TID} LDS.U.32 R4, [R2]\n LDS.U.32 R5, [R0]\n LDC R6, c[0x3][R2]\n BRA end\n end:\n EXIT")
    assert agreed(code, "end") == "R1 R2 R3 R4 R6"


def test_the_carry_flag_is_a_register():
    code = assemble(
        f"{ALL_BUT_TID} IADD R4.CC, R2, R2\n IADD.X R5, R1, R1\n IADD R6.CC, R0, R2\n IADD.X R7, R1, R1\n BRA end\n end:\n EXIT"
    )
    assert agreed(code, "end") == "R1 R2 R3 R4 R5"


def test_a_callee_sees_and_changes_the_agreement_of_its_caller():
    code = assemble(f"{ALL_BUT_TID} CAL f\n back:\n EXIT\n f():\n S2R R1, SR_TID.X\n RET")
    assert agreed(code, "f") == "R1 R2 R3"
    assert agreed(code, "back") == "R2 R3"


def test_a_block_agrees_on_what_all_ways_to_it_agree_on():
    code = assemble(
        """
        MOV R1, RZ
        MOV R2, RZ
        S2R R0, SR_CTAID.X
        ISETP.NE.AND P0, PT, R0, RZ, PT
        @P0 BRA side
    rest:
        S2R R1, SR_TID.X
        BRA join
    side:
        S2R R2, SR_TID.X
    join:
        EXIT
    """
    )
    assert edges(code)[0] == "join exit end"
    assert agreed(code, "join") == "R0 P0"


def test_threads_that_leave_a_loop_in_different_turns_disagree_on_its_counter():
    code = assemble(
        """
        S2R R0, SR_TID.X
        MOV R1, RZ
        PBK out
    head:
        IADD R1, R1, 0x1
        ISETP.GE.AND P0, PT, R1, R0, PT
        @P0 BRK
    latch:
        BRA head
    out:
        EXIT
    """
    )
    assert agreed(code, "head") == "R1"
    assert agreed(code, "latch") == "R1 P0"
    assert agreed(code, "out") == ""


GUARDED = """
    MOV R1, c[0x0][0x140]
    S2R R2, SR_TID.X
    S2R R0, SR_CTAID.X
    {before}
    ISETP.NE.AND P0, PT, R0, RZ, PT
    @P0 MOV R2, R1
    {behind}
    @P0 BRA side
rest:
    EXIT
side:
    EXIT
"""


@pytest.mark.parametrize(
    ("behind", "agree"),
    [
        ("NOP", "R0 R1 R2 P0"),
        ("MOV R3, R2", "R0 R1 R2 R3 P0"),
        ("S2R R2, SR_TID.X", "R0 R1 P0"),
        ("@P0 S2R R2, SR_TID.X", "R0 R1 P0"),
        ("@!P0 S2R R2, SR_TID.X", "R0 R1 R2 P0"),
        ("@P1 S2R R2, SR_TID.X", "R0 R1 P0"),
        ("ISETP.NE.AND P0, PT, R1, 0x3, PT", "R0 R1 P0"),
    ],
)
def test_threads_for_which_a_guard_holds_have_run_what_stands_under_it(behind: str, agree: str):
    code = assemble(GUARDED.format(before="NOP", behind=behind))
    assert agreed(code, "side") == agree
    assert "R2" not in agreed(code, "rest")


def test_threads_for_which_a_guard_fails_have_not():
    code = assemble(GUARDED.format(before="MOV R2, R1", behind="@P0 S2R R2, SR_TID.X"))
    assert agreed(code, "rest") == "R0 R1 R2 P0"
    assert "R2" not in agreed(code, "side")
