"""An instruction as the check of control codes sees it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from sassan.ir import Guard, Immediate, Instruction, Register, Word
from sassan.isa.control import Control, decode
from sassan.isa.facts import Facts
from sassan.timing.hazards import FILES, Hazards, Profile, parts, touched

FENCE = 30
"""Cycles after which the next instruction behind a memory fence issues, at the least: more than any fixed latency."""
_FENCES = ("MEMBAR", "ERRBAR")
"""Fences: ERRBAR waits until the errors of earlier accesses are known."""
_ORDINARY = FILES["R"]
_NO_REMAINDERS: Mapping[int, int] = MappingProxyType({})


class Op(NamedTuple):
    """An instruction as the check sees it; sets of registers are ints (`isa.registers`)."""

    address: int
    reads: int
    guard: int
    writes: int
    touches: int
    """All three."""
    under: Guard | None
    """The guard itself."""
    control: Control
    profile: Profile
    results: tuple[tuple[str, int], ...]
    """What it writes after a fixed time, by class."""
    variable: bool
    late: int
    """Registers that are read after the issue."""
    remainders: Mapping[int, int]
    """What DEPBAR waits for, by barrier: all but so many of the instructions that set it."""
    opcode: str
    """Without modifiers."""
    waits: bool
    """Whether something in flight may end by this instruction."""


def scheduled(instruction: Instruction, facts: Facts | None, hazards: Hazards) -> Op:
    """Return what the check has to know of an instruction that has a control code."""
    control, profile = issued(instruction, hazards), hazards.profile(instruction.opcode)
    reads, guard, writes = touched(instruction, facts, profile)
    variable = profile.variable or control.write_barrier is not None
    late = reads & _ORDINARY if profile.variable or control.read_barrier is not None else 0
    results = () if variable or not writes else parts(profile.producer, writes)
    remainders = _remainders(instruction) if instruction.opcode.startswith("DEPBAR") else _NO_REMAINDERS
    waits = bool(control.wait_mask or remainders or profile.drains)
    return Op(
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
        remainders,
        instruction.opcode.partition(".")[0],
        waits,
    )


def issued(instruction: Instruction, hazards: Hazards) -> Control:
    """Return the control code of an instruction, with the cycles that lie at least between its issue and the next.

    A stall of 0 issues the next instruction in the same cycle only where two can be issued together, up to Pascal; later it is a cycle
    (ptxas counts it as one: behind ERRBAR). A fence lasts longer than any result of fixed latency takes, whatever its code says: ptxas lets
    a branch read a predicate 11 cycles of stalls behind its comparison where a MEMBAR stands between, else 12, and a store a moved
    uniform register 2 cycles behind the move where an ERRBAR does (sm_75, cuDNN), else 8.
    """
    assert instruction.control is not None, "code without control codes is not checked"
    return _issued(instruction.control, FENCE if instruction.opcode.startswith(_FENCES) else 0 if hazards.together else 1)


@lru_cache(maxsize=1 << 14)
def _issued(code: int, least: int) -> Control:
    control = decode(code)
    return control if control.stall >= least else replace(control, stall=least)


def _remainders(instruction: Instruction) -> Mapping[int, int]:
    """Return what `DEPBAR.LE SB5, 0x3, {2,1}` waits for: barrier 5 at most 3, barriers 1 and 2 none."""
    out: dict[int, int] = {}
    counted: int | None = None
    for operand in instruction.operands:
        match operand:
            case Register(file="SB", index=int(index)):
                counted = index
                out[index] = 0
            case Immediate(value=int(value)) if counted is not None:
                out[counted] = value
            case Word(text=text):
                out |= {int(digit): 0 for digit in re.findall(r"[0-5]", text)}
            case _:
                pass
    return out
