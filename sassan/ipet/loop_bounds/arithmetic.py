"""Sums, products and shifts of `isa/effects.py` over ranges."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.conditions import EQUAL, LESS, compare
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import (
    NO,
    NOWHERE,
    YES,
    Compare,
    Half,
    Known,
    Maybe,
    Quotient,
    Truth,
    UnknownWord,
    Value,
    constant,
    origins_of,
    union,
)

_PLACES = 32
_LAST_PLACE = 31
Summand = tuple[bool, Value]
"""Whether a summand is subtracted, and the word that is added."""


def _add(step: InstructionStep, a: Value, b: Value) -> Value:
    return step.state.plus(a, b)


def _subtract(step: InstructionStep, a: Value, b: Value) -> Value:
    return step.state.minus(a, b)


def _multiply(step: InstructionStep, a: Value, b: Value) -> Value:
    for value, factor in ((a, b), (b, a)):
        if factor.constant is not None:
            return step.state.times(value, factor.constant)
    return step.of_range(ranges.multiply(step.range(a), step.range(b)), a, b)


def _bit(_: InstructionStep, truth: Truth) -> Value:
    if isinstance(truth.what, bool):
        return constant(truth.what != truth.negated)
    origins = origins_of(truth)
    return Value(
        UnknownWord(ranges.span(0, 1), origins, truth=truth if isinstance(truth.what, Compare) else None), 1, ranges.const(0), origins
    )


def _carry(step: InstructionStep, *summands: Summand) -> Truth:
    """Return the carry of a sum: of a difference, whether nothing is borrowed."""
    least, most = _total(step, summands)
    if least >= ranges.SIZE or most < ranges.SIZE:
        return YES if least >= ranges.SIZE else NO
    match sorted((each for each in summands if each[1].constant != 0), key=lambda summand: summand[0]):
        case [(True, a)]:
            # 0 - x borrows, unless x is 0.
            return compare(step.state, EQUAL, a, constant(0), is_signed=False)
        case [(False, a), (True, b)]:
            return compare(step.state, LESS, a, step.state.times(b, -1), is_signed=False).negate()
        case [(False, a), (False, b)] if a.constant or b.constant:
            # A sum with c > 0 leaves the words where the other summand is 2^32 - c or more.
            word, added = (a, b.constant) if b.constant else (b, a.constant)
            return compare(step.state, LESS, word, constant(-(added or 0)), is_signed=False).negate()
        case kept:
            return Truth(Maybe(reduce(union, (word.origins for _, word in kept), NOWHERE)))


def _carries(step: InstructionStep, *summands: Summand) -> Truth:
    """Return one of the two carries of a sum: none holds where it has none, both where it has two; of one, it is not known which."""
    least, most = _total(step, summands)
    if least >> _PLACES == most >> _PLACES and most >> _PLACES in {0, 2}:
        return YES if most >> _PLACES else NO
    return Truth(Maybe(reduce(union, (word.origins for _, word in summands), NOWHERE)))


def _total(step: InstructionStep, summands: Sequence[Summand]) -> tuple[int, int]:
    """Return the least and the greatest sum, as a number that no word limits; -x is ~x + 1, so that it adds 2^32 - x."""
    least = most = 0
    for is_subtracted, word in summands:
        low, high = step.range(step.state.times(word, -1) if is_subtracted else word).unsigned
        least, most = (least + ranges.SIZE - high, most + ranges.SIZE - low) if is_subtracted else (least + low, most + high)
    return least, most


def _high(step: InstructionStep, a: Value, b: Value, low: Value, high: Value, is_signed: bool) -> Value:  # noqa: PLR0913, PLR0917  # the arguments of the language
    (least, most), (below, above) = step.range(low).unsigned, step.range(high).view(is_signed)
    pair = (below << _PLACES) + least, (above << _PLACES) + most
    product = step.of_range(ranges.high_product(step.range(a), step.range(b), pair, is_signed=is_signed), a, b, low, high)
    if not is_signed and pair[0] == pair[1] < ranges.SIZE:
        # The sum has 64 bits at most.
        for dividend, factor in ((a, b.constant), (b, a.constant)):
            if factor is not None and _is_one_word(dividend):
                return _as_quotient(product, Quotient(dividend, factor, pair[0], _PLACES))
    return product


def _is_one_word(value: Value) -> bool:
    """Say whether a value is a symbol and numbers that are known."""
    return value.symbol is not None and value.range.constant is not None


def _as_quotient(value: Value, quotient: Quotient) -> Value:
    """Return a value of which it is known how it was divided; unless it is one word anyway."""
    if value.symbol is None:
        return value
    return Value(UnknownWord(value.symbol.range, value.origins, quotient=quotient), 1, value.range, value.origins)


def _shift_left(step: InstructionStep, a: Value, places: Value) -> Value:
    if places.constant is not None and places.constant <= _LAST_PLACE:
        return step.state.times(a, 1 << places.constant)
    shifted = ranges.shift_left(step.range(a), step.range(places))
    whole = places.symbol.highest_of if places.symbol is not None else None
    if a.constant == 1 and whole is not None and (places.factor, places.range.constant) == (1, 0):
        return Value(UnknownWord(shifted, places.origins, one_of=whole), 1, ranges.const(0), places.origins)
    return step.of_range(shifted, a, places)


def _shift_right(step: InstructionStep, a: Value, places: Value, is_signed: bool) -> Value:
    if a.symbol is not None and places.constant == 1 and a.factor == 2 and a.range.constant is not None:  # noqa: PLR2004  # the mean of two words
        words = step.range(a)
        low, high = words.view(is_signed)
        rest = ranges.signed(a.range.constant)
        ends = [ranges.signed(word) + (rest >> 1) for word in _ends(step.state.facts.get(a.symbol, a.symbol.range))]
        if high - low == words.width and [low >> 1, high >> 1] == ends:
            return Value(a.symbol, 1, ranges.const(rest >> 1), a.origins)
    whole = places.symbol.highest_of if places.symbol is not None else None
    if (
        a.constant == 1 << _LAST_PLACE
        and whole is not None
        and (places.factor, places.range.constant) == (-1, _LAST_PLACE)
        and not is_signed
    ):
        power = ranges.shift_right(step.range(a), step.range(places), is_signed=False)
        return Value(UnknownWord(power, places.origins, one_of=whole), 1, ranges.const(0), places.origins)
    shifted = step.of_range(ranges.shift_right(step.range(a), step.range(places), is_signed=is_signed), a, places)
    count, quotient = places.constant, a.symbol.quotient if a.symbol is not None else None
    if count == _LAST_PLACE and is_signed and shifted.symbol is not None:
        shifted.symbol.signs_of = a
    if a.symbol is None or shifted.symbol is None or count is None or (a.factor, a.range.constant) != (1, 0):
        return shifted
    if quotient is not None and count <= _LAST_PLACE and not is_signed:
        return _as_quotient(shifted, quotient._replace(places=quotient.places + count))
    if count == _LAST_PLACE and not is_signed:
        shifted.symbol.sign_of = a.symbol
    elif count == 1 and a.symbol.rounded is not None and is_signed:
        shifted.symbol.half = Half(a.symbol.rounded, True)
    elif count == 1 and (a.symbol.head >= 0 or a.symbol.difference is not None):
        shifted.symbol.half = Half(a.symbol, is_signed)
    return shifted


def _ends(words: Range) -> tuple[int, int]:
    return words.low, words.low + words.width


def _funnel_left(step: InstructionStep, high: Value, low: Value, places: Value) -> Value:
    """Return the high word of a shifted pair where one word of the pair is 0."""
    if low.constant == 0:
        return _shift_left(step, high, places)
    if high.constant == 0 and places.constant is not None and 1 <= places.constant <= _LAST_PLACE:
        return _shift_right(step, low, constant(_PLACES - places.constant), False)
    most = step.range(places).unsigned[1]
    return constant(0) if high.constant == 0 and most < _PLACES and step.range(low).unsigned[1] << most < ranges.SIZE else step.unknown()


def _funnel_right(step: InstructionStep, high: Value, low: Value, places: Value) -> Value:
    """Return the low word of a shifted pair where the high word is 0, or both are known."""
    count = places.constant
    if count == 0:
        return low
    if high.constant == 0:
        return constant(0) if count is not None and _PLACES <= count < 2 * _PLACES else _shift_right(step, low, places, False)
    if high.constant is None or low.constant is None or count is None or count >= 2 * _PLACES:
        return step.unknown()
    return constant((high.constant << _PLACES | low.constant) >> count)


def _permute(step: InstructionStep, a: Value, select: Value, b: Value) -> Value:
    """Return bytes of two words: known ones, or the low bytes of one word, extended by its sign, by known bytes or by any."""
    if select.constant is None:
        return step.unknown()
    codes = [select.constant >> 4 * place & 15 for place in range(4)]
    words = (a, b)
    if all(words[code >> 2 & 1].constant is not None for code in codes):
        return constant(sum(_byte(code, a, b) << 8 * place for place, code in enumerate(codes)))
    first = codes[0] & 4
    count = next((place for place, code in enumerate(codes) if code != first + place), 4)
    low, rest, modulus = words[first >> 2], codes[count:], 1 << 8 * count
    if not rest:
        return low
    part = ranges.both(step.range(low), ranges.const(modulus - 1))
    if count and all(code == 8 + first + count - 1 for code in rest):
        part = _extended(part, modulus)
    elif all(code & 4 != first for code in rest) and words[1 - (first >> 2)].constant is not None:
        part = ranges.add(part, ranges.const(sum(_byte(code, a, b) << 8 * place for place, code in enumerate(rest, count))))
    else:
        # Whatever the upper bytes are, the lower ones are these. Every word again is not the same word: the upper bytes are others.
        return step.of_range(ranges.add(part, ranges.span(0, ranges.SIZE - modulus, modulus)), a, b)
    # The upper bytes are a function of the lower ones: each of these words that may stay as it is does so.
    return low if part == step.range(low) else step.of_range(part, a, b)


def _extended(part: Range, modulus: int) -> Range:
    """Return the words below a power of two with the sign of their highest bit."""
    half = modulus >> 1
    low, high = part.low, part.low + part.width
    if high < half:
        return part
    return ranges.add(part, ranges.const(-modulus)) if low >= half and high < modulus else ranges.span(-half, half - 1)


def _byte(code: int, a: Value, b: Value) -> int:
    """Return the byte that a selector picks of two words, or eight times its sign; of an unknown word, it is not picked."""
    byte = ((b.constant or 0) << _PLACES | (a.constant or 0)) >> 8 * (code & 7) & 255
    return (255 if byte >> 7 else 0) if code & 8 else byte


def _highest_one(step: InstructionStep, value: Value) -> Value:
    low, high = step.range(value).unsigned
    places = ranges.span(low.bit_length() - 1, high.bit_length() - 1)
    if value.symbol is None or (value.factor, value.range.constant) != (1, 0):
        return step.of_range(places, value)
    return Value(UnknownWord(places, value.origins, highest_of=value.symbol), 1, ranges.const(0), value.origins)


def _magnitude(step: InstructionStep, value: Value) -> Value:
    low, high = step.range(value).signed
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return step.of_range(ranges.span(least, max(abs(low), abs(high))), value)


def _extract(step: InstructionStep, value: Value, field: int) -> Value:
    places, width = field & 255, field >> 8 & 255
    if places > _LAST_PLACE or width > _LAST_PLACE:
        return step.unknown()
    shifted = ranges.shift_right(step.range(value), ranges.const(places), is_signed=False)
    return step.of_range(ranges.both(shifted, ranges.const((1 << width) - 1)), value)


def _extract_signed(step: InstructionStep, value: Value, field: int) -> Value:
    places, width = field & 255, field >> 8 & 255
    if not 0 < width <= _PLACES - places or width > _LAST_PLACE:
        return step.unknown()
    shifted = ranges.shift_right(step.range(value), ranges.const(places), is_signed=False)
    part = _extended(ranges.both(shifted, ranges.const((1 << width) - 1)), 1 << width)
    return value if part == step.range(value) and not places else step.of_range(part, value)


def _count_ones(step: InstructionStep, value: Value) -> Value:
    return step.of_range(ranges.span(0, _PLACES), value)


FUNCTIONS: Mapping[str, Callable[..., Known]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "bit": _bit,
    "carry": _carry,
    "carries": _carries,
    "high": _high,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "extract_signed": _extract_signed,
    "funnel_left": _funnel_left,
    "funnel_right": _funnel_right,
    "highest_one": _highest_one,
    "permute": _permute,
    "abs": _magnitude,
    "extract": _extract,
    "popc": _count_ones,
}
