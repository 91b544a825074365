"""An instruction as the check of control codes sees it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from sassan.ir import Guard, Instruction
from sassan.isa.control import ControlCode, decode
from sassan.isa.facts import Facts
from sassan.timing.depbar import remainders
from sassan.timing.hazards import FILES, Hazards, Profile, accessed, parts

FENCE = 30
"""Cycles after which the next instruction behind a memory fence issues, at the least: more than any fixed latency."""
_ORDINARY = FILES["R"]


class ScheduledOp(NamedTuple):
    """An instruction as the check sees it; sets of registers are ints (`isa.registers`)."""

    address: int
    reads: int
    guard: int
    writes: int
    accessed: int
    """All three."""
    under: Guard | None
    """The guard itself."""
    control: ControlCode
    profile: Profile
    results: tuple[tuple[str, int], ...]
    """What it writes after a fixed time, by class."""
    variable: bool
    late: int
    """Registers that are read after the issue."""
    early: int
    """Registers that it writes and of which its read barrier tells."""
    remainders: Mapping[int, int]
    """What DEPBAR waits for, by barrier: all but so many of the instructions that set it."""
    opcode: str
    """Without modifiers."""
    waits: bool
    """Whether something in flight may end by this instruction."""


def scheduled(instruction: Instruction, facts: Facts | None, hazards: Hazards) -> ScheduledOp:
    """Return what the check has to know of an instruction that has a control code."""
    profile = hazards.profile(instruction.opcode)
    control = issued(instruction, profile, hazards)
    reads, guard, writes = accessed(instruction, facts, profile)
    variable = profile.variable or control.write_barrier is not None
    late = reads & _ORDINARY if profile.variable or control.read_barrier is not None else 0
    early = writes & FILES["P"] if profile.early and control.read_barrier is not None else 0
    results = () if variable or not writes else parts(profile.producer, writes)
    left = remainders(instruction)
    waits = bool(control.wait_mask or left or profile.drains)
    return ScheduledOp(
        instruction.address,
        reads,
        guard,
        writes,
        reads | guard | writes,
        instruction.guard,
        control,
        profile,
        results,
        variable,
        late,
        early,
        left,
        instruction.opcode.partition(".")[0],
        waits,
    )


def issued(instruction: Instruction, profile: Profile, hazards: Hazards) -> ControlCode:
    """Return the control code of an instruction, with the cycles that lie at least between its issue and the next.

    A stall of 0 issues the next instruction in the same cycle only where two can be issued together, up to Pascal; later it is a cycle,
    as a scheduler issues one instruction per cycle. A fence lasts longer than any result of fixed latency takes (`profile.holds`):
    ptxas lets a branch read a predicate 11 cycles of stalls behind its comparison where a MEMBAR stands between, else 12, and a store a
    moved uniform register 2 cycles behind the move where an ERRBAR does (sm_75, cuDNN), else 8; a guard is read 9 cycles behind its
    comparison where a USETMAXREG does (sm_90), else 13.
    """
    assert instruction.control is not None, "code without control codes is not checked"
    least = FENCE if profile.holds else 0 if hazards.together else 1
    return _issued(instruction.control, least)


@lru_cache(maxsize=1 << 14)
def _issued(code: int, least: int) -> ControlCode:
    control = decode(code)
    return control if control.stall >= least else replace(control, stall=least)
