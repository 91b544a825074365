"""Conversions and products in single precision over ranges of words.

The words of numbers from +0 on are ordered as the numbers are, so that a range of such words is an interval. Negative numbers are unknown.
"""

import math
import struct
from collections.abc import Callable, Mapping
from fractions import Fraction

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.operands import Step
from sassan.ipet.loop_bounds.values import Known, Value

_NORMAL, _INFINITY = 0x00800000, 0x7F800000
"""Words of the least number that no flush makes 0, and of infinity."""
_GREATEST_INVERTED = 0x7E800000
"""2^126: the reciprocal of a greater number may be flushed."""
_DIGITS = 24
_ROUND: Mapping[str, Callable[[float], int]] = {"TRUNC": math.floor, "FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round}


def _word(number: float) -> int:
    """Return the word of the nearest number."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", number))[0])
    except OverflowError:
        return _INFINITY


def _number(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def _interval(words: Range, least: int = 0, most: int = _INFINITY) -> tuple[int, int] | None:
    """Return the ends of a range of words of numbers from +0 on, None where there may be others."""
    low, high = words.low, words.low + words.width
    return (low, high) if least <= low and high <= most else None


def _float_of(step: Step, value: Value, is_signed: bool, rounding: str) -> Value:
    low, high = step.range(value).view(is_signed)
    if low < 0:
        return step.unknown()
    return step.of_range(ranges.span(_rounded(low, rounding), _rounded(high, rounding)), value)


def _rounded(number: int, rounding: str) -> int:
    places = max(0, number.bit_length() - _DIGITS)
    # Every number of 24 digits is exact, and so is the next one.
    return _word(-(-number >> places) << places) if rounding == "RP" else _word(number)


def _integer_of(step: Step, value: Value, is_signed: bool, rounding: str) -> Value:
    ends = _interval(step.range(value))
    if ends is None:
        return step.unknown()
    low, high = (_whole(word, rounding, (1 << 32 - is_signed) - 1) for word in (ends[0] if ends[0] >= _NORMAL else 0, ends[1]))
    return step.of_range(ranges.span(low, high), value)


def _whole(word: int, rounding: str, most: int) -> int:
    return most if word == _INFINITY else min(_ROUND[rounding](_number(word)), most)


def _reciprocal(step: Step, value: Value) -> Value:
    ends = _interval(step.range(value), _NORMAL, _GREATEST_INVERTED)
    if ends is None:
        return step.unknown()
    return step.of_range(ranges.span(_approximated(ends[1])[0], _approximated(ends[0])[1]), value)


def _approximated(word: int) -> tuple[int, int]:
    """Return the ends of what the unit may return: numbers at most one ulp from the exact reciprocal (PTX ISA, `rcp.approx`)."""
    number = Fraction(_number(word))
    nearest = _word(1 / _number(word))
    product = Fraction(_number(nearest)) * number
    return nearest - (product >= 1), nearest + (product <= 1)


def _product(step: Step, a: Value, b: Value) -> Value:
    ends, others = (_interval(step.range(value), most=_INFINITY - 1) for value in (a, b))
    if ends is None or others is None:
        return step.unknown()
    # A product of two numbers of 24 digits is exact in double precision.
    low, high = (_word(_number(one) * _number(other)) for one, other in zip(ends, others, strict=True))
    return step.of_range(ranges.span(low if min(low, ends[0], others[0]) >= _NORMAL else 0, high), a, b)


FUNCTIONS: Mapping[str, Callable[..., Known]] = {
    "float_of": _float_of,
    "float_product": _product,
    "integer_of": _integer_of,
    "reciprocal": _reciprocal,
}
