"""DEPBAR: which barriers an instruction of the code waits for, and what it leaves open of each."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from sassan.ir import Immediate, Instruction, Register, Word
from sassan.isa.control import BARRIERS

_NONE: Mapping[int, int] = MappingProxyType({})
_UNKNOWN: Mapping[int, int] = MappingProxyType(dict.fromkeys(range(BARRIERS), 1))


def remainders(instruction: Instruction) -> Mapping[int, int]:
    """Return what may be left open of each barrier that is waited for: `DEPBAR.LE SB5, 0x3, {2,1}` leaves 3 of barrier 5, none of 1 and 2.

    Any other instruction waits for none so. A form that is not known waits for every barrier, and leaves something open.
    """
    if not instruction.opcode.startswith("DEPBAR"):
        return _NONE
    known: dict[int, int] = {}
    counted: int | None = None
    for operand in instruction.operands:
        match operand:
            case Register(file="SB", index=int(index)):
                counted = index
                known[index] = 0
            case Immediate(value=int(value)) if counted is not None:
                known[counted] = value
            case Word(text=text) if re.fullmatch(r"\{[0-5](,[0-5])*\}", text):
                known |= dict.fromkeys(map(int, re.findall(r"[0-5]", text)), 0)
            case _:
                return _UNKNOWN
    return known
