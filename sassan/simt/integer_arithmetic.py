"""Sums, products and shifts, as integers compute them."""

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from sassan.ir import Constant, Immediate, Operand, Register
from sassan.isa.registers import bit
from sassan.simt.integer_work import (
    MASK,
    GroupOperation,
    Longs,
    UnknownError,
    as_signed,
    back,
    carries_unknown,
    is_negated,
    is_truth,
    numbers,
    split,
)

_WORD = 0xFFFFFFFF
_CC = bit("CC", 0).bit_length() - 1


def _add(work: GroupOperation) -> None:
    if (of_other_words := _SUMS.get(frozenset(work.modifiers))) is not None:
        of_other_words(work)
        return
    to, outs, words, ins = split(work.instruction.operands)
    modifiers = work.modifiers
    if modifiers - {"X"}:
        raise UnknownError
    values = [_summand(work, word) for word in words]
    total = reduce(lambda a, b: a + b, values, work.full(0))
    # -x is ~x + 1: the carry of a difference counts the 1.
    minus_zero = [is_negated(word) for word in words]
    carry = total + sum((value == 0).astype(np.uint64) << np.uint64(32) for value, flag in zip(values, minus_zero, strict=True) if flag)
    if "X" in modifiers:
        if not ins and any(minus_zero):
            if work.instruction.opcode.split(".")[0] == "IADD3":
                raise UnknownError
            # Until Pascal the flag stands for the 1 of ~x + 1.
            parts = [(value + MASK) & MASK if flag else value for value, flag in zip(values, minus_zero, strict=True)]
            total = carry = reduce(lambda a, b: a + b, parts, work.full(0))
        for carry_in in [work.truth(carry_in) for carry_in in ins] or [(work.inputs[_CC] & 1) != 0]:
            total = total + carry_in
            carry = carry + carry_in
    work.put(to, total)
    # Of three words two carries may be left: with one, the first predicate holds, whichever the hardware takes.
    for carries, out in enumerate(out for out in outs if getattr(out, "index", None) is not None):
        work.put(out, carry >> np.uint64(32) > np.uint64(carries))
    if isinstance(to, Register) and "CC" in to.modifiers:
        work.out[_CC] = (carry >> np.uint64(32) != 0).astype(np.uint64) | ((total & MASK) == 0).astype(np.uint64) << np.uint64(1)


def _add_to_upper_half(work: GroupOperation) -> None:
    """Compute IADD3.RS, until Pascal: the upper half of the sum of two words, and a third one; products are made of halves."""
    to, first, second, third = work.instruction.operands
    work.put(to, ((work.word(first) + work.word(second)) >> np.uint64(16)) + work.word(third))


def _summand(work: GroupOperation, operand: Operand) -> Longs:
    """Return a word; until Pascal IADD3 prints its 20-bit immediate without the sign."""
    if work.place.short and work.instruction.opcode.split(".")[0] == "IADD3" and isinstance(operand, Immediate):
        value = work.integer(operand)
        return work.full((value - (1 << 20) if 1 << 19 <= value < 1 << 20 else value) & _WORD)
    return work.word(operand)


def _add_pairs(work: GroupOperation) -> None:
    """Add words of 64 bits; what such a sum carries is drawn."""
    to, _, words, ins = split(work.instruction.operands)
    if ins:
        raise UnknownError
    total = reduce(lambda a, b: a + b, [work.pair(word) for word in words])
    work.put(to, total)
    work.put(to, total >> np.uint64(32), 1)


_SUMS: Mapping[frozenset[str], Callable[[GroupOperation], None]] = {
    frozenset({"64"}): _add_pairs,
    frozenset({"RS"}): _add_to_upper_half,
}


def _multiply(work: GroupOperation) -> None:
    to, outs, (left, right, addend, *_), ins = split(work.instruction.operands)
    modifiers = work.modifiers - {"MOV", "SHL", "IADD", "U32", "S32"}
    # What a product of one word says of its carry is drawn, and so is what a signed one does.
    if (outs and not modifiers & {"HI", "WIDE"}) or modifiers - {"HI", "WIDE", "X"}:
        raise UnknownError
    a, b = work.word(left), work.word(right)
    if modifiers & {"HI", "WIDE"}:
        if "X" in modifiers:
            raise UnknownError
        pair = work.word(addend) | work.word(addend, 1) << np.uint64(32)
        whole = (numbers(a, work.signed).view(np.uint64) * numbers(b, work.signed).view(np.uint64)) + pair
        if "WIDE" in modifiers:
            work.put(to, whole)
        work.put(to, whole >> np.uint64(32), int("WIDE" in modifiers))
        for out in outs if not work.signed else ():
            work.put(out, whole < pair)
        return
    total = a * b + work.word(addend)
    if "X" in modifiers:
        for carry_in in [work.truth(carry_in) for carry_in in ins] or [(work.inputs[_CC] & 1) != 0]:
            total = total + carry_in
    work.put(to, total)


def _multiply_only(work: GroupOperation) -> None:
    to, left, right = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    work.put(to, work.word(left) * work.word(right))


def _short_multiply(work: GroupOperation) -> None:
    to, left, right, addend = work.instruction.operands
    modifiers = work.modifiers
    if modifiers - {"PSL", "MRG", "CBCC", "CLO", "CHI"} or (isinstance(to, Register) and "CC" in to.modifiers):
        raise UnknownError
    product = _half(work, left) * _half(work, right)
    whole, c = work.word(_plain(right)), work.word(addend)
    product = product << np.uint64(16) if "PSL" in modifiers else product
    c = c + (whole << np.uint64(16)) if "CBCC" in modifiers else c
    c = c & np.uint64(0xFFFF) if "CLO" in modifiers else c >> np.uint64(16) if "CHI" in modifiers else c
    product = product + c
    if "MRG" in modifiers:
        product = (product & np.uint64(0xFFFF)) | whole << np.uint64(16)
    work.put(to, product)


def _half(work: GroupOperation, operand: Operand) -> Longs:
    modifiers = set(getattr(operand, "modifiers", ())) - {"reuse"}
    if modifiers - {"H1"} or getattr(operand, "negated", False):
        raise UnknownError
    word = work.word(_plain(operand))
    return (word >> np.uint64(16) if modifiers else word) & np.uint64(0xFFFF)


def _plain(operand: Operand) -> Operand:
    """Return an operand without the part that is selected of it."""
    if isinstance(operand, Register):
        return Register(operand.file, operand.index)
    return Constant(operand.bank, operand.base, operand.offset) if isinstance(operand, Constant) else operand


def _left(work: GroupOperation) -> None:
    to, source, places = work.instruction.operands[:3]
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    work.put(to, _shifted_left(work.word(source), work.word(places)))


def _shifted_left(words: Longs, places: Longs) -> Longs:
    return np.where(places < np.uint64(32), words << np.minimum(places, np.uint64(32)), np.uint64(0))


def _right(work: GroupOperation) -> None:
    to, source, places = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    work.put(to, _shifted_right(work, work.word(source), work.word(places)))


def _shifted_right(work: GroupOperation, words: Longs, places: Longs) -> Longs:
    return back(numbers(words, work.signed) >> np.minimum(places, np.uint64(63)).astype(np.int64))


def _funnel(work: GroupOperation) -> None:
    to, low, places, high = work.instruction.operands
    kinds = work.modifiers & {"U32", "S32", "U64"}
    pair, by = work.word(low) | work.word(high) << np.uint64(32), work.word(places)
    most = np.uint64(63 if "U64" in kinds else 32)
    if len(kinds) != 1 or ("U64" in kinds and ("W" in work.modifiers or (by > most).any())):
        raise UnknownError
    by = by & np.uint64(31) if "W" in work.modifiers else by
    match sorted(work.modifiers - {*kinds, "W"}):
        case ["L"] if "U64" not in kinds:
            work.put(to, _shifted_left(work.word(low), by))
        case ["HI", "R"] if "U64" not in kinds:
            work.put(to, _shifted_right(work, work.word(high), by))
        case ["R"]:
            right: Longs = np.right_shift(pair, np.minimum(by, most))
            work.put(to, right)
        case ["HI", "L"] | ["L"]:
            # A shift of 64 bits by a number of run time is this instruction alone, for its upper word.
            left: Longs = np.left_shift(pair, np.minimum(by, most))
            work.put(to, left >> np.uint64(32))
        case _:
            raise UnknownError


def _scaled_add(work: GroupOperation) -> None:
    first, second, *rest = work.instruction.operands
    # Until Pascal the carry out stands before the destination, or in CC.
    to, outs, words, ins = split((second, first, *rest) if is_truth(first) else work.instruction.operands)
    extended, has_flags = "X" in work.modifiers, isinstance(to, Register) and "CC" in to.modifiers
    if (ins and not extended) or carries_unknown(work.modifiers, first, words, out=bool(outs), flags=has_flags):
        raise UnknownError
    source, places = work.word(words[0]), np.uint64(work.integer(words[-1]) & 31)
    match sorted(work.modifiers):
        case []:
            shifted = source << places
        case ["HI"] | ["HI", "X"]:
            shifted = (source | work.word(words[2]) << np.uint64(32)) >> (np.uint64(32) - places)
        case ["HI", "SX32"] | ["HI", "SX32", "X"]:
            shifted = back(as_signed(source) >> (32 - places.astype(np.int64)))
        case _:
            raise UnknownError
    carried = [work.truth(carry) for carry in ins] or ([(work.inputs[_CC] & 1) != 0] if extended else [])
    # What is shifted out belongs to the next word: LEA.HI adds it there.
    added = shifted & MASK, work.word(words[1])
    total = sum(carried, added[0] + added[1])
    work.put(to, total)
    # -x is ~x + 1, and the carry counts the 1; the sign is that of what has been shifted.
    zeros = [(value == 0).astype(np.uint64) for value, word in zip(added, words, strict=False) if is_negated(word)]
    carry = sum((zero << np.uint64(32) for zero in zeros), total)
    for out in outs:
        work.put(out, carry >> np.uint64(32) != 0)
    if has_flags:
        work.out[_CC] = (total >> np.uint64(32) != 0).astype(np.uint64) | ((total & MASK) == 0).astype(np.uint64) << np.uint64(1)


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **dict.fromkeys(("IADD", "IADD3", "IADD32I", "VIADD", "UIADD3"), _add),
    **dict.fromkeys(("IMAD", "UIMAD", "IMAD32I"), _multiply),
    **dict.fromkeys(("IMUL", "IMUL32I"), _multiply_only),
    "XMAD": _short_multiply,
    "SHL": _left,
    "SHR": _right,
    **dict.fromkeys(("SHF", "USHF"), _funnel),
    **dict.fromkeys(("LEA", "ULEA", "ISCADD", "ISCADD32I"), _scaled_add),
}
