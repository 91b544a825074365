"""The compiler's spin loop is known by its form, and nothing else is taken for it."""

import pytest

from listing import assemble, gaps

SPIN = """
    loop:
    VOTE.ANY R2, PT, PT
    YIELD
    VOTEU.ANY UR4, UPT, PT
    LOP3.LUT P0, RZ, R2, UR4, RZ, 0xc, !PT
    @!P0 BRA.U on
    BRA loop
    on:
    EXIT
"""


def test_the_loop_around_a_yield_is_a_spin():
    graph = assemble(SPIN, "sm_75").graph()
    assert graph.spins == (0,)
    assert gaps(graph) == []
    assert "YIELD releases no barrier and splits no threads" in graph.assumptions


def test_on_sm_70_it_counts_in_ordinary_registers():
    text = SPIN.replace("VOTEU.ANY UR4, UPT", "VOTE.ANY R4, PT").replace("UR4", "R4")
    assert assemble(text, "sm_70").graph().spins == (0,)


@pytest.mark.parametrize(
    ("was", "is_"),
    [
        ("0xc", "0x3"),
        ("@!P0 BRA.U", "@P0 BRA.U"),
        ("YIELD", "NOP"),
        ("VOTE.ANY R2, PT, PT", "VOTE.ANY R2, PT, P1"),
        ("VOTE.ANY R2, PT, PT", "VOTE.ALL R2, PT, PT"),
        ("VOTE.ANY R2, PT, PT", "@P1 VOTE.ANY R2, PT, PT"),
        ("BRA loop", "@P1 BRA loop"),
        ("BRA.U on", "BRA on"),
        ("YIELD", "MOV R2, RZ\n YIELD"),
        ("@!P0 BRA.U", "ISETP.NE.AND P2, P0, R5, RZ, PT\n @!P0 BRA.U"),
    ],
)
def test_a_loop_that_only_looks_like_it_is_none(was: str, is_: str):
    assert assemble(SPIN.replace(was, is_), "sm_75").graph().spins == ()
