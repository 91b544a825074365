"""The compiler's spin loop (sm_70 to sm_75): it turns again only where YIELD has split the threads, which the analysis assumes it does not.

L:  VOTE.ANY R0, PT, PT          // the active threads before
    YIELD
    VOTEU.ANY UR6, UPT, PT       // and after; on sm_70 another VOTE
    LOP3.LUT P0, RZ, R0, UR6, RZ, 0xc, !PT
    @!P0 BRA.U  on               // nobody is missing
    BRA  L
"""

from sassan.ir import Immediate, Instruction, Operand, Register
from sassan.isa.facts import Flow
from sassan.isa.registers import bit
from sassan.warpcfg.blocks import Block, Blocks

_FORMER_AND_NOT_LATTER = 0x0C
_PARTS = ("LOP3", "VOTE", "YIELD", "VOTE")
"""Before the branch, nearest first; what else the block computes may stand in between."""


def spins(blocks: Blocks) -> frozenset[int]:
    """Return the addresses at which such a loop begins: assumed never to turn."""
    return frozenset(block.start for block in blocks.blocks if _is_spin(blocks, block))


def _is_spin(blocks: Blocks, block: Block) -> bool:
    last, guard = block.last, block.end.guard
    if last is None or last.flow is not Flow.BRANCH or not last.uniform or guard is None or not guard.negated:
        return False
    index = blocks.at.get(block.end.following)
    if index is None or not _goes_back(blocks.blocks[index], block):
        return False
    named = [(one, one.opcode.partition(".")[0].replace("VOTEU", "VOTE")) for one in reversed(block.instructions)]
    if tuple(name for _, name in named if name in _PARTS) != _PARTS:
        return False
    parts = [one for one, name in named if name in _PARTS]
    test, after, _, before = parts
    former, latter = _destination(before), _destination(after)
    names = {name for one in (test, after, before) if (name := _destination(one)) is not None}
    others = [facts for one, facts in zip(block.instructions, block.facts, strict=True) if one not in parts]
    return (
        ("P", guard.index) == _destination(test)
        and len(names) == len(parts) - 1
        and all(one.guard is None for one in parts)
        and all(facts is not None and not any(facts.writes & bit(*name) for name in names) for facts in others)
        and _counts_everybody(before)
        and _counts_everybody(after)
        and _compares(test, former, latter)
    )


def _goes_back(block: Block, head: Block) -> bool:
    plain = len(block.instructions) == 1 and block.end.guard is None and block.last is not None
    return plain and block.last is not None and block.last.flow is Flow.BRANCH and block.last.target == head.start


def _destination(one: Instruction) -> tuple[str, int | None] | None:
    return _name(one.operands[0]) if one.operands else None


def _name(operand: Operand) -> tuple[str, int | None] | None:
    return (operand.file, operand.index) if isinstance(operand, Register) else None


def _counts_everybody(one: Instruction) -> bool:
    """Say whether a vote is the mask of the active threads: `VOTE.ANY R0, PT, PT`."""
    last = one.operands[-1]
    return one.opcode.split(".")[1:] == ["ANY"] and isinstance(last, Register) and last.index is None and not last.negated


def _compares(one: Instruction, former: tuple[str, int | None] | None, latter: tuple[str, int | None] | None) -> bool:
    """Say whether a LOP3 tells in its predicate if somebody of the former mask is missing in the latter."""
    inputs = [_name(operand) for operand in one.operands[2:5]]
    table = [operand.value for operand in one.operands if isinstance(operand, Immediate)]
    return inputs == [former, latter, ("R", None)] and table == [_FORMER_AND_NOT_LATTER]
