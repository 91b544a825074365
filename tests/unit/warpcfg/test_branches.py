"""Edges of branches, ifs and early ends."""

import pytest

from listing import assemble, edges, steps

TID = """
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
"""
CTAID = """
    S2R R0, SR_CTAID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
"""
IF_ELSE = """
    SSY end
    @P0 BRA else
then:
    SYNC
else:
    SYNC
end:
    EXIT
"""


def test_a_divergent_if_else_runs_the_taken_side_then_the_other():
    assert edges(assemble(TID + IF_ELSE)) == [
        "else reactivate then",
        "else reconverge end",
        "end exit end",
        "kernel diverge else",
        "kernel fallthrough then",
        "kernel taken else",
        "then reconverge end",
    ]


def test_a_uniform_if_else_runs_one_side():
    assert edges(assemble(CTAID + IF_ELSE)) == [
        "else reconverge end",
        "end exit end",
        "kernel fallthrough then",
        "kernel taken else",
        "then reconverge end",
    ]


def test_either_order_also_pushes_the_taken_side():
    code = assemble(TID + IF_ELSE)
    assert edges(code, code.graph(order="either")) == [
        "else reactivate then",
        "else reconverge end",
        "end exit end",
        "kernel diverge else",
        "kernel diverge then",
        "kernel fallthrough then",
        "kernel taken else",
        "then reactivate else",
        "then reconverge end",
    ]


def test_in_either_order_each_divergence_pushes_the_side_that_waits():
    code = assemble(TID + IF_ELSE)
    pushed = sorted(str(edge.pushed) for edge in code.graph(order="either").edges if edge.pushed)
    assert pushed == ["side@0030", "side@0038_by_0028"]


def test_a_thread_runs_one_side_whatever_the_warp_does():
    assert steps(assemble(TID + IF_ELSE)) == ["else -> end", "kernel -> else", "kernel -> then", "then -> end"]


@pytest.mark.parametrize(
    ("condition", "divergent"),
    [
        ("ISETP.NE.AND P0, PT, R9, c[0x0][0x140], PT", True),
        ("S2R R9, SR_TID.X\n ISETP.NE.AND P0, PT, R9, c[0x0][0x140], PT", True),
        ("S2R R9, SR_LANEID\n ISETP.NE.AND P0, PT, R9, RZ, PT", True),
        ("S2R R9, SR_TID.Y\n ISETP.NE.AND P0, PT, R9, RZ, PT", True),
        ("S2R R9, SR_CTAID.X\n ISETP.NE.AND P0, PT, R9, c[0x0][0x140], PT", False),
        ("MOV R9, c[0x0][0x140]\n ISETP.NE.AND P0, PT, R9, RZ, PT", False),
        ("MOV R9, c[0x0][0x140]\n LDG.E R9, [R9]\n ISETP.NE.AND P0, PT, R9, RZ, PT", True),
        ("MOV R8, c[0x0][0x140]\n MOV R9, c[0x0][0x144]\n LDG.E R9, [R8]\n ISETP.NE.AND P0, PT, R9, RZ, PT", False),
        ("MOV R8, c[0x0][0x140]\n LDS.U.32 R9, [R8]\n ISETP.NE.AND P0, PT, R9, RZ, PT", False),
        ("MOV R8, c[0x0][0x140]\n LDL R9, [R8]\n ISETP.NE.AND P0, PT, R9, RZ, PT", True),
        ("VOTE.ANY R9, P0, P1", False),
        ("PSETP.AND.AND P0, PT, PT, PT, PT", False),
    ],
)
def test_a_branch_diverges_where_its_condition_may_differ(condition: str, divergent: bool):
    graph = assemble(f"{condition}\n{IF_ELSE}").graph()
    assert graph.nodes[graph.entry].divergent is divergent


def test_a_uniform_branch_does_not_diverge_on_what_threads_disagree_on():
    code = assemble(TID + IF_ELSE.replace("BRA", "BRA.U"))
    assert "kernel diverge else" not in edges(code)


def test_both_sides_may_exit():
    code = assemble(
        TID
        + """
        @P0 BRA else
    then:
        EXIT
    else:
        EXIT
    """
    )
    assert edges(code) == [
        "else exit end",
        "else reactivate then",
        "kernel diverge else",
        "kernel fallthrough then",
        "kernel taken else",
        "then exit end",
    ]


def test_an_exit_under_a_token_known_imprecise_may_resume_the_token():
    code = assemble(
        TID
        + """
        SSY end
        @P0 BRA else
    then:
        SYNC
    else:
        EXIT
    end:
        EXIT
    """
    )
    # The state with the other side pending and the one without are joined: `else reconverge end` cannot happen.
    assert edges(code) == [
        "else exit end",
        "else reactivate then",
        "else reconverge end",
        "end exit end",
        "kernel diverge else",
        "kernel fallthrough then",
        "kernel taken else",
        "then reconverge end",
    ]


def test_an_inner_if_reconverges_before_the_other_outer_side_resumes():
    code = assemble(
        TID
        + """
        ISETP.GT.AND P1, PT, R0, 0x7, PT
        SSY end
        @P0 BRA outer
    other:
        SYNC
    outer:
        SSY join
        @P1 BRA deep
    shallow:
        SYNC
    deep:
        SYNC
    join:
        SYNC
    end:
        EXIT
    """
    )
    assert edges(code) == [
        "deep reactivate shallow",
        "deep reconverge join",
        "end exit end",
        "join reactivate other",
        "join reconverge end",
        "kernel diverge outer",
        "kernel fallthrough other",
        "kernel taken outer",
        "other reconverge end",
        "outer diverge deep",
        "outer fallthrough shallow",
        "outer taken deep",
        "shallow reconverge join",
    ]


def test_a_guarded_sync_lets_the_rest_go_on_and_resumes_the_token_when_all_are_there():
    code = assemble(
        TID
        + """
        SSY end
        @P0 SYNC
    body:
        SYNC
    end:
        EXIT
    """
    )
    assert edges(code) == ["body reconverge end", "end exit end", "kernel fallthrough body", "kernel reconverge end"]


@pytest.mark.parametrize("leave", ["@P0 EXIT", "@P0 KIL", "EXIT CC.EQ", "KIL P0"])
def test_a_conditional_exit_ends_the_warp_or_goes_on(leave: str):
    code = assemble(f"{TID} {leave}\n body:\n EXIT")
    assert edges(code) == ["body exit end", "kernel exit end", "kernel fallthrough body"]


def test_a_guarded_exit_on_one_side_of_a_branch_resumes_the_other():
    code = assemble(
        TID
        + """
        ISETP.GT.AND P1, PT, R0, 0x7, PT
        @P0 BRA side
    rest:
        EXIT
    side:
        @P1 EXIT
    last:
        EXIT
    """
    )
    assert edges(code) == [
        "kernel diverge side",
        "kernel fallthrough rest",
        "kernel taken side",
        "last exit end",
        "last reactivate rest",
        "rest exit end",
        "side exit end",
        "side fallthrough last",
        "side reactivate rest",
    ]


@pytest.mark.parametrize("never", ["@!PT BRA far", "@!PT EXIT", "@!PT SYNC", "@!PT BRX R0 -0x8"])
def test_what_no_thread_takes_falls_through(never: str):
    code = assemble(f"{never}\n near:\n EXIT\n far:\n EXIT")
    assert edges(code) == ["kernel fallthrough near", "near exit end"]
    assert code.graph().gaps == ()


def test_an_always_true_guard_is_none():
    code = assemble("@PT BRA far\n near:\n EXIT\n far:\n EXIT")
    assert edges(code) == ["far exit end", "kernel taken far"]


def test_a_trap_ends_the_warp_or_is_resumed_by_a_debugger():
    assert edges(assemble("BPT.TRAP 0x1\n rest:\n EXIT")) == ["kernel exit end", "kernel fallthrough rest", "rest exit end"]


def test_a_block_barrier_ends_no_block():
    assert edges(assemble("BAR.SYNC 0x0\n MOV R0, RZ\n EXIT")) == ["kernel exit end"]


def test_a_branch_to_the_next_instruction_may_diverge_all_the_same():
    code = assemble(f"{TID} @P0 BRA next\n next:\n EXIT")
    assert edges(code) == [
        "kernel diverge next",
        "kernel fallthrough next",
        "kernel taken next",
        "next exit end",
        "next reactivate next",
    ]


def test_threads_with_other_targets_run_the_jump_table_again():
    code = assemble(
        TID
        + """
        SSY end
    top:
        BRX R0 -0x30 -> one, two, one
    one:
        SYNC
    two:
        SYNC
    end:
        EXIT
    """
    )
    assert edges(code) == [
        "end exit end",
        "kernel fallthrough top",
        "one reactivate top",
        "one reconverge end",
        "top diverge one",
        "top diverge two",
        "top taken one",
        "top taken two",
        "two reactivate top",
        "two reconverge end",
    ]


def test_a_jump_table_with_an_agreed_index_does_not_diverge():
    code = assemble("S2R R0, SR_CTAID.X\n top:\n BRX R0 -0x18 -> one, two\n one:\n EXIT\n two:\n EXIT")
    assert edges(code) == ["kernel fallthrough top", "one exit end", "top taken one", "top taken two", "two exit end"]


def test_a_guarded_jump_table_treats_not_taken_as_one_more_target():
    code = assemble(f"{TID} top:\n @P0 BRX RZ -0x18 -> one\n near:\n EXIT\n one:\n EXIT")
    assert edges(code) == [
        "kernel fallthrough top",
        "near exit end",
        "near reactivate top",
        "one exit end",
        "one reactivate top",
        "top diverge near",
        "top diverge one",
        "top fallthrough near",
        "top taken one",
    ]
