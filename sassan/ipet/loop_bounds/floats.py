"""Conversions and products in single precision over ranges of words.

The words of numbers from +0 on are ordered as the numbers are, so that a range of such words is an interval. Negative numbers are unknown.
"""

from collections.abc import Callable, Mapping

from sassan.domains import ranges
from sassan.domains.floats import GREATEST_INVERTED, INFINITY, NORMAL, approximated, number_of, rounded, whole, word_of
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import Known, Value


def _interval(words: Range, least: int = 0, most: int = INFINITY) -> tuple[int, int] | None:
    """Return the ends of a range of words of numbers from +0 on, None where there may be others."""
    low, high = words.low, words.low + words.width
    return (low, high) if least <= low and high <= most else None


def _float_of(step: InstructionStep, value: Value, is_signed: bool, rounding: str) -> Value:
    low, high = step.range(value).view(is_signed)
    if low < 0:
        return step.unknown()
    return step.of_range(ranges.span(rounded(low, rounding), rounded(high, rounding)), value)


def _integer_of(step: InstructionStep, value: Value, is_signed: bool, rounding: str) -> Value:
    ends = _interval(step.range(value))
    if ends is None:
        return step.unknown()
    low, high = (whole(word, rounding, (1 << 32 - is_signed) - 1) for word in (ends[0] if ends[0] >= NORMAL else 0, ends[1]))
    return step.of_range(ranges.span(low, high), value)


def _reciprocal(step: InstructionStep, value: Value) -> Value:
    ends = _interval(step.range(value), NORMAL, GREATEST_INVERTED)
    if ends is None:
        return step.unknown()
    return step.of_range(ranges.span(approximated(ends[1])[0], approximated(ends[0])[1]), value)


def _product(step: InstructionStep, a: Value, b: Value) -> Value:
    ends, others = (_interval(step.range(value), most=INFINITY - 1) for value in (a, b))
    if ends is None or others is None:
        return step.unknown()
    # A product of two numbers of 24 digits is exact in double precision.
    low, high = (word_of(number_of(end) * number_of(other)) for end, other in zip(ends, others, strict=True))
    return step.of_range(ranges.span(low if min(low, ends[0], others[0]) >= NORMAL else 0, high), a, b)


FUNCTIONS: Mapping[str, Callable[..., Known]] = {
    "float_of": _float_of,
    "float_product": _product,
    "integer_of": _integer_of,
    "reciprocal": _reciprocal,
}
