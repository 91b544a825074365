"""The operand of a copy of the copy engine (TMA) that says where its tensor map is, and the addresses of parameters in the run.

For a map among the parameters the compiler adds its place to the address of the first one, a word of constant bank 0 that no launch gives.
"""

from dataclasses import replace

import numpy as np

from sassan.ir import Function, Instruction, Memory
from sassan.machine.parameters import bank_layout
from sassan.simt.integer_work import WarpInputs
from sassan.simt.values import Words

_OF_TENSORS = frozenset({"UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF"})
WINDOW = 1 << 56
"""The address of the first parameter: no memory lies there."""
_WORD = 4


def descriptor(instruction: Instruction) -> Memory | None:
    """Return the operand with the address of the tensor map, the second address of the instruction; None where there is none."""
    if instruction.opcode.partition(".")[0] not in _OF_TENSORS:
        return None
    addresses = [operand for operand in instruction.operands if isinstance(operand, Memory)]
    return addresses[1] if len(addresses) > 1 and addresses[1].base else None


def with_window(place: WarpInputs, function: Function) -> WarpInputs:
    """Return warps for which the first parameter lies at `WINDOW`."""
    where = bank_layout(function)
    if where is None or where.address is None:
        return place
    words = {where.address: WINDOW & 0xFFFFFFFF, where.address + _WORD: WINDOW >> 32}
    bank = place.bank

    def moved(offset: int) -> Words:
        return np.full(len(place), words[offset], np.uint32) if offset in words else bank(offset)

    return replace(place, bank=moved)
