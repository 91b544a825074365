"""What is known of a register while a loop is looked at: a multiple of one unknown word plus a range, or a condition.

An `UnknownWord` is a word of a thread that is not known: what a register holds at the head of a loop, a loaded word, an index.
Sums of one symbol and a range are kept as such, so that differences cancel: the end of an array minus the pointer into it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from sassan.domains import ranges
from sassan.domains.ranges import Range

MEMORY = "memory, read by "
"""How an origin begins that is a load."""
Origins = frozenset[str]
"""Why a value is not known: what a message names."""
NOWHERE: Origins = frozenset()
_MOST_SUMMED = 4
"""Words in a sum, at most."""
_HARDLY_KNOWN = 1 << 20
"""A word of so many is hardly known: it is not put as a range beside another one, if more is known of what the sum is made of."""
_MOST_ORIGINS = 32
"""A value names at most so many: in a long function the reasons of each value would grow with all that was before."""


@lru_cache(maxsize=1 << 14)
def union(a: Origins, b: Origins) -> Origins:
    """Return the reasons of both, the first ones by name where they are too many; equal results are one object."""
    both = a | b
    if len(both) in {len(a), len(b)}:
        return a if len(both) == len(a) else b
    return both if len(both) <= _MOST_ORIGINS else frozenset(sorted(both)[:_MOST_ORIGINS])


@dataclass(slots=True, eq=False)
class UnknownWord:
    """One unknown word with its range. `register` is that of a loop head which it stands for, `head` the node; -1 for any other.

    A `shared` one is not bound to a register: whoever reads the launch gets it. One with a `truth` is 1 where that comparison holds, and 0
    where it does not. Nobody changes one: it is not frozen since that makes its creation three times as slow, and there is one for every
    word that is not known.

    What a word is made of: `quotient` of another one; the `difference` of two, the first minus the second; the ones of the word
    `fewer_than` but for some, where that is not 0 (`keeps_zero`: then it is 0, too); the place of the highest one of the word `highest_of`;
    or that one alone, `one_of`; the last two where there is one; the bit of the sign of the word `sign_of`; 32 of them
    of the word `signs_of`, the high word of that number with 64 bits; the word
    `rounded` and that bit, of which the half is rounded towards 0; the `half` of one, the `rest` that its half leaves, or the `mean` of
    the two words of a difference, the second one and half of it. A `sum` of multiples of shared ones, such as the index of a thread in its
    grid, is a word of its own, so that a guard narrows it where it narrows neither the block nor the thread.
    """

    range: Range
    origins: Origins = NOWHERE
    head: int = -1
    register: int = -1
    shared: bool = False
    truth: "Truth | None" = None
    quotient: "Quotient | None" = None
    difference: "tuple[UnknownWord, UnknownWord] | None" = None
    sum: "Sum | None" = None
    fewer_than: "UnknownWord | None" = None
    keeps_zero: bool = True
    highest_of: "UnknownWord | None" = None
    one_of: "UnknownWord | None" = None
    sign_of: "UnknownWord | None" = None
    signs_of: "Value | None" = None
    rounded: "UnknownWord | None" = None
    half: "Half | None" = None
    rest: "Half | None" = None
    mean: "Half | None" = None
    _from: "dict[UnknownWord, UnknownWord] | None" = None
    """Its differences that are looked at, by what is subtracted: always one symbol for one word."""
    _sums: "dict[frozenset[tuple[UnknownWord, int]], UnknownWord] | None" = None
    """Those that it keeps."""

    def minus(self, other: "UnknownWord", *, make: bool) -> "UnknownWord | None":
        """Return the symbol of the difference of two words; None where it was not made, and is not to be made."""
        if self._from is None:
            if not make:
                return None
            self._from = {}
        known = self._from.get(other)
        if known is None and make:
            known = self._from[other] = UnknownWord(ranges.EVERY, union(self.origins, other.origins), difference=(self, other))
        return known

    def of_sum(self, total: "Sum") -> "tuple[UnknownWord, int]":
        """Return the symbol of a sum of shared words, or of its negative, and 1 or -1: always one for one sum asked of one word."""
        if self._sums is None:
            self._sums = {}
        for sign in (1, -1):
            known = self._sums.get(frozenset((symbol, ranges.signed(sign * factor)) for symbol, factor in total))
            if known is not None:
                return known, sign
        words, origins = ranges.const(0), NOWHERE
        for symbol, factor in total:
            words, origins = ranges.add(words, ranges.scale(symbol.range, factor)), union(origins, symbol.origins)
        made = self._sums[frozenset(total)] = UnknownWord(words, origins, shared=True, sum=total)
        return made, 1


class Half(NamedTuple):
    """The word floor(whole / 2), of a number with a sign or of one without; of one below 0, it may be rounded otherwise."""

    whole: UnknownWord
    is_signed: bool


Sum = tuple[tuple[UnknownWord, int], ...]
"""Words, each with its factor."""


class Value(NamedTuple):
    """`factor` times `symbol` (None: no symbol) plus a word of `range`."""

    symbol: UnknownWord | None
    factor: int
    range: Range
    origins: Origins = NOWHERE

    @property
    def constant(self) -> int | None:
        """Return the one word that it is."""
        return self.range.constant if self.symbol is None else None


class Quotient(NamedTuple):
    """The word floor((dividend x factor + addend) / 2^places), with an unsigned dividend: how machine code divides."""

    dividend: Value
    factor: int
    addend: int
    places: int

    def rest(self, words: Range, divisor: int) -> Range | None:
        """Return what the dividend, one of some words, is more than the quotient times a number; None where nothing is known of it.

        With D the dividend, the quotient is more than x - 1 and at most x = (D factor + addend) / 2^places, so that D - divisor x quotient
        lies between two linear functions of D: their ends decide.
        """
        size = 1 << self.places
        ends = [number * (size - divisor * self.factor) - divisor * self.addend for number in words.unsigned]
        below, above = sorted((0, divisor * (size - 1)))
        least, most = -(-(min(ends) + below) // size), (max(ends) + above) // size
        return ranges.span(least, most) if least <= most < least + ranges.SIZE else None


@lru_cache(maxsize=1 << 12)
def constant(word: int) -> Value:
    """Return a known word."""
    return Value(None, 0, ranges.const(word))


def unknown(words: Range, origins: Origins = NOWHERE, *, shared: bool = False) -> Value:
    """Return a word of a range, with a symbol of its own."""
    return Value(None, 0, words) if not words.width else Value(UnknownWord(words, origins, shared=shared), 1, ranges.const(0), origins)


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """A condition that nothing is known of; each is another one."""

    origins: Origins = NOWHERE


@dataclass(frozen=True, slots=True, eq=False)
class Compare:
    """`left` less than, or equal to, `right`: `relation` is `<`, `<=` or `==`."""

    relation: str
    is_signed: bool
    left: Value
    right: Value


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """Two conditions at once; `parts` counts what they are made of."""

    first: "Truth"
    second: "Truth"
    parts: int = 2


class Truth(NamedTuple):
    """A condition or its negation; `what` True is what always holds."""

    what: bool | Maybe | Compare | Both
    negated: bool = False

    def negate(self) -> "Truth":
        """Return the opposite."""
        return Truth(not self.what) if isinstance(self.what, bool) else Truth(self.what, not self.negated)


_MOST_PARTS = 16
"""Of a condition, at most: one that an exclusive or makes twice as large in each iteration is soon unknown."""
YES, NO = Truth(True), Truth(False)
ANY = Truth(Maybe())
"""A condition that may be another one at each test: no path learns anything from it."""


def conjunction(a: Truth, b: Truth) -> Truth:
    """Return that both hold."""
    for truth, other in ((a, b), (b, a)):
        if truth.what is True:
            return other
        if truth.what is False:
            return NO
    if a == b:
        return a
    parts = _parts(a) + _parts(b)
    return Truth(Both(a, b, parts)) if parts <= _MOST_PARTS else Truth(Maybe(origins_of(a) | origins_of(b)))


def _parts(truth: Truth) -> int:
    return truth.what.parts if isinstance(truth.what, Both) else 1


def disjunction(a: Truth, b: Truth) -> Truth:
    """Return that one of them holds."""
    return conjunction(a.negate(), b.negate()).negate()


def difference(a: Truth, b: Truth) -> Truth:
    """Return that exactly one of them holds."""
    for truth, other in ((a, b), (b, a)):
        if isinstance(truth.what, bool):
            return other.negate() if truth.what else other
    return disjunction(conjunction(a, b.negate()), conjunction(a.negate(), b))


def origins_of(truth: Truth) -> Origins:
    """Return why it is unknown whether it holds."""
    match truth.what:
        case bool():
            return NOWHERE
        case Maybe(origins=origins):
            return origins
        case Compare(left=left, right=right):
            return left.origins | right.origins
        case Both(first=first, second=second):
            return origins_of(first) | origins_of(second)


Known = Value | Truth
"""What a register holds."""


class Atom(NamedTuple):
    """A comparison that a path has found true."""

    relation: str
    is_signed: bool
    left: Value
    right: Value


class SymbolicState(NamedTuple):
    """One thread at one place: registers by bit number (absent: unknown), narrower ranges of symbols, and what the path has decided.

    `decided` holds conditions, by identity, with the truth that the path gave them; `atoms` the comparisons among them, as they hold.
    """

    registers: Mapping[int, Known] = MappingProxyType({})
    facts: Mapping[UnknownWord, Range] = MappingProxyType({})
    decided: Mapping[Maybe | Compare | Both, bool] = MappingProxyType({})
    atoms: tuple[Atom, ...] = ()

    def range_of(self, value: Value) -> Range:
        """Return all words that a value may be."""
        symbol = value.symbol
        if symbol is None:
            return value.range
        words = self.facts.get(symbol)
        if words is None:
            words = symbol.range if symbol.truth is None else self._bit(symbol.truth)
        if symbol.sum is not None:
            parts = self.range_of_sum(symbol.sum)
            words = parts if parts.width < words.width else words
        return ranges.add(words if value.factor == 1 else ranges.scale(words, value.factor), value.range)

    def range_of_sum(self, parts: Sum) -> Range:
        """Return all words that a sum may be, by what is known of its parts."""
        total = ranges.const(0)
        for symbol, factor in parts:
            total = ranges.add(total, ranges.scale(self.facts.get(symbol, symbol.range), factor))
        return total

    def _bit(self, truth: Truth) -> Range:
        """Return 1 where the path has found that a condition holds, 0 where it does not, else both."""
        held = None if isinstance(truth.what, bool) else self.decided.get(truth.what)
        return ranges.span(0, 1) if held is None else ranges.const(held != truth.negated)

    def plus(self, a: Value, b: Value) -> Value:
        """Return the sum; of two symbols, the one that less is known of stays."""
        origins = union(a.origins, b.origins)
        if a.symbol is None or b.symbol is None:
            kept, other = (a, b) if b.symbol is None else (b, a)
            if other.constant == 0 and not other.origins:
                return kept  # a move: the same word
            return Value(kept.symbol, kept.factor, ranges.add(a.range, b.range), origins)
        if a.symbol is b.symbol:
            factor = ranges.signed(a.factor + b.factor)
            return Value(a.symbol if factor else None, factor, ranges.add(a.range, b.range), origins)
        whole = _summed(a, b) if a.symbol.shared and b.symbol.shared else None
        return self._plus_other(a, b, whole, origins)

    def _plus_other(self, a: Value, b: Value, whole: Value | None, origins: Origins) -> Value:
        """Return the sum of multiples of two symbols, `whole` if it is kept as such."""
        first, second = self.range_of(a), self.range_of(b)
        wide, words = (a, second) if first.width >= second.width else (b, first)
        total = ranges.add(first, second)
        closer = self._difference(a, b) or self._difference(b, a) or self._rest(a, b) or self._rest(b, a)
        if closer is not None and self.range_of(closer).width < total.width:
            return closer._replace(origins=origins)
        if whole is not None:
            return whole._replace(origins=origins)
        part = _part(a, b, wide_enough=words.width >= _HARDLY_KNOWN)
        if part is not None:
            part.origins, part.range = origins, ranges.add(*(self.range_of(each._replace(range=ranges.const(0))) for each in (a, b)))
            return Value(part, 1, ranges.add(a.range, b.range), origins)
        beside = ranges.add(wide.range, words)
        # Any word beside a word is any word: one of its own can be narrowed by what it is compared with.
        return unknown(beside, origins) if beside.width == ranges.EVERY.width else Value(wide.symbol, wide.factor, beside, origins)

    def _difference(self, a: Value, b: Value) -> Value | None:
        """Return the sum of a word and the negative of another one, where the path knows something of their difference."""
        if a.symbol is None or b.symbol is None or (a.factor, b.factor) != (1, -1):
            return None
        for symbol, factor in ((a.symbol.minus(b.symbol, make=False), 1), (b.symbol.minus(a.symbol, make=False), -1)):
            if symbol is not None and symbol in self.facts:
                return Value(symbol, factor, ranges.add(a.range, b.range))
        return None

    def _rest(self, a: Value, b: Value) -> Value | None:
        """Return the sum of a dividend and a negative multiple of its quotient: a remainder."""
        quotient = b.symbol.quotient if b.symbol is not None else None
        if quotient is None or b.factor >= 0 or a.symbol is not quotient.dividend.symbol or a.factor != quotient.dividend.factor:
            return None
        rest = quotient.rest(self.range_of(quotient.dividend), -b.factor)
        if rest is None:
            return None
        beside = ranges.add(ranges.add(a.range, ranges.negate(quotient.dividend.range)), b.range)
        return unknown(ranges.add(rest, beside))

    def times(self, a: Value, factor: int) -> Value:
        """Return a multiple."""
        if factor == 1:
            return a
        factor = ranges.signed(factor)
        product = ranges.signed(a.factor * factor)
        return Value(a.symbol if product else None, product, ranges.scale(a.range, factor), a.origins)

    def minus(self, a: Value, b: Value) -> Value:
        """Return the difference."""
        return self.plus(a, self.times(b, -1))


def _summed(a: Value, b: Value) -> Value | None:
    """Return the sum of multiples of shared words, without what cancels; None where it has too many parts."""
    factors: dict[UnknownWord, int] = {}
    for value in (a, b):
        assert value.symbol is not None
        for symbol, factor in value.symbol.sum or ((value.symbol, 1),):
            factors[symbol] = ranges.signed(factors.get(symbol, 0) + factor * value.factor)
    left = tuple((symbol, factor) for symbol, factor in factors.items() if factor)
    beside = ranges.add(a.range, b.range)
    if not left:
        return Value(None, 0, beside)
    if len(left) == 1:
        return Value(*left[0], beside)
    holder = min((symbol for symbol, _ in left), key=id)  # any of them, in whatever order they are added
    return Value(*holder.of_sum(left), beside) if len(left) <= _MOST_SUMMED else None


def _part(a: Value, b: Value, *, wide_enough: bool) -> UnknownWord | None:
    """Return the sum of two words as a part of an interval that is halved; None where it is none.

    That is the length of an interval whose ends registers of one loop hold, its middle, or what the half of a word leaves of it.
    """
    for whole, other in ((a, b), (b, a)):
        word, second = whole.symbol, other.symbol
        assert word is not None
        assert second is not None
        if whole.factor != 1 or other.factor not in {1, -1}:
            continue
        if other.factor == 1 and second.half is not None and second.half.whole.difference is not None:
            if second.half.whole.difference[1] is word:
                return UnknownWord(ranges.EVERY, mean=second.half)
        elif other.factor == 1 and second.sign_of is word:
            return UnknownWord(ranges.EVERY, rounded=word)
        elif other.factor == -1 and second.half is not None and second.half.whole is word:
            return UnknownWord(ranges.EVERY, rest=second.half)
        elif other.factor == -1 and wide_enough and word.head == second.head >= 0:
            return UnknownWord(ranges.EVERY, difference=(word, second))
    return None
