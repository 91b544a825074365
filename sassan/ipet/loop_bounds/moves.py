"""What moves, constants and special registers bring into registers, as values; a form that is not here leaves its results unknown."""

import re
import struct
from collections.abc import Mapping

from sassan.ipet.loop_bounds.operands import Operation, Step
from sassan.ipet.loop_bounds.values import constant
from sassan.ir import Constant, Immediate, Operand, Special

_MINUS_ZERO = re.compile(r", -0(\.0*)?(,|$)")
_WORD_BYTES = 4
_BANK = 1 << 16
"""Bytes of a constant bank."""


def move(step: Step) -> None:
    """MOV and its kind."""
    to, source, *mask = step.instruction.operands
    if any(step.immediate(one) != 15 for one in mask):  # noqa: PLR2004  # every byte
        return
    for place in range(2 if "64" in step.modifiers else 1):
        step.put(to, step.word(source, place), place)


def convert(step: Step) -> None:
    """I2I between words: a copy."""
    to, source = step.instruction.operands
    if set(step.modifiers) <= {"S32", "U32"}:
        step.put(to, step.word(source))


def special(step: Step) -> None:
    """S2R, S2UR, CS2R."""
    to, source = step.instruction.operands
    if isinstance(source, Special):
        for place in range(2 if step.instruction.opcode == "CS2R" else 1):
            step.put(to, step.around.special(source.name), place)


def load_constant(step: Step) -> None:
    """LDC, ULDC, LDCU at a known address of constant bank 0."""
    to, source = step.instruction.operands
    if not isinstance(source, Constant) or source.bank != 0 or set(step.modifiers) - _LOADS.keys():
        return
    size, is_signed = _LOADS[step.modifiers[0]] if step.modifiers else (_WORD_BYTES, False)
    address = _address(step, source)
    if address is None or (size < _WORD_BYTES and address != source.offset):
        return
    for place in range(max(1, size // _WORD_BYTES)):
        word = step.around.constant(address + _WORD_BYTES * place, min(size, _WORD_BYTES), is_signed=is_signed)
        step.put(to, word, place)


def _address(step: Step, source: Constant) -> int | None:
    """Return where a constant stands in its bank; None where that is not known, or computed and not the place of a word."""
    base = [step.word(one).constant for one in source.base if one.index is not None]
    if not base:
        return source.offset
    address = sum(one for one in base if one is not None) + source.offset
    return None if None in base or address % _WORD_BYTES or not 0 <= address < _BANK else address


_LOADS: Mapping[str, tuple[int, bool]] = {
    "64": (8, False),
    "128": (16, False),
    "U8": (1, False),
    "S8": (1, True),
    "U16": (2, False),
    "S16": (2, True),
}


def half_constant(step: Step) -> None:
    """HFMA2 of zeros: how ptxas loads a number by way of the floating-point unit."""
    to, *factors = step.instruction.operands
    if len(factors) != 4 or set(step.modifiers) - {"MMA"} or any(step.word(one).constant != 0 for one in factors[:2]):  # noqa: PLR2004
        return
    halves = [_half_float(one) for one in factors[2:]]
    if None not in halves and not _MINUS_ZERO.search(step.instruction.text):
        high, low = halves
        step.put(to, constant((high or 0) << 16 | (low or 0)))


def _half_float(operand: Operand) -> int | None:
    """Return the bits of a number in half precision."""
    if not isinstance(operand, Immediate) or operand.modifiers:
        return None
    try:
        bits: int = struct.unpack("<H", struct.pack("<e", operand.value))[0]
    except (OverflowError, struct.error):
        return None
    return bits


OPERATIONS: Mapping[str, Operation] = {
    **dict.fromkeys(("MOV", "MOV32I", "UMOV"), move),
    "I2I": convert,
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), special),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), load_constant),
    "HFMA2": half_constant,
}
