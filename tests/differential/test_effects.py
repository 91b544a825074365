"""Every effect of every opcode table against the machine: an opcode that is added to a table is tested here without a change."""

import pytest

from budget import part
from effects import cases, computed

ARCHS = ("sm_61", "sm_75", "sm_90", "sm_120")
DRAWS = part(240, of=8)
_OF_OTHERS = frozenset({"lane"})
"""Functions whose result depends on other threads, so that the machine for one instruction draws it."""


@pytest.mark.parametrize("arch", ARCHS)
def test_what_an_effect_says_is_what_the_machine_computes(arch: str):
    unknown = [str(case) for case in cases(arch) if not computed(arch, case, DRAWS) and case.effect.functions.isdisjoint(_OF_OTHERS)]
    assert unknown == [], "the machine has no rule for these (simt/integer_*.py)"
