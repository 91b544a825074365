"""Addresses that a listing of cuobjdump shows as numbers.

Where the linker or the driver writes the address of a variable or a function into the code, `cuobjdump -sass` prints what the word holds
before that: 0. ptxas of CUDA 11.7 to 13 and nvlink leave 0 there for every SM, in MOV, UMOV and MOV32I, and add the offset from a symbol by
instructions: none of 13,000 such words in libraries of NVIDIA for sm_50 to sm_120 is in another instruction, or holds another number.
"""

from collections.abc import Sequence
from dataclasses import replace

from sassan.ir import Immediate, Instruction, Register, Symbol, Target
from sassan.isa import registers, tables
from sassan.isa.facts import Facts, Flow

_MOVES = frozenset({"MOV", "UMOV", "MOV32I"})
"""What writes the halves of such an address."""
RELOCATED = Symbol("32@(?)")
"""In the place of a number that may be a part of an address."""
_CALLS = ("CALL.", "JCAL")
_RETURN = "RET."
_STRAIGHT = frozenset({Flow.NONE, Flow.PUSH, Flow.BARRIER_MOVE, Flow.WARP_BARRIER, Flow.BLOCK_BARRIER})
"""What the next instruction follows."""
_MOVED = 2
"""The operands of a move: a register, and what it is set to."""


def with_unknown_addresses(arch: str, instructions: Sequence[Instruction]) -> tuple[list[Instruction], int]:
    """Return the instructions of a listing that shows no relocations, with moves whose value is unknown, and how many of these there are.

    Those are moves of 0: compilers take RZ for 0, except for halves of numbers of 64 bits, which are
    unknown, too, and the upper half of a return address.
    """
    unknown = {each.address for each in instructions if each.opcode in _MOVES and _number_of(each) == 0}
    if unknown:
        unknown -= _upper_halves(arch, instructions)
    out = list(instructions)
    for index, each in enumerate(instructions):
        if each.address in unknown:
            out[index] = replace(each, operands=(each.operands[0], RELOCATED, *each.operands[2:]))
    return out, len(unknown)


def _upper_halves(arch: str, instructions: Sequence[Instruction]) -> set[int]:
    """Return the moves of 0 that write the upper half of a return address.

    In one straight run of instructions with the move, a call has its lower half beside it, or it is what a return takes: the lower half
    of that comes from the caller.
    """
    facts = tables.load(arch).facts
    joins = {operand.address for each in instructions for operand in each.operands[-1:] if isinstance(operand, Target)}
    out: set[int] = set()
    for index, each in enumerate(instructions):
        if not each.opcode.startswith((*_CALLS, _RETURN)):
            continue
        first = index  # of the straight run
        while first and instructions[first].address not in joins and _continues(facts(instructions[first - 1])):
            first -= 1
        moves: dict[int, Instruction] = {}
        for before in instructions[first:index]:
            known = facts(before)
            moves = {register: move for register, move in moves.items() if known is not None and not known.writes & register}
            if _number_of(before) is not None and (written := _register_of(before)):
                moves[registers.bit(*written)] = before
        if each.opcode.startswith(_CALLS):
            lower = sum(register for register, move in moves.items() if _number_of(move) == each.following)
        else:
            lower = registers.bit(*taken) if (taken := _register_of(each)) else 0
        out |= {move.address for register, move in moves.items() if lower << 1 & register and _number_of(move) == 0}
    return out


def _continues(facts: Facts | None) -> bool:
    """Whether the next instruction follows, and nothing was called."""
    return facts is not None and facts.flow in _STRAIGHT


def _number_of(instruction: Instruction) -> int | float | None:
    """Return the number that a move of one writes, None for another instruction."""
    if "MOV" not in instruction.opcode or len(instruction.operands) < _MOVED:
        return None
    operand = instruction.operands[-1 if instruction.opcode.startswith("IMAD") else 1]
    return operand.value if isinstance(operand, Immediate) else None


def _register_of(instruction: Instruction) -> tuple[str, int] | None:
    """Return the register that a move writes, or that a return takes."""
    register = instruction.operands[0] if instruction.operands else None
    return (register.file, register.index) if isinstance(register, Register) and register.index is not None else None
