"""Defects of the warp-level exploration that a review found, each with the smallest listing that showed it."""

from dataclasses import replace

import pytest

from listing import Code, assemble, edges, gaps

TID = """
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
"""


def test_threads_that_disagree_on_the_index_of_a_jump_table_diverge():
    code = assemble(
        TID
        + """
    top:
        BRX R0 -0x20 -> one, two
    one:
        EXIT
    two:
        EXIT
    """
    )
    assert edges(code) == [
        "kernel fallthrough top",
        "one exit end",
        "one reactivate top",
        "top diverge one",
        "top diverge two",
        "top taken one",
        "top taken two",
        "two exit end",
        "two reactivate top",
    ]


def test_a_branch_on_the_negated_true_predicate_falls_through():
    code = assemble("""
        BRA !PT, far
    near:
        EXIT
    far:
        EXIT
    """)
    assert "kernel fallthrough near" in edges(code)


def test_a_sync_on_the_negated_true_predicate_falls_through():
    code = assemble("""
        SSY far
        SYNC !PT
    near:
        SYNC
    far:
        EXIT
    """)
    assert "kernel fallthrough near" in edges(code)


def test_a_jump_table_under_a_predicate_operand_falls_through():
    code = assemble(
        TID
        + """
    top:
        BRX P0, R0 -0x20 -> one, two
    near:
        EXIT
    one:
        EXIT
    two:
        EXIT
    """
    )
    assert "top fallthrough near" in edges(code)
    assert "top diverge near" in edges(code)


def test_a_guarded_jump_table_at_the_end_of_the_code_is_a_gap():
    code = assemble("""
        BRA top
    one:
        EXIT
    top:
        @P0 BRX R0 -0x20 -> one
    """)
    assert gaps(code.graph()) == [(0x18, "falls-off-end")]


def test_a_jump_table_with_one_target_does_not_diverge():
    code = assemble(
        TID
        + """
    top:
        BRX R0 -0x20 -> one
    one:
        EXIT
    """
    )
    assert edges(code) == ["kernel fallthrough top", "one exit end", "top taken one"]


@pytest.mark.parametrize("order", ["taken-first", "either"])
def test_a_guarded_branch_at_the_end_of_the_code_is_a_gap(order):
    code = assemble(
        TID
        + """
        BRA top
    one:
        EXIT
    top:
        @P0 BRA one
    """
    )
    assert gaps(code.graph(order=order)) == [(0x30, "falls-off-end")]


@pytest.mark.parametrize("push", ["SSY CC.EQ, end", "PBK CC.EQ, end", "PRET CC.EQ, end", "CAL CC.EQ, end"])
def test_a_push_under_a_flag_test_is_a_gap(push):
    code = assemble(f"""
        {push}
        EXIT
    end:
        EXIT
    """)
    assert (0x8, "guarded-push") in gaps(code.graph())


def test_a_token_that_names_no_instruction_is_a_gap():
    function = assemble("""
        SSY end
        SYNC
    end:
        EXIT
    """).function
    lost = Code(replace(function, instructions=function.instructions[:2]), {})
    assert gaps(lost.graph()) == [(0x8, "bad-target")]


def test_an_ablated_device_function_still_returns():
    code = assemble("""
        @P0 RET
        EXIT
    """)
    assert "kernel exit end" in edges(code, code.graph(ablate=frozenset({"no-groups"})))
