"""Conversions between integers, single and double precision, and reciprocals, as floating-point units compute them.

Infinities and what is not a number are results like others: numpy does not warn of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sassan.ir import Immediate, Operand, Register
from sassan.simt.code import number
from sassan.simt.float_arithmetic import OPERATIONS as ARITHMETIC
from sassan.simt.float_arithmetic import ROUNDINGS, Numbers, function, number_of, put_number
from sassan.simt.integer_work import MASK, GroupOperation, Longs, UnknownError, back, numbers
from sassan.simt.values import LANES, Truth, stir

_TYPES = frozenset({"F32", "U32", "S32"})
_WIDE = frozenset({"F64", "U64", "S64"})
_NARROW = frozenset({"U8", "S8", "U16", "S16"})
_PLACES: Mapping[str, int] = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}
"""Selectors of a part of a word, by its first bit."""
_ROUNDED_WORDS = frozenset({"FTZ", "RM", "RP", "RZ", "RN"})
"""Of a conversion between precisions, which differ by a unit in the last place."""
_TINY = np.float32(2.0**-126)
_LARGEST = np.float32(np.finfo(np.float32).max)
_FITTING = np.float32(2.0**31)
"""Below it, any integer of 32 bits holds a number."""
_ROUND: Mapping[str, Callable[[Numbers], Numbers]] = {
    "TRUNC": np.trunc,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
}


def _single(work: GroupOperation, operand: Operand) -> npt.NDArray[np.float32]:
    if isinstance(operand, Immediate):
        if operand.modifiers or (isinstance(operand.value, int) and "0x" in work.instruction.text):
            raise UnknownError
        return np.full((len(work.rows), LANES), operand.value, dtype=np.float32)
    if getattr(operand, "negated", False) or getattr(operand, "inverted", False):
        raise UnknownError
    return work.word(operand).astype(np.uint32).view(np.float32)


def _narrow(work: GroupOperation) -> tuple[int, bool] | None:
    """Return the bits of an integer that is a part of a word, and whether it has a sign; None for whole words."""
    named = next((each for each in work.modifiers if each in _NARROW), None)
    return None if named is None else (int(named[1:]), named[0] == "S")


def _part(work: GroupOperation, operand: Operand, bits: int, signed: bool) -> npt.NDArray[np.int64]:
    """Return the lowest bits of a word, or those that a selector names (`R2.B1`, `R2.H1`), as numbers."""
    if not isinstance(operand, Register) or operand.negated or operand.inverted or operand.absolute:
        raise UnknownError
    chosen = [each for each in operand.modifiers if each in _PLACES]
    plain = replace(operand, modifiers=tuple(each for each in operand.modifiers if each not in _PLACES))
    field = work.word(plain) >> np.uint64(_PLACES[chosen[0]] if chosen else 0) & np.uint64((1 << bits) - 1)
    sign = np.int64(1 << bits - 1)
    return (field.astype(np.int64) ^ sign) - sign if signed else field.astype(np.int64)


def _words(numbers: npt.NDArray[np.float32]) -> Longs:
    return numbers.view(np.uint32).astype(np.uint64)


@np.errstate(all="ignore")
def _to_single(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    if (narrow := _narrow(work)) is not None:
        if work.modifiers - {*_NARROW, "F32", "F64", *ROUNDINGS}:
            raise UnknownError
        # Any part of a word is exact in either precision.
        put_number(work, to, _part(work, source, *narrow).astype(np.float64), double="F64" in work.modifiers)
        return
    if work.modifiers - {*_TYPES, "RP"}:
        _to_wide(work)
        return
    exact = numbers(work.word(source), work.signed).astype(np.float64)
    nearest = exact.astype(np.float32)
    if "RP" in work.modifiers:
        nearest = np.where(nearest < exact, np.nextafter(nearest, np.float32(np.inf)), nearest)
    work.put(to, _words(nearest))


@np.errstate(all="ignore")
def _to_integer(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    modes = work.modifiers - {*_TYPES, *_WIDE, *_NARROW, "NTZ", "FTZ"}
    if len(modes) > 1 or modes - _ROUND.keys():
        raise UnknownError
    if (narrow := _narrow(work)) is not None:
        _to_narrow(work, _ROUND[modes.pop()] if modes else np.rint, *narrow)
        return
    if work.modifiers & _WIDE:
        _from_wide(work, _ROUND[modes.pop()] if modes else np.rint)
        return
    exact = _flushed(work, _single(work, source)).astype(np.float64)
    whole = _ROUND[modes.pop()](exact) if modes else np.rint(exact)
    least, most = (-(2.0**31), 2.0**31 - 1) if work.signed else (0.0, 2.0**32 - 1)
    # What becomes of a number that is none is not settled here: 0.
    work.put(to, back(np.clip(np.nan_to_num(whole, nan=0.0, posinf=most, neginf=least), least, most).astype(np.int64)))


def _to_narrow(work: GroupOperation, rounded: Callable[[Numbers], Numbers], bits: int, signed: bool) -> None:
    """Convert to a part of a word, which is extended to all of it: ptxas lets nothing follow that would."""
    to, source = work.instruction.operands
    exact = number_of(work, source, double="F64" in work.modifiers)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    work.put(to, back(np.clip(np.nan_to_num(rounded(exact), nan=0.0, posinf=most, neginf=least), least, most).astype(np.int64)))


@np.errstate(all="ignore")
def _to_wide(work: GroupOperation) -> None:
    """Convert where the integer or the number has 64 bits; rounded to nearest, or up: what a division of 64 bits begins with."""
    to, source = work.instruction.operands
    if work.modifiers - {*_TYPES, *_WIDE, "RP", "RM", "RZ"}:
        raise UnknownError
    whole = work.pair(source) if work.modifiers & {"U64", "S64"} else numbers(work.word(source), work.signed).view(np.uint64)
    exact = whole.view(np.int64) if work.signed else whole
    if "F64" in work.modifiers:
        put_number(work, to, exact.astype(np.float64), double=True)
        return
    nearest = exact.astype(np.float32)
    if "RP" in work.modifiers:
        below = (nearest < 2.0**63) & (nearest.astype(exact.dtype) < exact)
        nearest = np.where(below, np.nextafter(nearest, np.float32(np.inf)), nearest)
    work.put(to, _words(nearest))


def _from_wide(work: GroupOperation, rounded: Callable[[Numbers], Numbers]) -> None:
    to, source = work.instruction.operands
    whole = rounded(number_of(work, source, double="F64" in work.modifiers))
    signed, bits = work.signed, 64 if work.modifiers & {"U64", "S64"} else 32
    # The greatest number of double precision below 2^64 or 2^63 stands for what is greater.
    least, most = (-(2.0 ** (bits - 1)), np.nextafter(2.0 ** (bits - 1), 0)) if signed else (0.0, np.nextafter(2.0**bits, 0))
    inside = np.clip(np.nan_to_num(whole, nan=0.0, posinf=most, neginf=least), least, most)
    words = inside.astype(np.int64).view(np.uint64) if signed else inside.astype(np.uint64)
    work.put(to, words & MASK)
    if bits == 64:  # noqa: PLR2004 - two words
        work.put(to, words >> np.uint64(32), 1)


@np.errstate(all="ignore")
def _between_floats(work: GroupOperation) -> None:
    """F2F and FRND: to another precision, or to a whole number."""
    to, source = work.instruction.operands
    name, *types = [each for each in work.instruction.opcode.split(".") if each in {"FRND", "F2F", "F32", "F64"}]
    modes = work.modifiers - {*types, *_ROUNDED_WORDS}
    if len(modes) > 1 or modes - _ROUND.keys():
        raise UnknownError
    wide = [each == "F64" for each in types] or [False]
    number = number_of(work, source, double=wide[-1])
    if name == "FRND" or (modes and wide[0] == wide[-1]):
        number = _ROUND[modes.pop()](number) if modes else np.rint(number)
    put_number(work, to, number, double=wide[0])


def _flushed(work: GroupOperation, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.where(np.abs(numbers) < _TINY, np.float32(0), numbers) if "FTZ" in work.modifiers else numbers


@np.errstate(all="ignore")
def _function(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    if work.modifiers != {"RCP"}:
        function(work)
        return
    number = _single(work, source)
    exact = 1 / number.astype(np.float64)
    nearest = exact.astype(np.float32)
    # The unit approximates: which number within one ulp it returns is drawn, the same for the same operand.
    draw = stir(stir(work.place.salt[work.rows], np.uint32(work.instruction.address))[:, None], number.view(np.uint32))
    beside = np.where(nearest == exact, (draw & np.uint32(4) != 0) * 2 - 1, np.where(nearest < exact, 1, -1))
    work.put(to, back(_words(nearest).astype(np.int64) + beside * (draw & np.uint32(2) != 0)))


_ORDERED: Mapping[str, Callable[[npt.NDArray[np.float32], npt.NDArray[np.float32]], Truth]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
}
_COMBINE: Mapping[str, Callable[[Truth, Truth], Truth]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


@np.errstate(all="ignore")
def _compare(work: GroupOperation) -> None:
    """Compare numbers, without roundings: `FSETP.GT.AND P0, PT, R2, R3, PT`; where one is not a number, no ordered test holds."""
    to, other, left, right, third = work.instruction.operands
    test, how, *rest = work.instruction.opcode.split(".")[1:]
    if test not in _ORDERED or how not in _COMBINE or set(rest) - {"FTZ"}:
        work.drawn = True
        ARITHMETIC["FSETP"](work)
        return
    truth = _ORDERED[test](_flushed(work, _single(work, left)), _flushed(work, _single(work, right)))
    also = work.truth(third)
    work.put(to, _COMBINE[how](truth, also))
    work.put(other, _COMBINE[how](~truth, also))


EXACT: Mapping[str, Callable[[GroupOperation], None]] = {"FSETP": _compare}
"""Operations whose results IEEE 754 settles in single precision."""


def _from_integer_is(work: GroupOperation) -> Truth | bool:
    source = work.instruction.operands[1]
    return isinstance(source, Register) and not source.negated and not source.absolute


def _of_doubles_is(work: GroupOperation) -> Truth | bool:
    to = work.instruction.operands[0]
    place = number(to.file, to.index) if isinstance(to, Register) else None
    return place is None or ~np.isnan((work.out[place] | work.out[place + 1] << np.uint64(32)).view(np.float64))


def _of_singles_is(work: GroupOperation) -> Truth | bool:
    factors = work.instruction.operands[1:]
    if any(isinstance(each, Immediate) for each in factors):
        return False  # it is printed with less than all of its digits
    left, right = (number_of(work, each, double=False) for each in factors)
    return _is_plain(left * right) & _is_plain(left) & _is_plain(right)


def _to_integer_is(work: GroupOperation) -> Truth | bool:
    source = _single(work, work.instruction.operands[1])
    return _is_plain(source) & (source >= 0) & (source < _FITTING)


@np.errstate(all="ignore")
def settled(work: GroupOperation) -> Truth | bool:
    """Return in which lanes IEEE 754 settles what an operation has computed; the bits of a NaN are not settled."""
    modifiers = work.modifiers
    match work.instruction.opcode.partition(".")[0]:
        case "FSETP" | "DSETP":
            return not work.drawn
        case "I2F" | "I2FP" | "UI2FP" if not modifiers - {*_TYPES, "F64"}:
            return _from_integer_is(work)
        case "DADD" | "DMUL" if not modifiers & ROUNDINGS and isinstance(work.instruction.operands[0], Register):
            return _of_doubles_is(work)
        case "FMUL" | "UFMUL" if not modifiers:
            return _of_singles_is(work)
        case "F2I" | "UF2I" if not modifiers & (_WIDE | _NARROW):
            return _to_integer_is(work)
        case _:
            return False


def _is_plain(numbers: npt.NDArray[np.floating]) -> Truth:
    """Say which numbers are zero, or neither too small nor too large for single precision without denormals."""
    plain: Truth = (numbers == 0) | ((np.abs(numbers) >= _TINY) & (np.abs(numbers) <= _LARGEST))
    return plain


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **dict.fromkeys(("I2F", "I2FP", "UI2FP"), _to_single),
    **dict.fromkeys(("F2I", "UF2I"), _to_integer),
    **dict.fromkeys(("F2F", "FRND"), _between_floats),
    "MUFU": _function,
    **ARITHMETIC,
}
