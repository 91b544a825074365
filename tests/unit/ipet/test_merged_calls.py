"""Call strings that are cut short: no bound where a function may return behind another call than the one that entered it."""

import pytest

from listing import assemble
from sassan.ipet.merged_calls import merged_calls
from sassan.ipet.steps import steps_of

PASCAL = "CAL f\n CAL f\n EXIT\n f():\n MOV R0, RZ\n RET"
CALL = "MOV R20, 0x{:x}\n MOV R21, 0x0\n CALL.REL.NOINC `(f)\n"
VOLTA = f"{CALL.format(0x30)} {CALL.format(0x60)} EXIT\n f():\n MOV R3, RZ\n RET.REL.NODEC R20 `(kernel)"
ONCE = f"{CALL.format(0x30)} EXIT\n f():\n MOV R3, RZ\n RET.REL.NODEC R20 `(kernel)"
IN_A_LOOP = f"{CALL.format(0x30)} @P0 BRA kernel\n EXIT\n f():\n MOV R3, RZ\n RET.REL.NODEC R20 `(kernel)"


def found(text: str, arch: str, depth: int | None) -> list[tuple[int, str]]:
    steps = steps_of(assemble(text, arch).graph(call_depth=depth))
    return [(one.address, one.code) for one in merged_calls(steps)]


@pytest.mark.parametrize(("text", "arch", "site"), [(PASCAL, "sm_61", 0x08), (VOLTA, "sm_75", 0x20)])
def test_a_function_called_twice_under_one_call_string_has_no_bound(text: str, arch: str, site: int):
    assert found(text, arch, 0) == [(site, "merged-calls")]


@pytest.mark.parametrize(("text", "arch"), [(PASCAL, "sm_61"), (VOLTA, "sm_75")])
def test_under_call_strings_of_their_own_every_call_returns_to_itself(text: str, arch: str):
    assert found(text, arch, None) == []


@pytest.mark.parametrize("text", [ONCE, IN_A_LOOP])
def test_one_call_has_a_bound_under_any_call_string(text: str):
    assert found(text, "sm_75", 0) == []
