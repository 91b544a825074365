"""What fills a section after its code: `BRA` to itself, then NOPs up to the alignment. Dropped where nothing can reach it."""

from collections.abc import Sequence

from sassan.ir import Instruction, Target

# After one of these, unguarded and untested, the next instruction in memory does not run.
_ENDS = frozenset(("EXIT", "RET", "BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU", "SYNC", "BRK", "CONT"))


def without_padding(instructions: Sequence[Instruction], symbols: frozenset[int]) -> tuple[Instruction, ...]:
    """Return the instructions without the padding at their end; all of it stays if a branch, a symbol or the code before reaches it."""
    end = len(instructions)
    while end and _is_nop(instructions[end - 1]):
        end -= 1
    # The BRA to itself goes too, unless something leads there: then it ends the code, and only the NOPs behind it go.
    starts = (end - 1, end) if end and _is_self_branch(instructions[end - 1]) else (end,)
    for start in starts:
        if start < len(instructions) and _unreachable(instructions, start, symbols):
            return tuple(instructions[:start])
    return tuple(instructions)


def _is_nop(one: Instruction) -> bool:
    return one.opcode == "NOP" and not one.operands


def _is_self_branch(one: Instruction) -> bool:
    match one.operands:
        case (Target(address=address),):
            return one.opcode == "BRA" and address == one.address and _always(one)
        case _:
            return False


def _always(one: Instruction) -> bool:
    return one.guard is None and not one.condition


def _unreachable(instructions: Sequence[Instruction], start: int, symbols: frozenset[int]) -> bool:
    if not start or not _ends_flow(instructions[start - 1]):
        return False
    first = instructions[start].address
    code = instructions[:start]
    targets = {operand.address for one in code for operand in one.operands if isinstance(operand, Target)}
    targets.update(address for one in code for address in one.targets)
    return not any(address >= first for address in targets | symbols)


def _ends_flow(one: Instruction) -> bool:
    mnemonic = one.opcode.partition(".")[0]
    if mnemonic not in _ENDS or not _always(one):
        return False
    # `BRA P2, L` and `BRA.DIV UR6, L` may fall through.
    return mnemonic not in ("BRA", "JMP") or (len(one.operands) == 1 and one.opcode in ("BRA", "JMP"))
