"""Words of memory that floating-point operations read: which ones, and numbers that stand for contents that are not known.

A word that is drawn from all bits is no number that a program computes with: half of them are below 1e-19 or above 1e19, and no loop that
waits for a difference to become small ends as it does with real ones. So numbers are drawn from 0 to 1.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np

from sassan.simt.code import Block, Operation, number
from sassan.simt.values import Words

_SINGLE, _DOUBLE = 126, 1022
"""The exponents of numbers from 0.5 to 1."""
_LEAST = np.uint32(1 << 12)
"""Numbers are drawn down to 2^-12 or so."""
_FIRST = number("R", 0) or 0
_ARITHMETIC = frozenset(("ADD", "FMA", "MUL", "SETP", "MNMX"))


class Part(Enum):
    """What a word is: a number in single precision, or the high word of one in double precision."""

    SINGLE = "single"
    HIGH = "high"


Place = tuple[int, int]
"""The address of an instruction, and a register that it writes (bit number)."""


def numbers(blocks: Sequence[Block]) -> Mapping[Place, Part]:
    """Return which words are numbers: those that a floating-point operation is the next one to read, in the order of the code."""
    out: dict[Place, Part] = {}
    last: dict[int, Place] = {}
    for operation in (operation for block in blocks for operation in block.operations):
        part = _reads(operation)
        for register in operation.reads:
            written = last.pop(register, None)
            # A pair begins at an even register.
            if written is not None and part is not None and (part is Part.SINGLE or (register - _FIRST) % 2):
                out[written] = part
        for register in operation.writes:
            last[register] = operation.instruction.address, register
    return out


def _reads(operation: Operation) -> Part | None:
    """Return which numbers an operation computes with; None where it need not read any."""
    name, *types = operation.instruction.opcode.split(".")
    if name in {"F2F", "F2I", "FRND"}:
        return Part.HIGH if types and "F64" in types and (name != "F2F" or types[0] != "F64") else Part.SINGLE
    if name[:1] in {"F", "D"} and name[1:].removesuffix("32I") in _ARITHMETIC:
        return Part.SINGLE if name.startswith("F") else Part.HIGH
    return Part.SINGLE if name in {"FSEL", "FCHK"} or (name == "MUFU" and not types[0].endswith("64H")) else None


def drawn_number(word: Words, part: Part) -> Words:
    """Return words of numbers from 0 to 1, each as likely as any, made of drawn words."""
    lowest = word & (~word + np.uint32(1))
    below = np.log2(np.minimum(np.maximum(lowest, 1), _LEAST).astype(np.float32)).astype(np.uint32)
    if part is Part.SINGLE:
        return np.asarray((np.uint32(_SINGLE) - below) << np.uint32(23) | word >> np.uint32(9), np.uint32)
    return np.asarray((np.uint32(_DOUBLE) - below) << np.uint32(20) | word >> np.uint32(12), np.uint32)
