"""The compiler's spin loop (sm_70 to sm_75): assumed not to iterate: it does only where YIELD has split the threads.

L:  VOTE.ANY R0, PT, PT          // the active threads before
    YIELD
    VOTEU.ANY UR6, UPT, PT       // and after; on sm_70 another VOTE
    LOP3.LUT P0, RZ, R0, UR6, RZ, 0xc, !PT
    @!P0 BRA.U  on               // no thread is missing
    BRA  L
"""

from sassan.ir import Immediate, Instruction, Operand, Register
from sassan.isa.facts import Flow
from sassan.isa.registers import bit
from sassan.warpcfg.blocks import BasicBlock, Blocks

_FORMER_AND_NOT_LATTER = 0x0C
_PARTS = ("LOP3", "VOTE", "YIELD", "VOTE")
"""Before the branch, nearest first; what else the block computes may stand in between."""


def spins(blocks: Blocks) -> frozenset[int]:
    """Return the addresses at which such a loop begins: assumed never to iterate."""
    return frozenset(block.start for block in blocks.blocks if _is_spin(blocks, block))


def _is_spin(blocks: Blocks, block: BasicBlock) -> bool:
    last, guard = block.last, block.end.guard
    if last is None or last.flow is not Flow.BRANCH or not last.uniform or guard is None or not guard.negated:
        return False
    index = blocks.at.get(block.end.following)
    if index is None or not _goes_back(blocks.blocks[index], block):
        return False
    named = [(instruction, instruction.opcode.partition(".")[0].replace("VOTEU", "VOTE")) for instruction in reversed(block.instructions)]
    if tuple(name for _, name in named if name in _PARTS) != _PARTS:
        return False
    parts = [instruction for instruction, name in named if name in _PARTS]
    test, after, _, before = parts
    former, latter = _destination(before), _destination(after)
    names = {name for instruction in (test, after, before) if (name := _destination(instruction)) is not None}
    others = [facts for instruction, facts in zip(block.instructions, block.facts, strict=True) if instruction not in parts]
    return (
        ("P", guard.index) == _destination(test)
        and len(names) == len(parts) - 1
        and all(instruction.guard is None for instruction in parts)
        and all(facts is not None and not any(facts.writes & bit(*name) for name in names) for facts in others)
        and _counts_all_threads(before)
        and _counts_all_threads(after)
        and _compares(test, former, latter)
    )


def _goes_back(block: BasicBlock, head: BasicBlock) -> bool:
    plain = len(block.instructions) == 1 and block.end.guard is None and block.last is not None
    return plain and block.last is not None and block.last.flow is Flow.BRANCH and block.last.target == head.start


def _destination(instruction: Instruction) -> tuple[str, int | None] | None:
    return _name(instruction.operands[0]) if instruction.operands else None


def _name(operand: Operand) -> tuple[str, int | None] | None:
    return (operand.file, operand.index) if isinstance(operand, Register) else None


def _counts_all_threads(instruction: Instruction) -> bool:
    """Say whether a vote is the mask of the active threads: `VOTE.ANY R0, PT, PT`."""
    last = instruction.operands[-1]
    return instruction.opcode.split(".")[1:] == ["ANY"] and isinstance(last, Register) and last.index is None and not last.negated


def _compares(instruction: Instruction, former: tuple[str, int | None] | None, latter: tuple[str, int | None] | None) -> bool:
    """Say whether a LOP3 sets its predicate if a thread of the former mask is missing in the latter."""
    inputs = [_name(operand) for operand in instruction.operands[2:5]]
    table = [operand.value for operand in instruction.operands if isinstance(operand, Immediate)]
    return inputs == [former, latter, ("R", None)] and table == [_FORMER_AND_NOT_LATTER]
