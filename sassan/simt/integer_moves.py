"""Moves, constants and conversions of width, as integers compute them."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isnan

import numpy as np

from sassan.ir import Constant, Immediate, Register, Special, Word
from sassan.simt.code import number
from sassan.simt.integer_work import MASK, MINUS_ZERO, GroupOperation, UnknownError, as_signed, back


def _move(work: GroupOperation) -> None:
    to, source, *mask = work.instruction.operands
    if mask and work.integer(mask[0]) != 15:  # noqa: PLR2004  # every byte
        raise UnknownError
    for half in range(2 if "64" in work.modifiers else 1):
        work.put(to, work.word(source, half), half)


def _to_one_copy(work: GroupOperation) -> None:
    """R2UR: what the first lane holds. Whether the others hold the same, which a predicate before it says, is drawn."""
    *_, to, source = work.instruction.operands
    if work.modifiers:
        raise UnknownError
    work.put(to, work.word(source))


def _convert(work: GroupOperation) -> None:
    """I2I between words: a copy, or what it is without its sign; narrower ones have no rule."""
    to, source = work.instruction.operands
    if not work.modifiers <= {"S32", "U32"}:
        raise UnknownError
    if isinstance(source, Register | Constant) and source.absolute:
        if work.instruction.opcode.split(".")[1:] != ["S32", "S32"]:
            raise UnknownError
        size = back(np.abs(as_signed(work.word(replace(source, absolute=False, negated=False)))))
        work.put(to, (np.uint64(0) - size) & MASK if source.negated else size)
        return
    work.put(to, work.word(source))


def _special(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    known = work.place.special.get(source.name) if isinstance(source, Special) else None
    if known is None:
        raise UnknownError
    for half in range(2 if work.instruction.opcode == "CS2R" else 1):
        work.put(to, known[work.rows].astype(np.uint64), half)


_WIDTHS = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}


def _load_constant(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    if not isinstance(source, Constant) or work.modifiers - {*_WIDTHS, "64", "128"}:
        raise UnknownError
    size, signed = next((_WIDTHS[modifier] for modifier in work.modifiers if modifier in _WIDTHS), (4, False))
    if size < 4 and any(part.index is not None for part in source.base):  # noqa: PLR2004  # bytes of a word
        raise UnknownError
    if size < 4:  # noqa: PLR2004  # bytes of a word
        aligned = Constant(source.bank, source.base, source.offset & ~3)
        word = work.word(aligned) >> np.uint64(8 * (source.offset & 3)) & np.uint64((1 << 8 * size) - 1)
        sign = np.uint64(1 << 8 * size - 1)
        work.put(to, ((word ^ sign) - sign) & MASK if signed else word)
        return
    for half in range({"64": 2, "128": 4}.get(next(iter(work.modifiers), ""), 1)):
        work.put(to, work.word(source, half), half)


def _half_constant(work: GroupOperation) -> None:
    """HFMA2 of zeros: how ptxas loads a number through the floating-point unit."""
    to, first, second, high, low = work.instruction.operands
    if work.modifiers - {"MMA"} or not isinstance(high, Immediate) or not isinstance(low, Immediate):
        raise UnknownError
    if work.word(first).any() or work.word(second).any() or MINUS_ZERO.search(work.instruction.text):
        raise UnknownError
    if isnan(high.value) or isnan(low.value):
        raise UnknownError  # the bits of a NaN are not published
    (bits,) = struct.unpack("<I", struct.pack("<ee", low.value, high.value))
    work.put(to, work.full(bits))


_BYTE = {"B1": 1, "B2": 2, "B3": 3}
_EVERY_PREDICATE = 7


def _predicates_to_register(work: GroupOperation) -> None:
    """P2R: predicates at the bits of a mask in one byte, and the bits of another register elsewhere."""
    to, predicates, beside, mask = work.instruction.operands
    chosen = work.integer(mask)
    place = next((_BYTE[each] for each in work.modifiers if each in _BYTE), 0)
    if predicates != Word("PR") or work.modifiers - set(_BYTE) or chosen >> _EVERY_PREDICATE:
        raise UnknownError
    word = work.word(beside) & np.uint64(~(chosen << 8 * place) & int(MASK))
    for index in (index for index in range(_EVERY_PREDICATE) if chosen >> index & 1):
        word |= (work.inputs[_predicate(index)] != 0).astype(np.uint64) << np.uint64(index + 8 * place)
    work.put(to, word)


def _register_to_predicates(work: GroupOperation) -> None:
    """R2P: the bits of one byte become the predicates of a mask."""
    predicates, source, mask = work.instruction.operands
    chosen = work.integer(mask)
    if predicates != Word("PR") or work.modifiers or chosen >> _EVERY_PREDICATE or not isinstance(source, Register):
        raise UnknownError
    place = next((_BYTE[each] for each in source.modifiers if each in _BYTE), 0)
    word = work.word(replace(source, modifiers=tuple(each for each in source.modifiers if each not in _BYTE)))
    for index in (index for index in range(_EVERY_PREDICATE) if chosen >> index & 1):
        work.out[_predicate(index)] = word >> np.uint64(index + 8 * place) & np.uint64(1)


def _predicate(index: int) -> int:
    name = number("P", index)
    assert name is not None
    return name


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **dict.fromkeys(("MOV", "MOV32I", "UMOV"), _move),
    "R2UR": _to_one_copy,
    "I2I": _convert,
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), _load_constant),
    "HFMA2": _half_constant,
    "P2R": _predicates_to_register,
    "R2P": _register_to_predicates,
}
