"""The padding of a section after its code, `BRA` to itself and NOPs up to the alignment: removed where it is unreachable."""

from collections.abc import Sequence

from sassan.ir import Instruction, Target

# After one of these, unguarded and untested, the next instruction in memory does not run.
_ENDS = frozenset(("EXIT", "RET", "BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU", "SYNC", "BRK", "CONT"))


def without_padding(instructions: Sequence[Instruction], symbols: frozenset[int]) -> tuple[Instruction, ...]:
    """Return the instructions without the padding at their end; it is kept if a branch, a symbol or the code before reaches it."""
    end = len(instructions)
    while end and _is_nop(instructions[end - 1]):
        end -= 1
    # The BRA to itself is removed, too, unless it is reachable: then it ends the code, and only the NOPs after it are removed.
    starts = (end - 1, end) if end and _is_self_branch(instructions[end - 1]) else (end,)
    for start in starts:
        if start < len(instructions) and _unreachable(instructions, start, symbols):
            return tuple(instructions[:start])
    return tuple(instructions)


def _is_nop(instruction: Instruction) -> bool:
    return instruction.opcode == "NOP" and not instruction.operands


def _is_self_branch(instruction: Instruction) -> bool:
    match instruction.operands:
        case (Target(address=address),):
            return instruction.opcode == "BRA" and address == instruction.address and _is_unconditional(instruction)
        case _:
            return False


def _is_unconditional(instruction: Instruction) -> bool:
    return instruction.guard is None and not instruction.condition


def _unreachable(instructions: Sequence[Instruction], start: int, symbols: frozenset[int]) -> bool:
    if not start or not _ends_flow(instructions[start - 1]):
        return False
    first = instructions[start].address
    code = instructions[:start]
    targets = {operand.address for instruction in code for operand in instruction.operands if isinstance(operand, Target)}
    targets.update(address for instruction in code for address in instruction.targets)
    return not any(address >= first for address in targets | symbols)


def _ends_flow(instruction: Instruction) -> bool:
    mnemonic = instruction.opcode.partition(".")[0]
    if mnemonic not in _ENDS or not _is_unconditional(instruction):
        return False
    # `BRA P2, L` and `BRA.DIV UR6, L` may fall through.
    return mnemonic not in ("BRA", "JMP") or (len(instruction.operands) == 1 and instruction.opcode in ("BRA", "JMP"))
