"""Instructions whose results depend on which lanes of a warp execute them together."""

from collections.abc import Callable, Sequence

import numpy as np

from sassan.ir import Immediate, Instruction, Register, Special
from sassan.simt.code import ExecutableFunction, Operation
from sassan.simt.values import ONE_COPY, Truth, Words

_EVERY = 0xFFFFFFFF


def is_alike(operation: Operation, inputs: Sequence[Words], executing: Truth) -> Truth:
    """Return in which warps all executing lanes read the same: which of them comes first then decides nothing (G)."""
    out = np.ones(len(executing), np.bool_)
    first = executing.argmax(axis=1)
    for register, words in zip((*operation.gathered, *operation.reads), inputs, strict=True):
        if register not in ONE_COPY:
            out &= ((words == words[np.arange(len(words)), first][:, None]) | ~executing).all(axis=1)
    return out


def blocks_ending_with(code: ExecutableFunction, kind: Callable[[Instruction], bool]) -> frozenset[int]:
    """Return the blocks whose last instruction is of a kind."""
    addresses = {instruction.address for instruction in code.function.instructions if kind(instruction)}
    return frozenset(number for number, block in enumerate(code.blocks) if block.last in addresses)


def is_divided(instruction: Instruction) -> bool:
    """Say whether an instruction is `BRA.DIV ~URZ, …`."""
    first = instruction.operands[0] if instruction.operands else None
    every = isinstance(first, Register) and first.file == "UR" and first.index is None and first.inverted
    return instruction.opcode == "BRA.DIV" and instruction.guard is None and every


def is_grouped(instruction: Instruction) -> bool:
    """Say whether an instruction is a WARPSYNC of lanes that are not known to be all."""
    name, *modifiers = instruction.opcode.split(".")
    every = any(isinstance(each, Immediate) and each.value in {_EVERY, -1} for each in instruction.operands)
    return name == "WARPSYNC" and "ALL" not in modifiers and not every


def is_of_one_lane(operation: Operation) -> bool:
    """Say whether the warp gets the word of one of its lanes, in which they differ."""
    specials = (operand.name for operand in operation.instruction.operands if isinstance(operand, Special))
    return operation.broadcast and any(name.startswith(("SR_TID", "SR_LANEID")) or name.endswith("MASK") for name in specials)
