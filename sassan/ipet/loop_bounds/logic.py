"""Bits, conditions and comparisons of `isa/effects.py` over ranges and truths."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.conditions import AT_MOST, EQUAL, LESS, compare
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import (
    NO,
    YES,
    Compare,
    Known,
    Maybe,
    Truth,
    UnknownWord,
    Value,
    conjunction,
    constant,
    difference,
    disjunction,
    origins_of,
)

_WORD = (1 << 32) - 1
_PLAIN = frozenset({0, _WORD})
"""The words that make a table of bits simpler."""
COLUMNS = (0xF0, 0xCC, 0xAA)
"""The columns of a truth table of three inputs."""
_TABLE = 0xFF
_RELATIONS: Mapping[str, tuple[str, bool, bool]] = {
    "LT": (LESS, False, False),
    "LE": (AT_MOST, False, False),
    "GT": (LESS, True, False),
    "GE": (AT_MOST, True, False),
    "EQ": (EQUAL, False, False),
    "NE": (EQUAL, False, True),
}
"""Each comparison by another one: with its operands swapped, or its opposite."""
_BITWISE: Mapping[str, Callable[[Range, Range], Range]] = {"AND": ranges.both, "OR": ranges.either, "XOR": ranges.differ}


def _bitwise(name: str) -> Callable[[InstructionStep, Value, Value], Value]:
    return lambda step, a, b: _two(step, name, a, b)


def _two(step: InstructionStep, name: str, a: Value, b: Value) -> Value:
    if name == "XOR":
        for word, other in ((a, b), (b, a)):
            if word.constant == _WORD:
                return step.state.minus(constant(-1), other)
    for word, other in ((a, b), (b, a)):
        if name == "XOR" and word.symbol is not None and _is_one_of(other, word):
            left = ranges.differ(step.range(word), step.range(other))
            return Value(UnknownWord(left, word.origins, fewer_than=word.symbol, keeps_zero=False), 1, ranges.const(0), word.origins)
        if name == "AND" and word.symbol is not None and word.symbol is other.symbol and _is_before(other, word):
            kept = ranges.both(step.range(word), step.range(other))
            return Value(UnknownWord(kept, word.origins, fewer_than=word.symbol), 1, ranges.const(0), word.origins)
        if other.constant == 0 if name != "AND" else _keeps(other.constant, step.range(word)):
            return word
    return step.of_range(_BITWISE[name](step.range(a), step.range(b)), a, b)


def _is_before(word: Value, other: Value) -> bool:
    """Say whether a word is another one, which is one symbol, minus 1."""
    return (word.factor, word.range.constant, other.factor, other.range.constant) == (1, _WORD, 1, 0)


def _is_one_of(word: Value, other: Value) -> bool:
    """Say whether a word is a one of another word, which is one symbol."""
    plain = (word.factor, word.range.constant, other.factor, other.range.constant) == (1, 0, 1, 0)
    return plain and word.symbol is not None and word.symbol.one_of is other.symbol


def _keeps(mask: int | None, words: Range) -> bool:
    """Say whether a conjunction with a mask leaves all words of a range as they are."""
    return mask is not None and not mask & mask + 1 and words.unsigned[1] <= mask


def _lop3(step: InstructionStep, a: Value, b: Value, c: Value, table: int) -> Value:
    return _function(step, table, [a, b, c])


def _function(step: InstructionStep, lut: int, words: list[Value]) -> Value:
    """Return a function of three words, once those that are all zeros or all ones are put in."""
    first, second, third = [word.constant for word in words]
    lut, places = _significant(
        lut, first if first in _PLAIN else None, second if second in _PLAIN else None, third if third in _PLAIN else None
    )
    kept = [words[place] for place in places]
    if not kept:
        return constant(_WORD if lut & 1 else 0)
    if len(kept) == 1:
        return kept[0] if lut == COLUMNS[places[0]] else step.state.minus(constant(-1), kept[0])
    if len(kept) == 2:  # noqa: PLR2004  # two words
        name, inverted = _pair(lut, *(COLUMNS[place] for place in places))
        a, b = (step.state.minus(constant(-1), word) if invert else word for word, invert in zip(kept, inverted, strict=True))
        return _two(step, name, a, b)
    if all(value.constant is not None for value in kept):
        return constant(_bits(lut, [value.constant or 0 for value in words]))
    return step.of_range(_below(lut, [step.range(value) for value in kept]), *kept)


@lru_cache(maxsize=1 << 10)
def _significant(lut: int, *constants: int | None) -> tuple[int, tuple[int, ...]]:
    """Return the table with the inputs that are known put in, and the places of those that it still depends on."""
    for word, column in zip(constants, COLUMNS, strict=True):
        if word is not None:
            lut = _fixed(lut, column, ones=word != 0)
    # Only now: what is put in may leave a table that another input does not matter to.
    depends = [_fixed(lut, column, ones=True) != _fixed(lut, column, ones=False) for column in COLUMNS]
    return lut, tuple(place for place, matters in enumerate(depends) if matters)


def _fixed(lut: int, column: int, *, ones: bool) -> int:
    """Return the table after one input is known: the half where it holds, taken for both."""
    shift = {0xF0: 4, 0xCC: 2, 0xAA: 1}[column]
    half = lut & column if ones else lut & ~column & _TABLE
    return half | (half >> shift if ones else half << shift) & _TABLE


@lru_cache(maxsize=1 << 8)
def _pair(lut: int, first: int, second: int) -> tuple[str, tuple[bool, bool]]:
    """Return which operation on two words, each inverted or not, a table of two columns is."""
    for inverted in ((False, False), (False, True), (True, False), (True, True)):
        left, right = (column ^ (_TABLE * invert) for column, invert in zip((first, second), inverted, strict=True))
        named = {left & right: "AND", left | right: "OR", left ^ right: "XOR"}
        if lut in named:
            return named[lut], inverted
    raise AssertionError(lut)


def _bits(lut: int, words: list[int]) -> int:
    result = 0
    for row in range(8):
        if lut >> row & 1:
            part = _WORD
            for word, column in zip(words, COLUMNS, strict=True):
                part &= word if column >> row & 1 else ~word
            result |= part
    return result & _WORD


def _below(lut: int, words: list[Range]) -> Range:
    """Return a range of which every bit beyond those of the inputs is 0, where the function of zeros is 0."""
    if lut & 1:
        return ranges.EVERY
    most = max(word.unsigned[1] for word in words)
    return ranges.span(0, (1 << most.bit_length()) - 1)


def _chosen(lut: int, inputs: list[Truth], half: int) -> Truth:
    """Return a function of conditions by its table: the first one chooses the half."""
    if not inputs:
        return YES if lut & 1 else NO
    mask = (1 << half) - 1
    high, low = _chosen(lut >> half & mask, inputs[1:], half // 2), _chosen(lut & mask, inputs[1:], half // 2)
    if high == low:
        return high
    return disjunction(conjunction(inputs[0], high), conjunction(inputs[0].negate(), low))


def _plop3(step: InstructionStep, a: Truth, b: Truth, c: Truth, table: int) -> Truth:
    del step
    return _chosen(table, [a, b, c], 4)


def _of_truths(function: Callable[[Truth, Truth], Truth]) -> Callable[[InstructionStep, Truth, Truth], Truth]:
    return lambda _, a, b: function(a, b)


def _negation(step: InstructionStep, truth: Truth) -> Truth:
    del step
    return truth.negate()


def _same(step: InstructionStep, a: Truth, b: Truth) -> Truth:
    del step
    for truth, other in ((a, b), (b, a)):
        if isinstance(truth.what, bool):
            return other if truth.what else other.negate()
    return Truth(Maybe(origins_of(a) | origins_of(b)))


def _equal(step: InstructionStep, a: Value, b: Value) -> Truth:
    return compare(step.state, EQUAL, a, b, is_signed=False)


def _compare(step: InstructionStep, name: str, a: Value, b: Value, is_signed: bool) -> Truth:
    relation, swapped, opposite = _RELATIONS[name]
    first, second = (b, a) if swapped else (a, b)
    truth = compare(step.state, relation, first, second, is_signed=is_signed)
    return truth.negate() if opposite else truth


def _borrowed(step: InstructionStep, name: str, carry: Truth, zero: Truth) -> Truth:
    """Return how the low words compare that an instruction before has subtracted: until Pascal."""
    if name not in _RELATIONS:
        return Truth(Maybe(step.unknown().origins))
    # Nothing is borrowed where the first word is at least the second.
    holds = zero if name in {"EQ", "NE"} else carry if name in {"GE", "LT"} else conjunction(carry, zero.negate())
    return holds.negate() if name in {"NE", "LT", "LE"} else holds


def _extended(step: InstructionStep, name: str, a: Value, b: Value, low: Truth, is_signed: bool) -> Truth:  # noqa: PLR0913, PLR0917  # the arguments of the language
    same = _equal(step, a, b)
    if name == "NE":
        return disjunction(same.negate(), low)
    if name == "EQ":
        return conjunction(same, low)
    short = _of_short(step, a, b, low, is_less=name in {"LT", "LE"}) if is_signed else None
    if short is not None:
        return short
    strict = _compare(step, "LT" if name in {"LT", "LE"} else "GT", a, b, is_signed)
    return disjunction(strict, conjunction(same, low))


def _of_short(step: InstructionStep, a: Value, b: Value, low: Truth, *, is_less: bool) -> Truth | None:
    """Return the comparison of a number of 32 bits, which its signs `a` make one of 64, with one that is 0 or more and below 2^31.

    Below 0, it is less than that; else the low words decide: it is the comparison of these as numbers with a sign. `low` is that of them
    without one. None where the words are no such numbers.
    """
    word, compared = a.symbol.signs_of if a.symbol is not None and (a.factor, a.range.constant) == (1, 0) else None, low.what
    if word is None or b.constant != 0 or not isinstance(compared, Compare) or compared.is_signed or compared.relation == EQUAL:
        return None
    on_left, on_right = (word.range.constant is not None and side == word for side in (compared.left, compared.right))
    other = compared.right if on_left else compared.left
    if on_left == on_right or step.range(other).unsigned[1] > _WORD >> 1 or is_less != (on_left != low.negated):
        return None
    truth = compare(step.state, compared.relation, compared.left, compared.right, is_signed=True)
    return truth.negate() if low.negated else truth


def _maybe(step: InstructionStep, word: Value) -> Truth:
    del step
    return Truth(Maybe(word.origins))


def _uncertain(step: InstructionStep, why: str) -> Truth:
    del step
    return Truth(Maybe(frozenset({why})))


FUNCTIONS: Mapping[str, Callable[..., Known]] = {
    "bit_and": _bitwise("AND"),
    "bit_or": _bitwise("OR"),
    "bit_xor": _bitwise("XOR"),
    "lop3": _lop3,
    "plop3": _plop3,
    "conjunction": _of_truths(conjunction),
    "disjunction": _of_truths(disjunction),
    "difference": _of_truths(difference),
    "negation": _negation,
    "same": _same,
    "equal": _equal,
    "compare": _compare,
    "borrowed": _borrowed,
    "extended": _extended,
    "maybe": _maybe,
    "uncertain": _uncertain,
}
