"""Convergence barriers: BSSY, BSYNC and BREAK, and the barriers where the whole warp meets."""

import pytest

from listing import Code, agreed, assemble, edges, gaps

TID = "S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n ISETP.NE.AND P1, PT, R0, 0x5, PT\n"
MEET = "WARPSYNC 0xffffffff"
IF_ELSE = f"""
    {TID}
    BSSY B0, end
    @P0 BRA else
    then:
    MOV R1, RZ
    BRA sync
    else:
    MOV R2, RZ
    sync:
    BSYNC B0
    end:
    EXIT
"""


def volta(text: str) -> Code:
    return assemble(text, "sm_75")


def leaving(break_: str, branch: str, between: str = "") -> Code:
    """The page's pattern: threads leave a barrier and branch out of its region."""
    return volta(f"""
        {TID}
        BSSY B2, end
        {break_} B2
        {between}
        {branch} outside
        inside:
        BSYNC B2
        end:
        MOV R2, RZ
        outside:
        EXIT
    """)


def test_sides_meet_at_the_target_of_their_barrier_in_either_order():
    assert edges(volta(IF_ELSE)) == [
        "else fallthrough sync",
        "end exit end",
        "kernel diverge else",
        "kernel diverge then",
        "kernel fallthrough then",
        "kernel taken else",
        "sync reactivate else",
        "sync reactivate then",
        "sync reconverge end",
        "then taken sync",
    ]


def test_with_the_taken_side_first_only_the_other_one_waits():
    code = volta(IF_ELSE)
    assert [str(edge.pushed) for edge in code.graph(order="taken-first").edges if edge.pushed] == ["side@0050"]
    assert sorted(str(edge.pushed) for edge in code.graph(order="either").edges if edge.pushed) == ["side@0050", "side@0070_by_0040"]


def test_threads_that_met_agree_on_what_no_side_wrote():
    code = volta(IF_ELSE.replace("BSSY", "MOV R5, c[0x0][0x160]\n MOV R1, R5\n BSSY"))
    assert agreed(code, "end") == "R5"


def test_who_left_by_the_guard_of_the_branch_reaches_no_barrier_that_it_left():
    code = leaving("@!P0 BREAK", "@!P0 BRA")
    assert gaps(code.graph()) == []
    assert [edge for edge in edges(code) if edge.startswith("inside")] == ["inside reactivate outside", "inside reconverge end"]


def test_who_left_by_the_opposite_guard_passes_the_barrier():
    code = leaving("@P0 BREAK", "@!P0 BRA")
    assert [edge for edge in edges(code) if edge.startswith("inside")] == ["inside fallthrough end"]


@pytest.mark.parametrize(
    ("branch", "between"),
    [("@!P0 BRA P1,", ""), ("@!P0 BRA", "ISETP.NE.AND P0, PT, R0, 0x7, PT"), ("@!P1 BRA", ""), ("@!P0 BRA.U UP0,", "")],
)
def test_where_more_or_something_else_decides_the_barrier_holds_some_of_the_threads(branch: str, between: str):
    code = leaving("@!P0 BREAK", branch, between)
    found = [edge for edge in edges(code) if edge.startswith("inside")]
    assert {"inside fallthrough end", "inside reconverge end"} <= set(found)


def test_a_barrier_that_all_have_left_resumes_nobody():
    assert edges(volta("BSSY B0, end\n BREAK B0\n BSYNC B0\n end:\n EXIT")) == ["end exit end", "kernel fallthrough end"]


def test_a_barrier_that_nobody_pushed_is_passed():
    code = volta("BSYNC B0\n end:\n EXIT")
    assert edges(code) == ["end exit end", "kernel fallthrough end"]
    assert gaps(code.graph()) == []


def test_a_barrier_that_resumes_elsewhere_than_behind_its_bsync_is_a_gap():
    code = volta("BSSY B0, end\n BSYNC B0\n MOV R2, RZ\n end:\n EXIT")
    assert gaps(code.graph()) == [(0x10, "misplaced-token")]


def test_a_barrier_pushed_again_by_its_own_threads_is_a_gap():
    code = volta("BSSY B0, end\n BSSY B0, end\n BSYNC B0\n end:\n EXIT")
    assert (0x10, "overwritten-barrier") in gaps(code.graph())


def test_clearing_a_barrier_is_a_gap_only_where_threads_are_in_it():
    assert gaps(volta("BMOV.32.CLEAR RZ, B0\n BSSY B0, end\n BSYNC B0\n end:\n EXIT").graph()) == []
    assert gaps(volta("BSSY B0, end\n BMOV.32.CLEAR RZ, B0\n BSYNC B0\n end:\n EXIT").graph()) == [(0x10, "cleared-barrier")]


def test_a_barrier_is_saved_and_restored():
    text = "BSSY B0, end\n BMOV.32.CLEAR R4, B0\n BSSY B0, inner\n BSYNC B0\n inner:\n BMOV.32 B0, R4\n BSYNC B0\n end:\n EXIT"
    code = volta(text)
    assert gaps(code.graph()) == []
    assert edges(code) == ["end exit end", "inner reconverge end", "kernel reconverge inner"]


def test_a_barrier_left_while_it_lies_saved_is_a_gap():
    code = volta("BSSY B0, end\n BMOV.32.CLEAR R4, B0\n BSYNC B0\n end:\n EXIT")
    assert gaps(code.graph()) == [(0x20, "saved-barrier")]


def test_a_barrier_written_with_something_else_is_a_gap():
    assert gaps(volta("BMOV.32 B0, R4\n EXIT").graph()) == [(0x0, "unknown-barrier")]


EMPTIED = "BMOV.32 B0, 0xffffffff\n BMOV.32.CLEAR B1, B0\n BMOV.32 B1, 0x0\n"
"""How kernels of sm_87 begin, with sixteen barriers."""


def test_masks_of_no_token_may_be_written_and_passed_on_until_all_are_emptied():
    assert gaps(volta(f"{EMPTIED} BSSY B0, end\n BSSY B1, inner\n BSYNC B1\n inner:\n BSYNC B0\n end:\n EXIT").graph()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BMOV.32 B0, 0xffffffff\n BSSY B0, end\n BSYNC B0\n end:\n EXIT", (0x10, "overwritten-barrier")),
        ("BMOV.32 B0, 0xffffffff\n BSYNC B0\n EXIT", (0x10, "saved-barrier")),
        ("BMOV.32 B0, 0xffffffff\n BMOV.32.CLEAR R4, B0\n EXIT", (0x10, "lost-barrier")),
        ("BMOV.32 B0, 0xffffffff\n BMOV.32 B1, B0\n BSSY B0, end\n BSYNC B0\n end:\n EXIT", (0x20, "overwritten-barrier")),
        ("BSSY B0, end\n BMOV.32 B0, 0x0\n BSYNC B0\n end:\n EXIT", (0x10, "unknown-barrier")),
        ("BSSY B0, end\n BMOV.32.CLEAR B1, B0\n BSYNC B0\n end:\n EXIT", (0x10, "unknown-barrier")),
        ("BSSY B0, end\n BMOV.32.CLEAR B0, B1\n BSYNC B0\n end:\n EXIT", (0x10, "unknown-barrier")),
        (f"{TID} @P0 BRA next\n BMOV.32 B0, 0xf\n next:\n BSSY B0, end\n BSYNC B0\n end:\n EXIT", (0x50, "overwritten-barrier")),
    ],
)
def test_a_mask_of_no_token_is_a_gap_where_it_counts(text: str, expected: tuple[int, str]):
    assert expected in gaps(volta(text).graph())


def test_threads_agree_on_a_uniform_register_that_nothing_wrote():
    text = "ISETP.NE.U32.AND P0, PT, RZ, UR2, PT\n @P0 BRA end\n NOP\n end:\n EXIT"
    assert not any(edge.kind == "diverge" for edge in volta(text).graph().edges)


LOOP = f"""
    MOV R5, c[0x0][0x160]
    S2R R0, SR_TID.X
    loop:
    IADD3 R0, R0, 0x1, RZ
    IADD3 R5, R5, 0x1, RZ
    ISETP.NE.AND P0, PT, R0, 0x9, PT
    @P0 BRA loop
    meet:
    {MEET}
    after:
    EXIT
"""


def test_threads_that_leave_a_loop_one_by_one_meet_at_a_barrier_of_the_warp():
    assert edges(volta(LOOP)) == [
        "after exit end",
        "kernel fallthrough loop",
        "loop diverge loop",
        "loop diverge meet",
        "loop fallthrough meet",
        "loop taken loop",
        "meet fallthrough after",
        "meet reactivate loop",
        "meet reactivate meet",
        "meet reconverge after",
    ]


def test_threads_that_meet_agree_only_on_what_the_whole_warp_agreed_on():
    assert agreed(volta(LOOP), "after") == ""
    assert agreed(volta(LOOP.replace("IADD3 R5, R5", "IADD3 R6, R5")), "after") == "R5"


def test_after_the_meeting_the_warp_acts_as_one():
    code = volta(LOOP.replace("after:", "after:\n MOV R7, R5\n BRA next\n next:\n").replace("IADD3 R5, R5", "IADD3 R6, R5"))
    assert agreed(code, "next") == "R5 R7"


TWO = f"""
    {TID}
    @P0 BRA second
    {MEET}
    between:
    MOV R1, RZ
    second:
    {MEET}
    end:
    EXIT
"""


def test_threads_at_two_barriers_of_the_warp_let_each_other_go_and_stay_apart():
    found = edges(volta(TWO))
    # Those at the second barrier are let go by the first: they may end before the others, or after them.
    assert "end exit end" in found
    assert "end reconverge between" in found
    assert "second reconverge end" in found


def test_a_barrier_of_the_warp_wakes_sides_that_wait_below_a_token():
    code = volta(f"{TID} @P0 BRA side\n BSSY B0, end\n {MEET}\n after:\n BSYNC B0\n end:\n EXIT\n side:\n MOV R1, RZ\n EXIT")
    found = edges(code)
    assert "0040 reactivate side" in found
    assert "side reconverge after" in found


def test_a_barrier_of_the_warp_under_a_guard_that_divides_it_is_a_gap():
    assert gaps(volta(f"{TID} @P0 {MEET}\n EXIT").graph()) == [(0x30, "unsupported-flow")]


def test_what_a_product_demands_of_the_guard_in_front_of_it_is_an_assumption():
    product = "@P0 HMMA.16816.F32 R4, R12, R16, RZ"
    graph = volta(f"{TID} @P0 {MEET}\n MOV R2, RZ\n {product}\n EXIT").graph()
    assert gaps(graph) == []
    assumed = "the threads of a warp agree on the guard of the barrier at 0x0030: HMMA.16816.F32 behind it demands it (.aligned)"
    assert assumed in graph.assumptions
    assert not any(node.divergent for node in graph.nodes)


@pytest.mark.parametrize(
    "behind",
    [
        "@!P0 HMMA.16816.F32 R4, R12, R16, RZ",
        "ISETP.NE.AND P0, PT, R0, 0x7, PT\n @P0 HMMA.16816.F32 R4, R12, R16, RZ",
        "HMMA.16816.F32 R4, R12, R16, RZ",
        "BRA next\n next:\n @P0 HMMA.16816.F32 R4, R12, R16, RZ",
    ],
    ids=["opposite", "written", "unguarded", "branch"],
)
def test_a_product_under_another_guard_demands_nothing(behind: str):
    assert gaps(volta(f"{TID} @P0 {MEET}\n {behind}\n EXIT").graph()) == [(0x30, "unsupported-flow")]


def test_a_barrier_of_the_warp_under_a_guard_that_holds_for_all_or_none_is_met_by_all_or_none():
    guard = "ISETP.NE.AND P3, PT, RZ, c[0x0][0x160], PT"
    code = volta(f"{guard}\n {TID} @P0 BRA side\n @P3 {MEET}\n after:\n MOV R2, RZ\n EXIT\n side:\n MOV R1, RZ\n EXIT")
    found = edges(code)
    assert gaps(code.graph()) == []
    assert {"0050 reactivate side", "side reconverge after"} < set(found)  # they wait for the others
    assert "after reactivate side" in found  # they pass, and the others run later


def test_a_barrier_of_the_threads_in_a_register_moves_nobody():
    code = volta(f"{TID} @P0 BRA side\n WARPSYNC R3\n side:\n EXIT")
    assert gaps(code.graph()) == []
    assert "0040 fallthrough side" in edges(code)


@pytest.mark.parametrize("branch", ["BRA.DIV ~URZ,", "BRA.CONV ~URZ,", "@P0 BRA.U UP0,"])
def test_a_branch_on_the_state_of_the_warp_splits_nobody(branch: str):
    code = volta(f"{TID} {branch} there\n same:\n EXIT\n there:\n EXIT")
    assert edges(code) == ["kernel fallthrough same", "kernel taken there", "same exit end", "there exit end"]


@pytest.mark.parametrize(("register", "expected"), [("R2", []), ("R44", []), ("R3", [(0x30, "unknown-barrier")])])
def test_an_external_function_leaves_the_copy_of_a_barrier_in_a_register_that_callees_save(register: str, expected: list[tuple[int, str]]):
    text = f"BSSY B6, end\n BMOV.32.CLEAR {register}, B6\n CALL.ABS.NOINC `(vprintf)\n BMOV.32 B6, {register}\n BSYNC B6\n end:\n EXIT"
    assert gaps(volta(text).graph())[:1] == expected
