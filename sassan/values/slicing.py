"""The instructions whose results matter: what branches and accesses depend on, followed backwards over the steps of a thread."""

from collections.abc import Mapping, Sequence

from sassan.analysis.demand import Use, demand
from sassan.ir import Constant, Instruction, Memory
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit

_BOXES = "UTMA"
"""Copies by tensor maps: which box they move, a row of registers says."""


def backward_slice(
    blocks: Mapping[int, Sequence[Instruction]], facts: Mapping[int, Facts], before: Mapping[int, Sequence[int]], order: Sequence[int]
) -> frozenset[int]:
    """Return the addresses of instructions on whose results a branch may depend, or an access of memory: its address or its guard.

    `before` are the blocks before each block, `order` lists the blocks from the entry on.
    """
    uses = {start: [_use(each, facts[each.address]) for each in block] for start, block in blocks.items()}
    behind = demand(uses, before, order, {}).behind
    return frozenset(
        instruction.address
        for start, demanded in behind.items()
        for instruction, use, live in zip(blocks[start], uses[start], demanded, strict=True)
        if use.writes & live
    )


def _use(instruction: Instruction, facts: Facts) -> Use:
    kept = ~facts.writes if instruction.guard is None else -1
    return Use(facts.writes if facts.effects else 0, kept, facts.reads | facts.guard, _roots(instruction, facts))


def _roots(instruction: Instruction, facts: Facts) -> int:
    decides = facts.flow is not Flow.NONE or instruction.opcode.startswith(_BOXES)
    out = facts.condition | facts.guard | facts.reads if decides else 0
    for operand in instruction.operands:
        if isinstance(operand, Memory):
            out |= facts.guard
        if isinstance(operand, Memory | Constant):
            for register in operand.base:
                out |= bit(register.file, register.index)
    return out
