"""Random loops through every opcode of the tables: no run turns one more often than inferred, and a wrong transfer function is noticed."""

from dataclasses import replace

import pytest

from budget import FULL, some
from sassan.isa.tables import load
from soundness import loop_campaign
from soundness.loop_campaign import ARCHS, hold_loops
from soundness.loop_programs import opcodes, program, under_test

FIRST = 0 if FULL else 120
"""Of the programs among which halved bounds are noticed: three of the last forty do."""
LOOPS = 20_000 if FULL else 24
FEW = 2
"""Programs through each opcode, so that one of them uses it."""


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(ARCHS, 4))
def test_no_loop_turns_more_often_than_inferred(arch: str):
    tally = hold_loops(arch, 0, LOOPS)
    assert tally.findings == []
    assert (tally.loops, tally.bounded >= LOOPS // 20, tally.turned >= LOOPS // 100) == (LOOPS, True, True)


@pytest.mark.slow
def test_bounds_that_are_half_as_high_as_inferred_are_noticed(monkeypatch: pytest.MonkeyPatch):
    right = loop_campaign.infer
    monkeypatch.setattr(loop_campaign, "infer", lambda *of: tuple(replace(one, bound=one.bound and one.bound // 2) for one in right(*of)))
    assert hold_loops("sm_80", FIRST, 160).findings


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(ARCHS[::-1], 9))
def test_every_opcode_that_the_inference_follows_is_used_by_a_loop(arch: str):
    known = [one for one in opcodes(arch) if one.effect is not None]
    used = {str(use) for one in known for seed in range(FEW) for use in program(arch, one, seed).uses}
    effects = {f"{name} {effect.key}".strip() for name, rows in load(arch).table.rows.items() for row in rows for effect in row.effects}
    assert sorted(effects - used) == []


def test_the_numbers_of_the_campaign_reach_every_opcode():
    known = {str(one) for one in opcodes("sm_80")}
    reached = {str(under_test("sm_80", index)[0]) for index in range(8 * len(known))}
    assert known - reached == set()
