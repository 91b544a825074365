"""Sums, products, quotients, shifts and fields of words of lanes, with the bounds of their values."""

import operator
from collections.abc import Callable
from functools import partial

from sassan.domains.lanes import LAST, SIZE, LaneWord, alike, flat, loose, rows_of, word
from sassan.values.lanes.abstract_word import (
    SIGN,
    WORD_BITS,
    AbstractWord,
    derived,
    exact_words,
    lane_count,
    number,
    opaque,
    power_of_two,
    signed_number,
)
from sassan.values.lanes.bitwise import bit_and, split


def add(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the sum."""
    x, y = a.value, b.value
    if x.base and y.base:
        x, y = loose(x), loose(y)
    lanes = _lanewise(operator.add, x, y)
    bounds = _bounds(x.low + y.low, x.high + y.high)
    return derived(word(x.offset + y.offset, min(x.modulus, y.modulus), lanes, bounds, x.base or y.base, rows_of(x, y)), a, b)


def subtract(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the difference."""
    x, y = a.value, loose(b.value)
    bounds = _bounds(x.low - y.high, x.high - y.low)
    lanes = _lanewise(operator.sub, x, y)
    return derived(word(x.offset - y.offset, min(x.modulus, y.modulus), lanes, bounds, x.base, rows_of(x, y)), a, b)


def multiply(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the low word of the product."""
    x, y = loose(a.value), loose(b.value)
    factor = y.constant
    if factor is None and x.constant is not None:
        x, y, factor = y, x, x.constant
    if factor == 0:
        return number(0)
    if factor is not None:
        lanes = None if x.lanes is None else tuple([lane * factor for lane in x.lanes])
        low, high = sorted((x.low * signed_number(factor), x.high * signed_number(factor)))
        return derived(word(x.offset * factor, x.modulus * (factor & -factor), lanes, _bounds(low, high), rows=x.rows), a, b)
    known = exact_words(operator.mul, a, b)
    if known is not None:
        return known
    x, y = flat(x), flat(y)
    modulus = min(power_of_two(x.offset * y.modulus), power_of_two(y.offset * x.modulus), x.modulus * y.modulus)
    return opaque(a, b, modulus=modulus, offset=x.offset * y.offset, bounds=_bounds(x.low * y.low, x.high * y.high))


def _bounds(low: int, high: int) -> tuple[int, int]:
    """Return bounds of words from those of integers, where all of them or none wrap around."""
    if low // SIZE == high // SIZE:
        return low % SIZE, high % SIZE
    return 0, LAST


def _lanewise(function: Callable[[int, int], int], a: LaneWord, b: LaneWord) -> tuple[int, ...] | None:
    if a.lanes is None and b.lanes is None:
        return None
    zero = (0,) * len(a.lanes or b.lanes or ())
    return tuple(map(function, a.lanes or zero, b.lanes or zero))


def shift_left(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the word shifted by 0 to 31 places."""
    places = b.value.constant
    if places is None:
        return exact_words(_shifted_left, a, b) or opaque(a, b)
    return multiply(a, number(1 << places)) if places < WORD_BITS else opaque(a)


def _shifted_left(value: int, places: int) -> int:
    return value << places if places < WORD_BITS else 0


def shift_right(a: AbstractWord, b: AbstractWord, signed: bool) -> AbstractWord:
    """Return the word shifted by 0 to 31 places, arithmetically where it is signed."""
    places = b.value.constant
    known = exact_words(partial(_shifted, signed), a, b) if places is None or places < WORD_BITS else None
    if known is not None:
        return known
    if places is None or places >= WORD_BITS:
        return opaque(a, b)
    value = loose(a.value)
    bounds = (value.low >> places, value.high >> places) if not signed or value.high < SIGN else (0, LAST)
    low, carries = split(value, value.modulus, lane_count([value]))
    rows = value.rows
    if carries is not None:
        integers = _integers(value, 1 << places, signed)
        low, rows = (low, alike(carries, rows or carries)) if integers is None else (integers, rows)
    return derived(word(0, value.modulus >> places or 1, tuple([part >> places for part in low]), bounds, rows=rows), a)


def _integers(value: LaneWord, modulus: int, signed: bool) -> tuple[int, ...] | None:
    """Return offset plus lanes as integers, where no lane wraps around and the rest is a multiple of a modulus; else None."""
    if value.lanes is None or value.modulus < modulus or value.high - value.low >= SIGN or (signed and value.high >= SIGN):
        return None
    parts = tuple([value.offset + signed_number(lane) for lane in value.lanes])
    # Words and parts both lie within half the circle: so the rest is one integer in all lanes of a row, not just one word.
    return parts if max(parts) - min(parts) < SIGN else None


def _shifted(signed: bool, value: int, places: int) -> int:
    if places >= WORD_BITS:
        return LAST if signed and value & SIGN else 0
    return (value - SIZE if signed and value & SIGN else value) >> places


def divide(a: AbstractWord, divisor: int) -> AbstractWord:
    """Return the quotient of an unsigned word by a number that is not 0."""
    power = power_of_two(divisor)
    if divisor == power:
        return shift_right(a, number(power.bit_length() - 1), signed=False)
    known = exact_words(operator.floordiv, a, number(divisor))
    if known is not None:
        return known
    value = loose(a.value)
    # Words with equal multiples of a power of two that divides the divisor have one quotient.
    low, carries = split(value, value.modulus, lane_count([value]))
    multiples = tuple([each // min(power, value.modulus) for each in low])
    tables = [table for table in (multiples, carries, value.rows) if table is not None]
    return derived(word(0, 1, None, (value.low // divisor, value.high // divisor), rows=alike(*tables)), a)


def modulo(a: AbstractWord, divisor: int) -> AbstractWord:
    """Return the remainder of an unsigned word by a number that is not 0."""
    if divisor == power_of_two(divisor):
        return bit_and(a, number(divisor - 1))
    held = subtract(a, multiply(divide(a, divisor), number(divisor)))
    return AbstractWord(held.value if held.value.known else held.value._replace(low=0, high=min(divisor - 1, a.value.high)), held.needs)


def funnel_left(high: AbstractWord, low: AbstractWord, places: AbstractWord) -> AbstractWord:
    """Return the high word of a shifted pair where one word of the pair is 0."""
    distance = places.value.constant
    if low.value.constant == 0:
        return shift_left(high, places)
    if high.value.constant == 0 and distance is not None and 1 <= distance < WORD_BITS:
        return shift_right(low, number(WORD_BITS - distance), signed=False)
    return opaque(high, low, places)


def extract(value: AbstractWord, field: int) -> AbstractWord:
    """Return an unsigned field: its place in bits 0 to 7, its width in bits 8 to 15."""
    place, width = field & 255, field >> 8 & 255
    if place >= WORD_BITS or width >= WORD_BITS:
        return opaque(value)
    return bit_and(shift_right(value, number(place), signed=False), number((1 << width) - 1))


def high(a: AbstractWord, b: AbstractWord, c: AbstractWord, d: AbstractWord, signed: bool) -> AbstractWord:  # the arguments of the language
    """Return the high word of a product plus a pair (low, high)."""

    def exact(x: int, y: int, low: int, top: int) -> int:
        if signed:
            x, y = (each - SIZE if each & SIGN else each for each in (x, y))
        return (x * y + (top << WORD_BITS | low)) >> WORD_BITS

    return exact_words(exact, a, b, c, d) or opaque(a, b, c, d)


def magnitude(a: AbstractWord) -> AbstractWord:
    """Return the magnitude of a signed word."""
    return a if a.value.high < SIGN else exact_words(_absolute, a) or opaque(a)


def _absolute(value: int) -> int:
    return SIZE - value if value & SIGN else value


def count_ones(a: AbstractWord) -> AbstractWord:
    """Return the number of ones."""
    return exact_words(int.bit_count, a) or opaque(a, bounds=(0, WORD_BITS))
