"""The operand of a copy of the copy engine (TMA) that says where its tensor map is, and the addresses of parameters in the run.

For a map among the parameters the compiler adds its place to the address of the first one, a word of constant bank 0 that no launch gives.
"""

from dataclasses import replace

import numpy as np

from sassan.access.opcodes import tensor_operands
from sassan.ir import Function, Instruction, Memory
from sassan.machine.parameters import bank_layout
from sassan.simt.integer_work import WarpInputs
from sassan.simt.values import Words
from sassan.values.environment import PARAMETER_WINDOW

_WORD = 4


def descriptor(instruction: Instruction) -> Memory | None:
    """Return the operand with the address of the tensor map; None where there is none."""
    operands = tensor_operands(instruction)
    return None if operands is None else operands[1]


def with_window(place: WarpInputs, function: Function) -> WarpInputs:
    """Return warps for which the first parameter lies at `PARAMETER_WINDOW`."""
    where = bank_layout(function)
    if where is None or where.address is None:
        return place
    words = {where.address: PARAMETER_WINDOW & 0xFFFFFFFF, where.address + _WORD: PARAMETER_WINDOW >> 32}
    bank = place.bank

    def moved(offset: int) -> Words:
        return np.full(len(place), words[offset], np.uint32) if offset in words else bank(offset)

    return replace(place, bank=moved)
