"""Where the word of one thread that an instruction hands to its warp is that of every thread which executes it.

The states of loop bounds are those of one thread. R2UR writes the word of some active thread, SHFL that of another one: where the active
threads agree on it (docs/proofs/ipet-rows.md), that is the word of the thread that is followed.
"""

from collections.abc import Mapping

from sassan.ir import Instruction
from sassan.isa.computations import Apply, Write
from sassan.isa.facts import Facts
from sassan.warpcfg.graph import Node, WarpCfg

_ONE_OF_THEM = frozenset({"lane", "picked", "shuffled"})


def same_words(cfg: WarpCfg, facts: Mapping[int, Facts]) -> frozenset[int]:
    """Return the addresses of instructions that write the word of one active thread, on which all of them agree in every call."""
    handing = {each.address for node in cfg.nodes for each in node.instructions if _hands_over(each, facts[each.address])}
    apart = {address for node in cfg.nodes for address in _apart(node, facts)} if handing else frozenset[int]()
    return frozenset(handing - apart)


def _hands_over(instruction: Instruction, facts: Facts) -> bool:
    if facts.computes is None:
        return False
    steps = facts.computes.of(instruction)
    return any(isinstance(step, Write) and isinstance(step.value, Apply) and step.value.function in _ONE_OF_THEM for step in steps)


def _apart(node: Node, facts: Mapping[int, Facts]) -> list[int]:
    """Return the instructions of a node that read a register on which the active threads may differ."""
    agreed, out = node.agreement, list[int]()
    for instruction in node.instructions:
        known = facts[instruction.address]
        if known.reads & ~agreed:
            out.append(instruction.address)
        for effect in known.effects:
            if effect.needs is None or (effect.needs | known.guard) & ~agreed:
                agreed &= ~effect.writes
            elif instruction.guard is None:
                agreed |= effect.writes
    return out
