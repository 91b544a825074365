"""Every effect of every opcode table against the machine: an opcode that is added to a table is tested here without a change."""

import pytest

from budget import part, some
from effects import cases, computed

ARCHS = some(("sm_61", "sm_75", "sm_120", "sm_90"))
EVERY = 240
DRAWS = part(EVERY, of=32)
"""Few draws may hit no instruction of a row that the machine has a rule for: such a row is drawn more often."""
_OF_OTHERS = frozenset({"lane", "picked", "shuffled"})
"""Functions whose result depends on other threads, so that the machine for one instruction draws it."""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_what_an_effect_says_is_what_the_machine_computes(arch: str):
    alone = [case for case in cases(arch) if not computed(arch, case, DRAWS) and case.effect.functions.isdisjoint(_OF_OTHERS)]
    unknown = [str(case) for case in alone if not computed(arch, case, EVERY, enough=1)]
    assert unknown == [], "the machine has no rule for these (simt/integer_*.py)"
