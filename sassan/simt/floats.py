"""Conversions between integers and single precision, products and reciprocals there, as floating-point units compute them.

Infinities and what is no number are results like others: numpy does not warn of them.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sassan.ir import Immediate, Operand
from sassan.simt.integer_work import Longs, UnknownError, Work, back, numbers
from sassan.simt.values import LANES, Truth, stir

_TYPES = frozenset({"F32", "U32", "S32"})
_TINY = np.float32(2.0**-126)
_ROUND: Mapping[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
    "TRUNC": np.trunc,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
}


def _single(work: Work, operand: Operand) -> npt.NDArray[np.float32]:
    if isinstance(operand, Immediate):
        if operand.modifiers or (isinstance(operand.value, int) and "0x" in work.instruction.text):
            raise UnknownError
        return np.full((len(work.rows), LANES), operand.value, dtype=np.float32)
    if getattr(operand, "negated", False) or getattr(operand, "inverted", False):
        raise UnknownError
    return work.word(operand).astype(np.uint32).view(np.float32)


def _words(numbers: npt.NDArray[np.float32]) -> Longs:
    return numbers.view(np.uint32).astype(np.uint64)


@np.errstate(all="ignore")
def _to_single(work: Work) -> None:
    to, source = work.instruction.operands
    if work.modifiers - {*_TYPES, "RP"}:
        raise UnknownError
    exact = numbers(work.word(source), work.signed).astype(np.float64)
    nearest = exact.astype(np.float32)
    if "RP" in work.modifiers:
        nearest = np.where(nearest < exact, np.nextafter(nearest, np.float32(np.inf)), nearest)
    work.put(to, _words(nearest))


@np.errstate(all="ignore")
def _to_integer(work: Work) -> None:
    to, source = work.instruction.operands
    modes = work.modifiers - {*_TYPES, "NTZ", "FTZ"}
    if len(modes) > 1 or modes - _ROUND.keys():
        raise UnknownError
    exact = _flushed(work, _single(work, source)).astype(np.float64)
    whole = _ROUND[modes.pop()](exact) if modes else np.rint(exact)
    least, most = (-(2.0**31), 2.0**31 - 1) if work.signed else (0.0, 2.0**32 - 1)
    # What becomes of a number that is none is not settled here: 0.
    work.put(to, back(np.clip(np.nan_to_num(whole, nan=0.0, posinf=most, neginf=least), least, most).astype(np.int64)))


def _flushed(work: Work, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.where(np.abs(numbers) < _TINY, np.float32(0), numbers) if "FTZ" in work.modifiers else numbers


@np.errstate(all="ignore")
def _times(work: Work) -> None:
    to, left, right = work.instruction.operands
    if work.modifiers - {"FTZ"}:
        raise UnknownError
    product = _flushed(work, _single(work, left)) * _flushed(work, _single(work, right))
    work.put(to, _words(_flushed(work, product.astype(np.float32))))


@np.errstate(all="ignore")
def _function(work: Work) -> None:
    to, source = work.instruction.operands
    if work.modifiers != {"RCP"}:
        raise UnknownError
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
def _compare(work: Work) -> None:
    """Compare numbers, without roundings: `FSETP.GT.AND P0, PT, R2, R3, PT`; where one is no number, no ordered test holds."""
    to, other, left, right, third = work.instruction.operands
    test, how, *rest = work.instruction.opcode.split(".")[1:]
    if test not in _ORDERED or how not in _COMBINE or set(rest) - {"FTZ"}:
        raise UnknownError
    truth = _ORDERED[test](_flushed(work, _single(work, left)), _flushed(work, _single(work, right)))
    also = work.truth(third)
    work.put(to, _COMBINE[how](truth, also))
    work.put(other, _COMBINE[how](~truth, also))


EXACT: Mapping[str, Callable[[Work], None]] = {"FSETP": _compare}
"""Operations whose results IEEE 754 settles."""
OPERATIONS: Mapping[str, Callable[[Work], None]] = {
    **dict.fromkeys(("I2F", "I2FP", "UI2FP"), _to_single),
    **dict.fromkeys(("F2I", "UF2I"), _to_integer),
    **dict.fromkeys(("FMUL", "FMUL32I", "UFMUL"), _times),
    "MUFU": _function,
}
