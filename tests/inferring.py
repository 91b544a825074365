"""Inferred loop bounds of a listing, each checked against runs."""

from dataclasses import replace

from budget import FULL
from listing import assemble
from sassan.ipet.loop_bounds import Inferred, infer
from sassan.ipet.loop_bounds.recheck import SMALL
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.isa import tables
from sassan.isa.languages import spilling, variables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.warpcfg.stack_words import stack_words

EFFORT = SMALL if FULL else replace(SMALL, warps=6, worth=SMALL.worth // 4)
"""Half the warps of an analysis, and runs half as long."""


def loops(
    text: str, arch: str = "sm_61", block: tuple[int, int, int] | None = None, grid: tuple[int, int, int] | None = None, **parameters: int
) -> tuple[Inferred, ...]:
    """Return the inferred loop bounds of a listing for the parameters `x150=4`, checked against runs."""
    code = assemble(text, arch)
    launch = LaunchConfiguration(block, grid, tuple(Setting("", int(name[1:], 16), value) for name, value in parameters.items()))
    cfg, facts = code.graph(), tables.load(arch).facts
    result = infer(cfg, variables(spilling(tables.load(arch), stack_words(cfg, facts))), launch)
    held = check_bounds(cfg, facts, launch, result, EFFORT)
    assert not held.refuted
    assert held.ran or all(loop.bound is None for loop in result)
    return result


def bound(text: str, arch: str = "sm_61", **parameters: int) -> int | None:
    (loop,) = loops(text, arch, **parameters)
    return loop.bound


def counter(test: str, step: str = "IADD32I R0, R0, 0x1", start: str = "MOV R0, RZ", body: str = "NOP") -> str:
    """Return a loop whose back edge is guarded by P0."""
    return f"""
        {start}
    head:
        {body}
        {step}
        {test}
        @P0 BRA head
        EXIT
    """
