"""How much work a matrix product is: the shape that its opcode names."""

import re

from sassan.ir import Instruction, Register

_PACKED = re.compile(r"(16|8)(8)([0-9]+)")
"""HMMA.16816: 16 x 8 x 16."""
_WRITTEN_OUT = re.compile(r"([0-9]+)x([0-9]+)x([0-9]+)")
_WARPGROUP = "GMMA"
_WARPS = 4
_NARROWEST = 64
"""A product of a warpgroup that is narrower takes as long: it waits for the left matrix, 16 cycles in shared memory (Luo et al. 2024)."""


_LEFT_FROM_REGISTERS = 4


def register_cycles(instruction: Instruction) -> int:
    """Return how many cycles more a product of a warpgroup takes whose left matrix is in registers; 0 of all others.

    36.0 and 68.0 in place of 32 and 64 cycles with 64 and 128 columns, where one warpgroup runs; half of that more where two do
    (samples/engines/h100.csv).
    """
    if not instruction.opcode.partition(".")[0].endswith(_WARPGROUP) or len(instruction.operands) <= 1:
        return 0
    left = instruction.operands[1]
    return _LEFT_FROM_REGISTERS if isinstance(left, Register) and left.file == "R" else 0


def multiply_adds(opcode: str) -> int:
    """Return the multiply-adds of one warp for an opcode with its modifiers, 0 where it names no shape.

    A sparse matrix (`SP`) holds half of its elements. The four warps of a warpgroup have a quarter of its product each.
    """
    mnemonic, *modifiers = opcode.split(".")
    shape = next((match for word in modifiers if (match := _PACKED.fullmatch(word) or _WRITTEN_OUT.fullmatch(word))), None)
    if shape is None:
        return 0
    rows, columns, depth = (int(number) for number in shape.groups())
    if "SP" in modifiers:
        depth //= 2
    if not mnemonic.endswith(_WARPGROUP):
        return rows * columns * depth
    return rows * max(columns, _NARROWEST) * depth // _WARPS
