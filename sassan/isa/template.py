"""What all instructions of one shape have in common, ready to be shifted by their register indices.

A register access is a pair (place of the register in the instruction, mask): shifted by the register's index, the mask is the set of
registers that the access accesses. Instructions of one shape have one template; applying it is a few shifts.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sassan.alphabet import Letter
from sassan.ir import Instruction, Register, Target
from sassan.isa.computations import Computation
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.registers import bit, span

Access = tuple[int, int]
CARRY = bit("CC", 0)
_UNIFORM = span("UR", 0, 256) | span("UP", 0, 8)


class Needs(NamedTuple):
    """On which registers the writing threads must agree: all that are read, some of them, none, or it does not help."""

    kind: str
    places: tuple[Access, ...] = ()


class Template(NamedTuple):
    """The facts of every instruction of one shape, up to its registers, target and guard."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    never: tuple[Access, ...]
    shared: tuple[Access, ...]
    deciding: tuple[Access, ...]
    fixed_reads: int
    fixed_writes: int
    needs: Needs
    flow: Flow
    letter: Letter
    tag: str
    barrier: bool
    carry_decides: bool
    guard_alone: bool
    uniform: bool
    undecided: bool
    computes: Computation | None

    def apply(self, instruction: Instruction, indices: Sequence[int]) -> Facts:
        """Return the facts of an instruction of this shape; `indices` are those of its registers (`shape.shape`)."""
        reads = self.fixed_reads
        for place, mask in self.reads:
            reads |= mask << indices[place]
        writes = self.fixed_writes
        for place, mask in self.writes:
            writes |= mask << indices[place]
        effects: tuple[WriteEffect, ...] = (WriteEffect(writes, self._needs(reads, indices)),) if writes else ()
        if self.never:
            effects = (*effects, WriteEffect(_union(self.never, indices), None))
        if self.shared:
            effects = (*effects, WriteEffect(_union(self.shared, indices), 0))
        guard = instruction.guard
        held = bit(guard.file, guard.index) if guard is not None else 0
        if self.flow is Flow.NONE:
            return Facts(reads, effects, held, Flow.NONE, self.letter, held, computes=self.computes)
        return self._control(instruction, indices, reads, effects, held)

    def _needs(self, reads: int, indices: Sequence[int]) -> int | None:
        match self.needs.kind:
            case "reads":
                return reads
            case "never":
                return None
            case _:
                return _union(self.needs.places, indices)

    def _control(self, instruction: Instruction, indices: Sequence[int], reads: int, effects: tuple[WriteEffect, ...], held: int) -> Facts:
        condition = held | _union(self.deciding, indices) | (CARRY if self.carry_decides else 0)
        return Facts(
            reads=reads,
            effects=effects,
            guard=held,
            flow=_flow(self.flow, instruction),
            letter=self.letter,
            condition=condition,
            guard_alone=self.guard_alone,
            uniform=self.uniform or (self.undecided and not condition) or (condition != 0 and condition & _UNIFORM == condition),
            tag=f"B{_barrier(instruction)}" if self.barrier else self.tag,
            target=next((operand.address for operand in instruction.operands if isinstance(operand, Target)), None),
        )


def _flow(flow: Flow, instruction: Instruction) -> Flow:
    if flow is Flow.INDIRECT_BRANCH and any("INDIRECT_CALL" in note for note in instruction.notes):
        return Flow.INDIRECT_CALL
    return flow


def _union(accesses: Sequence[Access], indices: Sequence[int]) -> int:
    out = 0
    for place, mask in accesses:
        out |= mask << indices[place]
    return out


def _barrier(instruction: Instruction) -> int:
    barriers = [operand.index for operand in instruction.operands if isinstance(operand, Register) and operand.file == "B"]
    return barriers[0] if barriers and barriers[0] is not None else -1
