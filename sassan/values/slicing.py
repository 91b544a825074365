"""The instructions whose results matter: what branches and accesses depend on, followed backwards over the steps of a thread."""

from collections import deque
from collections.abc import Mapping, Sequence

from sassan.ir import Constant, Instruction, Memory
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit


def mattering(
    blocks: Mapping[int, Sequence[Instruction]],
    facts: Mapping[int, Facts],
    before: Mapping[int, Sequence[int]],
    after: Mapping[int, Sequence[int]],
    order: Sequence[int],
) -> frozenset[int]:
    """Return the addresses of instructions on whose results a branch may depend, or an access of memory: its address or its guard.

    `before` and `after` are the blocks around each block, `order` lists the blocks from the entry on.
    """
    roots = {instruction.address: _roots(instruction, facts[instruction.address]) for each in blocks.values() for instruction in each}
    live: dict[int, int] = dict.fromkeys(blocks, 0)
    addresses: set[int] = set()
    pending = deque(reversed(order))
    waiting = set(pending)
    while pending:
        start = pending.popleft()
        waiting.discard(start)
        wanted = 0
        for following in after[start]:
            wanted |= live[following]
        for instruction in reversed(blocks[start]):
            address, known = instruction.address, facts[instruction.address]
            if known.effects and known.writes & wanted:
                addresses.add(address)
                wanted = (wanted & ~known.writes if instruction.guard is None else wanted) | known.reads | known.guard
            wanted |= roots[address]
        if wanted & ~live[start]:
            live[start] |= wanted
            again = [src for src in before[start] if src not in waiting]
            pending += again
            waiting.update(again)
    return frozenset(addresses)


def _roots(instruction: Instruction, facts: Facts) -> int:
    out = 0 if facts.flow is Flow.NONE else facts.condition | facts.guard | facts.reads
    for operand in instruction.operands:
        if isinstance(operand, Memory):
            out |= facts.guard
        if isinstance(operand, Memory | Constant):
            for register in operand.base:
                out |= bit(register.file, register.index)
    return out
