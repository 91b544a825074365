"""Instructions that differ in registers and plain numbers only share a compiled effect, and each still computes with its own numbers."""

import pytest

from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.ipet.loop_bounds.evaluate import Evaluated, patterns
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values.patterns import InstructionEffect

COUNTED = """
MOV R0, {start}
first:
IADD3 R0, R0, {step}, RZ
ISETP.LT.AND P0, PT, R0, {limit}, PT
@P0 BRA first
MOV R1, {late_start}
second:
IADD3 R1, R1, {late_step}, RZ
ISETP.LT.AND P0, PT, R1, {late_limit}, PT
@P0 BRA second
EXIT
"""


@pytest.mark.parametrize(
    ("arch", "first", "second", "shared"),
    [
        ("sm_80", "IADD3 R0, R1, 0x5, RZ", "IADD3 R2, R3, -0x7, RZ", True),
        ("sm_80", "IADD3 R0, R1, 0x5, RZ", "IADD3 R2, R2, 0x5, RZ", False),
        ("sm_80", "LOP3.LUT R0, R1, 0x7, RZ, 0xc0, !PT", "LOP3.LUT R0, R1, 0xf, RZ, 0xc0, !PT", True),
        ("sm_80", "LOP3.LUT R0, R1, 0x7, RZ, 0xc0, !PT", "LOP3.LUT R0, R1, 0x7, RZ, 0xfc, !PT", False),
        ("sm_80", "LOP3.LUT R0, R1, 0x7, RZ, 0xc0, !PT", "LOP3.LUT R0, R1, 0x3, RZ, 0xc0, !PT", False),
        ("sm_61", "IADD3 R0, R1, 0x5, RZ", "IADD3 R0, R1, 0x6, RZ", False),  # a number of 20 bits may be negative
        ("sm_61", "IADD32I R0, R1, 0x5", "IADD32I R0, R1, 0x6", True),
        ("sm_61", "IADD R0, R1, 0x5", "IADD R0, R1, 0x7", True),
    ],
)
def test_effects_are_shared_by_what_differs_in_words_only(arch: str, first: str, second: str, shared: bool):
    common, facts = patterns(), tables.load(arch).facts
    effects: list[InstructionEffect[Evaluated]] = []
    for line in assemble(f"{first}\n{second}\nEXIT", arch).function.instructions[:2]:
        found = facts(line)
        assert found is not None
        assert found.computes is not None
        effects.append(common.effect(found.computes, line))
    assert (effects[0].translated is effects[1].translated) == shared


def test_each_loop_counts_with_its_own_numbers():
    text = COUNTED.format(start="0x2", step="0x1", limit="0x9", late_start="0x3", late_step="0x5", late_limit="0x64")
    found = infer(assemble(text, "sm_80").graph(), tables.load("sm_80").facts, LaunchConfiguration())
    assert [loop.bound for loop in found] == [6, 19]
