"""What is not understood: named, located, and never passed over."""

import pytest

from listing import assemble, edges, gaps
from sassan.warpcfg import work

GAPS = [
    ("FROB.X R0, R1\n EXIT", [(0x08, "unknown-opcode")]),
    ("EXIT\n FROB R0\n EXIT", [(0x10, "unknown-opcode")]),
    ("SYNC", [(0x08, "unmatched-token")]),
    ("@P0 BRK\n EXIT", [(0x08, "unmatched-token")]),
    ("SSY end\n BRK\n end:\n EXIT", [(0x10, "unmatched-token")]),
    ("MOV R0, RZ", [(0x08, "falls-off-end")]),
    ("@P0 EXIT", [(0x08, "falls-off-end")]),
    ("BRA go\n f():\n RET\n go:\n CAL f", [(0x18, "falls-off-end")]),
    ("@P0 SSY end\n SYNC\n end:\n EXIT", [(0x08, "guarded-push")]),
    ("BRA `(elsewhere)", [(0x08, "bad-target")]),
    ("SSY `(elsewhere)\n EXIT", [(0x08, "bad-target")]),
    ("BRX R0 -0x8\n EXIT", [(0x08, "indirect-branch")]),
    ("BRA c[0x0][0x140]", [(0x08, "indirect-branch")]),
    ("RTT\n EXIT", [(0x08, "unsupported-flow")]),
    ("BPT.INT 0x1\n EXIT", [(0x08, "unsupported-flow")]),
    ("SSY c[0x0][0x140]\n EXIT", [(0x08, "unsupported-flow")]),
    ("BPT.TRAP 0x1", [(0x08, "falls-off-end")]),
]


@pytest.mark.parametrize(("text", "expected"), GAPS)
def test_each_gap_has_its_code_and_address(text: str, expected: list[tuple[int, str]]):
    assert gaps(assemble(text).graph()) == expected


def test_all_gaps_are_reported_together_in_the_order_of_addresses():
    code = assemble("FROB R0\n BRX R0 -0x8\n there:\n BRA `(elsewhere)")
    assert gaps(code.graph()) == [(0x08, "unknown-opcode"), (0x10, "indirect-branch"), (0x18, "bad-target")]


def test_a_token_that_only_some_ways_push_is_a_gap():
    code = assemble("S2R R0, SR_CTAID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n @P0 BRA end\n SSY end\n end:\n SYNC")
    assert gaps(code.graph()) == [(0x30, "unmatched-token")]


def test_a_token_dropped_with_its_threads_is_no_gap():
    code = assemble("SSY end\n @P0 BRA side\n rest:\n SYNC\n side:\n EXIT\n end:\n EXIT")
    assert gaps(code.graph()) == []


def test_an_unknown_opcode_ends_all_agreement():
    code = assemble("MOV R1, RZ\n FROB R0\n BRA next\n next:\n EXIT")
    (node,) = [node for node in code.graph().nodes if node.start == code.labels["next"]]
    assert node.agreement == 0


def test_behind_a_jump_without_a_table_the_code_is_shown():
    code = assemble("BRX R0 -0x8\n one:\n EXIT\n two:\n EXIT")
    assert edges(code) == ["one exit end", "two exit end"]


def test_call_strings_that_multiply_too_much_are_a_gap(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(work, "ENTRIES", -600)
    code = assemble("CAL f\n CAL f\n CAL f\n EXIT\n f():\n RET")
    assert gaps(code.graph()) == [(0x08, "too-large")]
