"""Bits, truths, comparisons and choices, as integers compute them."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sassan.ir import Immediate, Operand, Register
from sassan.isa.registers import bit
from sassan.simt.integer_work import MASK, GroupOperation, Longs, UnknownError, as_signed, back, is_truth, numbers
from sassan.simt.values import LANES, Truth

_CC = bit("CC", 0).bit_length() - 1


def _bitwise(work: GroupOperation) -> None:
    operands = list(work.instruction.operands)
    out = operands.pop(0) if is_truth(operands[0]) else None
    to, left, right = operands
    a, b = work.word(left), work.word(right)
    match sorted(work.modifiers - {"NZ"}):
        case ["AND"]:
            result = a & b
        case ["OR"]:
            result = a | b
        case ["XOR"]:
            result = a ^ b
        case ["PASS_B"]:
            result = b
        case _:
            raise UnknownError
    work.put(to, result)
    if out is not None:
        work.put(out, result != 0)


def _table(work: GroupOperation) -> None:
    operands = list(work.instruction.operands)
    out = operands.pop(0) if is_truth(operands[0]) else None
    to, *inputs, code = operands[:5]
    a, b, c = (work.word(operand) for operand in inputs)
    result = work.full(0)
    for row in range(8):
        if work.integer(code) >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) & MASK
    work.put(to, result)
    if out is not None:
        more = work.truth(operands[5]) if len(operands) > 5 else np.zeros_like(result, dtype=np.bool_)  # noqa: PLR2004  # behind the table
        work.put(out, (result != 0) | more)


def _truth_table(work: GroupOperation) -> None:
    operands = work.instruction.operands
    a, b, c = (work.truth(operand).astype(np.uint64) for operand in operands[2:5])
    row = a << np.uint64(2) | b << np.uint64(1) | c
    for to, code in ((operands[0], operands[5]), (operands[1], operands[6])):
        work.put(to, np.uint64(work.integer(code)) >> row & np.uint64(1))


_COMBINE: Mapping[str, Callable[[Truth, Truth], Truth]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def _two_truths(work: GroupOperation) -> None:
    to, other, *inputs = work.instruction.operands
    first, second = (_COMBINE[name] for name in work.instruction.opcode.split(".")[1:])
    a, b, c = (work.truth(operand) for operand in inputs)
    work.put(to, second(first(a, b), c))
    work.put(other, second(~first(a, b), c))


def _compared(name: str, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], below: Truth | None) -> Truth:
    """Return a comparison; `below` is the outcome for the low words where these are the high ones."""
    if below is None:
        below = np.full(a.shape, name in {"EQ", "LE", "GE"})
    match name:
        case "EQ":
            return np.asarray((a == b) & below)
        case "NE":
            return np.asarray((a != b) | below)
        case "LT" | "LE":
            return np.asarray((a < b) | ((a == b) & below))
        case "GT" | "GE":
            return np.asarray((a > b) | ((a == b) & below))
        case _:
            raise UnknownError


def _integer_test(work: GroupOperation, left: Operand, right: Operand, low: list[Operand]) -> Truth:
    name = work.instruction.opcode.split(".")[1]
    below = None
    half = 0
    if "EX" in work.modifiers and not low:
        raise UnknownError
    if "EX" in work.modifiers:
        below = work.truth(low[0])
    elif "X" in work.modifiers:
        carry, zero = (work.inputs[_CC] & 1) != 0, (work.inputs[_CC] & 2) != 0
        below = {"GE": carry, "LT": ~carry, "EQ": zero, "NE": ~zero, "GT": carry & ~zero, "LE": ~carry | zero}[name]
    elif work.modifiers & {"U64", "S64"}:
        below, half = _compared(name, numbers(work.word(left), False), numbers(work.word(right), False), None), 1
    return _compared(name, numbers(work.word(left, half), work.signed), numbers(work.word(right, half), work.signed), below)


def _how(work: GroupOperation) -> Callable[[Truth, Truth], Truth]:
    return _COMBINE[next((name for name in work.instruction.opcode.split(".")[2:] if name in _COMBINE), "")]


def _set_truth(work: GroupOperation) -> None:
    to, other, left, right, third, *low = work.instruction.operands
    result, also = _integer_test(work, left, right, low), work.truth(third)
    work.put(to, _how(work)(result, also))
    work.put(other, _how(work)(~result, also))


def _set_word(work: GroupOperation) -> None:
    to, left, right, third = work.instruction.operands
    if "BF" in work.modifiers:
        raise UnknownError
    truth = _how(work)(_integer_test(work, left, right, []), work.truth(third))
    work.put(to, _all_or_none(truth))
    if isinstance(to, Register) and "CC" in to.modifiers:
        work.out[_CC] = (~truth).astype(np.uint64) << np.uint64(1)


def _all_or_none(truth: Truth) -> Longs:
    return truth.astype(np.uint64) * MASK


def _select(work: GroupOperation) -> None:
    to, left, right, which = work.instruction.operands
    for half in range(2 if "64" in work.modifiers else 1):
        work.put(to, np.where(work.truth(which), work.word(left, half), work.word(right, half)), half)


def _select_by_word(work: GroupOperation) -> None:
    to, left, right, word = work.instruction.operands
    name = work.instruction.opcode.split(".")[1]
    which = _compared(name, numbers(work.word(word), work.signed), np.zeros((len(work.rows), LANES), dtype=np.int64), None)
    work.put(to, np.where(which, work.word(left), work.word(right)))


def _extreme(work: GroupOperation) -> None:
    if work.modifiers & {"U64", "S64"}:
        _extreme_of_pairs(work)
        return
    to, *sources, which = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    words = [work.word(source) for source in sources if not is_truth(source)]
    if len(words) == 3:  # noqa: PLR2004  # a sum and another
        words = [(words[0] + words[1]) & MASK, words[2]]
    lesser = numbers(words[0], work.signed) <= numbers(words[1], work.signed)
    work.put(to, np.where(lesser == work.truth(which), words[0], words[1]))


def _extreme_of_pairs(work: GroupOperation) -> None:
    _, _, to, *sources, which, other = work.instruction.operands
    if work.truth(other).any():
        raise UnknownError
    left, right = map(work.pair, sources)
    lesser = left.view(np.int64) <= right.view(np.int64) if work.signed else left <= right
    pairs = np.where(lesser == work.truth(which), left, right)
    work.put(to, pairs)
    work.put(to, pairs >> np.uint64(32), 1)


def _magnitude(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    work.put(to, back(np.abs(as_signed(work.word(source)))))


def _field(work: GroupOperation) -> None:
    to, source, where = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise UnknownError
    places, width = work.integer(where) & 255, work.integer(where) >> 8 & 255
    if max(places, width) > 31 or (work.signed and not 0 < width <= 32 - places):  # noqa: PLR2004  # the last place of a word
        raise UnknownError
    field = work.word(source) >> np.uint64(places) & np.uint64((1 << width) - 1)
    sign = np.uint64(1 << width >> 1)
    work.put(to, ((field ^ sign) - sign) & MASK if work.signed else field)


def _mask(work: GroupOperation) -> None:
    """BMSK: ones from a place on, as many as a width; W takes both modulo 32, else what lies outside the word is cut off."""
    to, place, width = work.instruction.operands
    if work.modifiers - {"W"}:
        raise UnknownError
    wrap = "W" in work.modifiers
    first, count = (words & np.uint64(31) if wrap else np.minimum(words, np.uint64(32)) for words in map(work.word, (place, width)))
    work.put(to, (np.uint64(1) << count) - np.uint64(1) << first)


def _extend(work: GroupOperation) -> None:
    match work.instruction.operands:
        case (to, source, Immediate(value=int() as bits)) if 0 < bits < 32 and not work.modifiers - {"U32", "W"}:  # noqa: PLR2004  # a part of a word
            pushed = work.word(source) << np.uint64(32 - bits) & MASK
            work.put(to, pushed >> np.uint64(32 - bits) if "U32" in work.modifiers else back(as_signed(pushed) >> (32 - bits)))
        case (to, source, width) if not work.modifiers - {"U32", "W"}:
            wide = work.word(width)
            kept = wide & np.uint64(31) if "W" in work.modifiers else np.minimum(wide, np.uint64(32))
            field = work.word(source) & (np.uint64(1) << kept) - np.uint64(1)
            sign = np.uint64(1) << kept >> np.uint64(1)
            # No bits are 0, whatever the sign.
            sign = np.where(kept == 0, np.uint64(0), sign)
            work.put(to, field if "U32" in work.modifiers else ((field ^ sign) - sign) & MASK)
        case _:
            raise UnknownError


def _count(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    work.put(to, np.unpackbits(work.word(source).astype("<u8")[..., None].view(np.uint8), axis=-1).sum(axis=-1, dtype=np.uint64))


def _reversed(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    if work.modifiers:
        raise UnknownError
    bits = np.unpackbits(work.word(source).astype("<u4")[..., None].view(np.uint8), axis=-1, bitorder="little")
    work.put(to, np.packbits(bits, axis=-1, bitorder="big").view(">u4")[..., 0].astype(np.uint64))


def _highest(work: GroupOperation) -> None:
    to, source = work.instruction.operands[0], work.instruction.operands[-1]
    if work.modifiers not in ({"U32"}, {"U32", "SH"}):
        raise UnknownError
    # An exponent of double precision: every word is exact there.
    places = np.frexp(work.word(source).astype(np.float64))[1] - 1
    # From the top where the result is a shift; nothing is found in 0.
    places = np.where(work.word(source) == 0, -1, np.where("SH" in work.modifiers, 31 - places, places))
    work.put(to, back(places.astype(np.int64)))


def _bytes(work: GroupOperation) -> None:
    to, first, select, second = work.instruction.operands
    if work.modifiers:
        raise UnknownError
    pair, codes, result = work.word(first) | work.word(second) << np.uint64(32), work.word(select), work.full(0)
    for place in range(4):
        code = codes >> np.uint64(4 * place)
        byte = pair >> ((code & np.uint64(7)) * np.uint64(8)) & np.uint64(255)
        sign = np.where(byte > np.uint64(127), np.uint64(255), np.uint64(0))
        result |= np.where(code & np.uint64(8) != 0, sign, byte) << np.uint64(8 * place)
    work.put(to, result)


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **dict.fromkeys(("LOP", "LOP32I"), _bitwise),
    **dict.fromkeys(("LOP3", "ULOP3"), _table),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _truth_table),
    "PSETP": _two_truths,
    **dict.fromkeys(("ISETP", "UISETP"), _set_truth),
    "ISET": _set_word,
    **dict.fromkeys(("SEL", "USEL"), _select),
    "ICMP": _select_by_word,
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIADDMNMX", "UIMNMX", "UVIMNMX"), _extreme),
    "IABS": _magnitude,
    **dict.fromkeys(("FLO", "UFLO"), _highest),
    **dict.fromkeys(("PRMT", "UPRMT"), _bytes),
    "BFE": _field,
    **dict.fromkeys(("BMSK", "UBMSK"), _mask),
    **dict.fromkeys(("SGXT", "USGXT"), _extend),
    **dict.fromkeys(("POPC", "UPOPC"), _count),
    **dict.fromkeys(("BREV", "UBREV"), _reversed),
}
