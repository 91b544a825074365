"""Sums, products and shifts of `isa/effects.py` over ranges."""

from collections.abc import Callable, Mapping

from sassan.domains import ranges
from sassan.ipet.loop_bounds.conditions import LESS, compare
from sassan.ipet.loop_bounds.operands import Step
from sassan.ipet.loop_bounds.values import NO, YES, Known, Maybe, Truth, Value, constant
from sassan.ir import Constant, Operand, Register

_HALF_WORD = 0xFFFF
_PLACES = 32
_LAST_PLACE = 31


def _add(step: Step, a: Value, b: Value) -> Value:
    return step.state.plus(a, b)


def _subtract(step: Step, a: Value, b: Value) -> Value:
    return step.state.minus(a, b)


def _multiply(step: Step, a: Value, b: Value) -> Value:
    for value, factor in ((a, b), (b, a)):
        if factor.constant is not None:
            return step.state.times(value, factor.constant)
    return step.of_range(ranges.multiply(step.range(a), step.range(b)), a, b)


def _bit(step: Step, truth: Truth) -> Value:
    del step
    if isinstance(truth.what, bool):
        return constant(truth.what != truth.negated)
    return Value(None, 0, ranges.span(0, 1))


def _carry(step: Step, *operands: Operand) -> Truth:
    """Return the carry of a sum: of a difference, whether nothing is borrowed."""
    summands = [(_is_subtracted(operand), step.word(operand)) for operand in operands]
    kept = [(minus, word) for minus, word in summands if word.constant != 0]
    zeros = sum(minus for minus, word in summands if word.constant == 0)
    if zeros:
        # x - 0 is x + ~0 + 1: nothing is borrowed, whatever x is.
        return YES if zeros == 1 and len(kept) <= 1 and not any(minus for minus, _ in kept) else Truth(Maybe())
    match sorted(kept, key=lambda summand: summand[0]):
        case [] | [(False, _)]:
            return NO
        case [(False, a), (False, b)]:
            return _carry_of_two(step, a, b)
        case [(False, a), (True, b)]:
            return compare(step.state, LESS, a, step.state.times(b, -1), is_signed=False).negate()
        case _:
            return Truth(Maybe(kept[0][1].origins))


def _carry_of_two(step: Step, a: Value, b: Value) -> Truth:
    (low, high), (other_low, other_high) = step.range(a).unsigned, step.range(b).unsigned
    if high + other_high < ranges.SIZE:
        return NO
    return YES if low + other_low >= ranges.SIZE else Truth(Maybe(a.origins | b.origins))


def _is_subtracted(operand: Operand) -> bool:
    """Say whether an operand is -x, not ~x, which adds no 1."""
    return isinstance(operand, Register | Constant) and operand.negated and not operand.inverted


def _high(step: Step, a: Value, b: Value, low: Value, high: Value, is_signed: bool) -> Value:  # noqa: PLR0913, PLR0917  # the arguments of the language
    (least, most), (below, above) = step.range(low).unsigned, step.range(high).view(is_signed)
    pair = (below << _PLACES) + least, (above << _PLACES) + most
    return step.of_range(ranges.high_product(step.range(a), step.range(b), pair, is_signed=is_signed), a, b, low, high)


def _whole(step: Step, operand: Operand) -> Value:
    """Return a register or a constant without signs and part selectors."""
    if isinstance(operand, Register):
        return step.word(Register(operand.file, operand.index))
    return step.word(Constant(operand.bank, operand.base, operand.offset) if isinstance(operand, Constant) else operand)


def _half(step: Step, operand: Operand) -> Value:
    selectors = {*getattr(operand, "modifiers", ())} - {"reuse"}
    whole = _whole(step, operand)
    words = step.range(whole)
    if getattr(operand, "negated", False) or selectors - {"H1"}:
        return step.unknown()
    if selectors:
        return step.of_range(ranges.shift_right(words, ranges.const(16), is_signed=False), whole)
    return whole if words.unsigned[1] <= _HALF_WORD else step.of_range(ranges.both(words, ranges.const(_HALF_WORD)), whole)


def _shift_left(step: Step, a: Value, places: Value) -> Value:
    if places.constant is not None and places.constant <= _LAST_PLACE:
        return step.state.times(a, 1 << places.constant)
    return step.of_range(ranges.shift_left(step.range(a), step.range(places)), a, places)


def _shift_right(step: Step, a: Value, places: Value, is_signed: bool) -> Value:
    return step.of_range(ranges.shift_right(step.range(a), step.range(places), is_signed=is_signed), a, places)


def _funnel_left(step: Step, high: Value, low: Value, places: Value) -> Value:
    """Return the high word of a shifted pair where one word of the pair is 0."""
    if low.constant == 0:
        return _shift_left(step, high, places)
    if high.constant == 0 and places.constant is not None and 1 <= places.constant <= _LAST_PLACE:
        return _shift_right(step, low, constant(_PLACES - places.constant), False)
    return step.unknown()


def _magnitude(step: Step, value: Value) -> Value:
    low, high = step.range(value).signed
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return step.of_range(ranges.span(least, max(abs(low), abs(high))), value)


def _extract(step: Step, value: Value, field: int) -> Value:
    places, width = field & 255, field >> 8 & 255
    if places > _LAST_PLACE or width > _LAST_PLACE:
        return step.unknown()
    shifted = ranges.shift_right(step.range(value), ranges.const(places), is_signed=False)
    return step.of_range(ranges.both(shifted, ranges.const((1 << width) - 1)), value)


def _count_ones(step: Step, value: Value) -> Value:
    return step.of_range(ranges.span(0, _PLACES), value)


FUNCTIONS: Mapping[str, Callable[..., Known]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "bit": _bit,
    "carry": _carry,
    "high": _high,
    "whole": _whole,
    "half": _half,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "funnel_left": _funnel_left,
    "abs": _magnitude,
    "extract": _extract,
    "popc": _count_ones,
}
