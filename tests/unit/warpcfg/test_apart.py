"""Where threads of a warp may be apart: behind a branch that parts them, until they meet at a barrier of all of them."""

from listing import assemble
from sassan.warpcfg.apart import threads_apart

PARTED = """
    {before}
    ISETP.NE.AND P0, PT, R4, RZ, PT
    {push}
    @P0 BRA other
    FADD R1, R1, R1
{inner}
other:
    BSYNC B0
meet:
    FADD R2, R2, R2
    EXIT
"""


def apart(text: str) -> list[tuple[set[str], set[str]]]:
    """The labels of the nodes at which threads of each branch may be, and of those before which they wait."""
    code = assemble(text, "sm_80")
    graph = code.graph()
    names = {address: label for label, address in code.labels.items()}

    def named(nodes: frozenset[int]) -> set[str]:
        return {names.get(graph.nodes[node].start, hex(graph.nodes[node].start)) for node in nodes}

    return [(named(each.nodes), named(each.meets)) for each in threads_apart(graph)]


def of(**parts: str) -> list[tuple[set[str], set[str]]]:
    return apart(PARTED.format(**{"before": "", "push": "BSSY B0, meet", "inner": "", **parts}))


def test_threads_are_together_behind_the_barrier_that_was_pushed_before_their_branch():
    ((nodes, meets),) = of()
    assert "other" in nodes
    assert "meet" not in nodes
    assert meets == {"meet"}


def test_a_barrier_that_is_pushed_on_one_side_brings_no_others_together():
    text = PARTED.format(before="BSSY B1, last", push="", inner="BSSY B0, meet").replace("EXIT", "BSYNC B1\nlast:\n    EXIT")
    nodes, meets = apart(text)[0]
    assert {"other", "meet"} <= nodes
    assert meets == {"last"}


def test_a_barrier_that_brought_threads_together_before_brings_none_together_again():
    text = """
    BSSY B2, last
again:
    BSSY B0, meet
    BSYNC B0
meet:
    IADD3 R9, R9, 0x1, RZ
    @P3 BRA side
    NOP
side:
    ISETP.LT.AND P1, PT, R9, 0x2, PT
    @P1 BRA again
    BSYNC B2
last:
    EXIT
"""
    assert all("meet" not in meets for _, meets in apart(text))
    assert any("meet" in nodes for nodes, _ in apart(text))


def test_a_place_behind_a_barrier_may_be_entered_beside_it_by_threads_that_were_not_parted():
    text = """
    ULDC UR4, c[0x0][0x160]
    ISETP.NE.AND P1, PT, RZ, UR4, PT
    @P1 BRA meet
    BSSY B0, meet
    @P3 BRA side
    NOP
side:
    {leave}
    BSYNC B0
meet:
    EXIT
"""
    ((nodes, meets),) = apart(text.format(leave="NOP"))
    assert (meets, "side" in nodes) == ({"meet"}, True)
    assert all("meet" in nodes for nodes, _ in apart(text.format(leave="@P4 BRA meet")))


def test_a_barrier_that_threads_may_leave_brings_none_together():
    text = PARTED.format(before="", push="BSSY B0, meet", inner="@P1 BRA gone").replace("EXIT", "EXIT\ngone:\n    BREAK B0\n    BRA meet")
    assert all(not meets for _, meets in apart(text))


def test_without_a_barrier_threads_may_be_apart_wherever_a_way_leads():
    ((nodes, meets),) = apart(PARTED.format(before="", push="", inner="").replace("BSYNC B0", "NOP"))
    assert {"other", "meet"} & nodes
    assert meets == set()


def test_code_that_parts_nobody_has_no_such_places():
    assert apart("MOV R0, RZ\nagain:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, 0x5, PT\n@P0 BRA again\nEXIT") == []


def test_a_barrier_that_some_threads_pass_while_others_wait_parts_them():
    text = "BSSY B0, meet\n    {before}\n    {wait}\nmeet:\n    FADD R1, R1, R1\n    EXIT"
    assert apart(text.format(before="NOP", wait="BSYNC B0")) == []
    for before, wait in (("NOP", "@P0 BSYNC B0"), ("@P0 BREAK B0", "BSYNC B0")):
        ((nodes, meets),) = apart(text.format(before=before, wait=wait))
        assert ("meet" in nodes, meets) == (True, set())
