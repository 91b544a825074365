"""Defects of the warp-level exploration that a review found, each with the smallest listing that showed it."""

from listing import assemble, edges

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
