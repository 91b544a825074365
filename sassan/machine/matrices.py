"""How much work a matrix product is: the shape that its opcode names."""

import re
from typing import NamedTuple

from sassan.ir import Instruction, Register

_PACKED = re.compile(r"(16|8)(8)([0-9]+)")
"""HMMA.16816: 16 x 8 x 16."""
_WRITTEN_OUT = re.compile(r"([0-9]+)x([0-9]+)x([0-9]+)")
_WARPGROUP = "GMMA"
_WARPS = 4
_NARROWEST = 64
"""A product of a warpgroup that is narrower takes as long: it waits for the left matrix, 16 cycles in shared memory (Luo et al. 2024)."""
_WIDE = 128
"""Columns up to which the left matrix is read from registers while the tensor cores work."""
_LEFT_FROM_REGISTERS = 4
_LEFT_OF_WIDE = 56


def register_cycles(instruction: Instruction, *, alone: bool) -> int:
    """Return how many cycles more a product of a warpgroup takes whose left matrix is in registers; 0 of all others.

    36.0 and 68.0 in place of 32 and 64 cycles with 64 and 128 columns. With 256 columns the next product of the same warpgroup begins
    after 183 in place of 128, which counts where no other warpgroup works between them (`alone`): two together take 128 each
    (samples/engines/h100.csv).
    """
    if not instruction.opcode.partition(".")[0].endswith(_WARPGROUP) or len(instruction.operands) <= 1:
        return 0
    left = instruction.operands[1]
    if not isinstance(left, Register) or left.file != "R":
        return 0
    shape = _shape(instruction.opcode)
    return _LEFT_OF_WIDE if alone and (shape is None or shape.columns > _WIDE) else _LEFT_FROM_REGISTERS


def tensor_memory_cycles(descriptor: int, *, left_in_shared: bool) -> int:
    """Return the cycles that tensor cores of an SM since Blackwell take for a product of tensor memory.

    `descriptor` is its instruction descriptor (PTX ISA 8.8, tcgen05: an eighth of the columns in bits 17 to 22). 128 rows times 2 columns
    are a cycle of the peak, whatever the type, since more depth comes with a higher rate. 128 bytes a cycle come from shared memory: 32 of
    each row of the left matrix, where it lies there, and of each column of the right one. A B300 takes 47 to 49 cycles with 64 columns, 65
    with 128, 129 with 256 (Antoniomv7/gb300-microbench at 86f2382f).
    """
    columns = 8 * (descriptor >> 17 & 0x3F)
    return max(columns // 2, (columns + 128 * left_in_shared) // 4)


class _Shape(NamedTuple):
    rows: int
    columns: int
    depth: int


def _shape(opcode: str) -> _Shape | None:
    words = opcode.split(".")[1:]
    match = next((match for word in words if (match := _PACKED.fullmatch(word) or _WRITTEN_OUT.fullmatch(word))), None)
    return _Shape(*map(int, match.groups())) if match is not None else None


def multiply_adds(opcode: str) -> int:
    """Return the multiply-adds of one warp for an opcode with its modifiers, 0 where it names no shape.

    A sparse matrix (`SP`) holds half of its elements. The four warps of a warpgroup have a quarter of its product each.
    """
    mnemonic, *modifiers = opcode.split(".")
    shape = _shape(opcode)
    if shape is None:
        return 0
    rows, columns, depth = shape
    if "SP" in modifiers:
        depth //= 2
    if not mnemonic.endswith(_WARPGROUP):
        return rows * columns * depth
    return rows * max(columns, _NARROWEST) * depth // _WARPS
