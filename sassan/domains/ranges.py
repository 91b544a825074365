"""Sets of 32-bit words as strided intervals on the circle of 2^32 words: the arithmetic of loop-bound inference.

After Navas, Schachte, Sondergaard, Stuckey, "Signedness-agnostic program analysis", APLAS 2012, with a stride. Nothing overflows here: an
operation whose result may wrap around further than once returns every word.
"""

from math import gcd
from typing import NamedTuple

SIZE = 1 << 32
_HALF = 1 << 31
_LAST = SIZE - 1
_tuple = tuple.__new__
"""Makes a range in half the time that `Range` takes: the commonest operations below use it."""


class Range(NamedTuple):
    """The words `low`, `low` + `step`, …, `low` + `width`, modulo 2^32; `step` is 0 iff `width` is at most 0, else it divides `width`.

    A tuple, since loop-bound inference makes and compares millions of them.
    """

    low: int
    width: int
    step: int

    @property
    def constant(self) -> int | None:
        """Return the word of a set of one."""
        return self.low if not self.width else None

    @property
    def unsigned(self) -> tuple[int, int]:
        """Return the least and the greatest word."""
        return (self.low, self.low + self.width) if self.low + self.width < SIZE else (0, _LAST)

    @property
    def signed(self) -> tuple[int, int]:
        """Return the least and the greatest word read as signed numbers."""
        low = signed(self.low)
        return (low, low + self.width) if low + self.width < _HALF else (-_HALF, _HALF - 1)

    def view(self, is_signed: bool) -> tuple[int, int]:
        """Return the least and the greatest word, read as signed or as unsigned numbers."""
        return self.signed if is_signed else self.unsigned

    def holds(self, word: int) -> bool:
        """Say whether a word is in the set."""
        distance = (word - self.low) % SIZE
        return distance <= self.width and (not self.step or distance % self.step == 0)


def signed(word: int) -> int:
    """Return a word read as a signed number."""
    return (word & _LAST ^ _HALF) - _HALF


def const(number: int) -> Range:
    """Return the set of one word."""
    return _tuple(Range, (number % SIZE, 0, 0))


EVERY = Range(0, _LAST, 1)
EMPTY = Range(0, -1, 0)
"""No word. Only `RangeDomain` takes and gives it: the arithmetic works on words that exist."""


def span(low: int, high: int, step: int = 1) -> Range:
    """Return the words from `low` to `high`, any integers, at most 2^32 of them; with a stride, `high` need not be hit."""
    if high - low >= _LAST:
        # Once around the circle, only the part of the stride that divides it is kept.
        step = gcd(step, SIZE)
        return const(low) if step == SIZE else Range(low % step, SIZE - step, step)
    width = (high - low) // step * step if step else 0
    return _tuple(Range, (low % SIZE, width, step if width else 0))


def add(a: Range, b: Range) -> Range:
    """Return the sums."""
    if not b.width:
        return a if not b.low or a.width == _LAST else _tuple(Range, ((a.low + b.low) % SIZE, a.width, a.step))
    if _LAST in {a.width, b.width}:
        return EVERY
    return span(a.low + b.low, a.low + b.low + a.width + b.width, gcd(a.step, b.step) or 1)


def negate(a: Range) -> Range:
    """Return the negatives."""
    return span(-a.low - a.width, -a.low, a.step or 1)


def scale(a: Range, factor: int) -> Range:
    """Return the products with one number."""
    if not a.width:
        return const(a.low * factor)
    factor = signed(factor)
    if factor < 0:
        return negate(scale(a, -factor) if factor != -1 else a) if factor != -_HALF else EVERY
    return span(a.low * factor, (a.low + a.width) * factor, a.step * factor or 1)


def multiply(a: Range, b: Range) -> Range:
    """Return the low words of the products."""
    for factor, other in ((a, b), (b, a)):
        if factor.constant is not None:
            return scale(other, factor.constant)
    results: list[Range] = []
    for is_signed in (False, True):
        corners = [x * y for x in a.view(is_signed) for y in b.view(is_signed)]
        results.append(span(min(corners), max(corners)))
    return min(results, key=lambda product: product.width)


def high_product(a: Range, b: Range, addend: tuple[int, int], *, is_signed: bool) -> Range:
    """Return the high words of product + addend, an interval of 64-bit numbers of the same signedness."""
    corners = [x * y for x in a.view(is_signed) for y in b.view(is_signed)]
    low, high = min(corners) + addend[0], max(corners) + addend[1]
    return span(low >> 32, high >> 32)


def shift_left(a: Range, b: Range) -> Range:
    """Return the words shifted by 0 to 31 places; a shift that may be longer gives any word."""
    low, high = b.unsigned
    if high > 31:  # noqa: PLR2004  # the last place of a word
        return EVERY
    if low == high:
        return scale(a, 1 << low) if low < 31 else EVERY if a.width else const(a.low << low)  # noqa: PLR2004  # the same
    return span(a.unsigned[0] << low, a.unsigned[1] << high)


def shift_right(a: Range, b: Range, *, is_signed: bool) -> Range:
    """Return the words shifted by 0 to 31 places, arithmetically where they are signed."""
    near, far = b.unsigned
    if far > 31:  # noqa: PLR2004  # the last place of a word
        return EVERY
    low, high = a.view(is_signed)
    exact = near == far and high - low == a.width and a.step % (1 << near) == 0 and low % (1 << near) == 0
    step = a.step >> near if exact else 1
    corners = [value >> places for value in (low, high) for places in (near, far)]
    return span(min(corners), max(corners), step or 1)


def both(a: Range, b: Range) -> Range:
    """Return the bitwise conjunctions."""
    if a.constant is not None:
        a, b = b, a
    mask = b.constant
    if mask is None:
        return span(0, min(a.unsigned[1], b.unsigned[1]))
    if a.constant is not None:
        return const(a.constant & mask)
    if mask & (mask + 1) == 0:
        return _low_bits(a, mask + 1)
    step = mask & -mask
    low, high = _low_bits(a, 1 << mask.bit_length()).unsigned
    if mask + step & mask == 0:
        # One run of bits: what is left of a number is rounded down.
        return span(low & -step, high & -step, step)
    return span(0, min(high, mask) & -step, step)


def _low_bits(a: Range, modulus: int) -> Range:
    """Return the remainders by a power of two."""
    if a.low % modulus + a.width < modulus:
        return span(a.low % modulus, a.low % modulus + a.width, a.step or 1)
    step = gcd(a.step, modulus) or 1
    return span(a.low % step, modulus - step + a.low % step, step)


def either(a: Range, b: Range) -> Range:
    """Return the bitwise disjunctions."""
    if a.constant is not None and b.constant is not None:
        return const(a.constant | b.constant)
    highs = a.unsigned[1] | b.unsigned[1]
    return span(max(a.unsigned[0], b.unsigned[0]), (1 << highs.bit_length()) - 1)


def differ(a: Range, b: Range) -> Range:
    """Return the bitwise exclusive disjunctions."""
    if a.constant is not None and b.constant is not None:
        return const(a.constant ^ b.constant)
    for operand, other in ((a, b), (b, a)):
        if operand.constant == _LAST:
            return add(negate(other), const(-1))
    highs = a.unsigned[1] | b.unsigned[1]
    return span(0, (1 << highs.bit_length()) - 1)


def between(a: Range, low: int, high: int, *, is_signed: bool) -> Range | None:
    """Return the words of the set that lie between two numbers, None where there are none; may hold more than these."""
    least_word, greatest_word = a.view(is_signed)
    low, high = max(low, least_word), min(high, greatest_word)
    if low > high:
        return None
    if greatest_word - least_word > a.width:
        return span(low, high) if high - low < a.width else a
    step = a.step or 1
    low += (least_word - low) % step
    return span(low, high, step) if low <= high else None


def residue(a: Range, rest: int, modulus: int) -> Range | None:
    """Return the words of the set that leave a rest when they are divided by a power of two, None where there are none.

    Of a set with a stride above 1 it may hold more than these.
    """
    if a.step > 1:
        return a
    first = a.low + (rest - a.low) % modulus
    return span(first, a.low + a.width, modulus) if first <= a.low + a.width else None


def without(a: Range, word: int) -> Range | None:
    """Return the set without a word at one of its ends, None where nothing is left; a word in the middle stays."""
    word %= SIZE
    if a.width == 0:
        return None if a.low == word else a
    if a.low == word:
        return span(a.low + a.step, a.low + a.width, a.step)
    if (a.low + a.width) % SIZE == word:
        return span(a.low, a.low + a.width - a.step, a.step)
    return a


class RangeDomain:
    """Sets of words by inclusion: a `PreorderedDomain` whose joins are upper bounds, not always the least.

    Two ranges may be as short on either side of the circle, so there is no least one above a set; and one set may have several spellings.
    """

    bottom = EMPTY

    def leq(self, a: Range, b: Range) -> bool:
        """Say whether every word of `a` is in `b`."""
        if a.width < 0:
            return True
        first = (a.low - b.low) % SIZE
        last = first + a.width
        if first > b.width or last <= b.width:
            return _within(first, last, a.step, b)
        # `a` leaves the interval of `b`: it may do so in one step that leads once around the circle, back into it.
        inside = first + (b.width - first) // a.step * a.step
        again = inside + a.step - SIZE
        return again >= 0 and _within(first, inside, a.step, b) and _within(again, last - SIZE, a.step, b)

    def join(self, a: Range, b: Range) -> Range:
        """Return a set that holds both: of the two directions around the circle, the shorter."""
        if a.width < 0 or b.width < 0:
            return b if a.width < 0 else a
        candidates: list[Range] = []
        for first, second in ((a, b), (b, a)):
            distance = (second.low - first.low) % SIZE
            width = max(first.width, distance + second.width)
            candidates.append(span(first.low, first.low + width, gcd(gcd(first.step, second.step), distance) or 1))
        return min(candidates, key=lambda candidate: (candidate.width, candidate.low))

    def explain(self, a: Range, b: Range) -> str:
        """Return that `a` has a word outside `b`, '' where it has none."""
        return "" if self.leq(a, b) else f"{a} has a word that {b} lacks"


RANGES = RangeDomain()


def _within(first: int, last: int, step: int, b: Range) -> bool:
    """Say whether first, first + step, …, last, distances from `b.low` below 2^32, lead to words of `b`."""
    return last <= b.width and first % (b.step or 1) == 0 and (first == last or step % (b.step or 1) == 0)
