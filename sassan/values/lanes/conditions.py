"""Comparisons of words of lanes, functions of predicates, and choices by them."""

import operator
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

from sassan.domains.lanes import LANES, SIZE, Lanes, LaneWord, alike, distances, join, loose, rows_of, word
from sassan.values.lanes.abstract_word import (
    SIGN,
    TRUTH,
    AbstractWord,
    derived,
    exact_words,
    needed_by,
    number,
    power_of_two,
    signed_number,
    truth_of,
    words_of,
)
from sassan.values.lanes.bitwise import split

_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}


def carry(*summands: tuple[bool, AbstractWord]) -> AbstractWord:
    """Return the carry of a sum, of a difference whether nothing is borrowed; each summand says whether it was subtracted."""
    words = [held.value.constant for _, held in summands]
    known = [word for word in words if word is not None]
    # A word that is subtracted is added as its complement and 1: for 0 that is 2^32.
    total = sum(known) + SIZE * sum(is_subtracted and word == 0 for (is_subtracted, _), word in zip(summands, words, strict=True))
    if len(known) < len(words) or total >= 2 * SIZE:
        return truth_of(*[held for _, held in summands])
    return decided(total >= SIZE)


def decided(value: bool) -> AbstractWord:
    """Return a predicate that is known."""
    return number(int(value))


def compare(relation: str, a: AbstractWord, b: AbstractWord, signed: bool) -> AbstractWord:
    """Return how two words compare.

    A word that shares all but its lowest bits compares with a multiple of 2 to the number of these as its common part does: so threads
    agree on `i < n` where n is a multiple of 32 and i is 32 w + lane.
    """
    holds = _RELATIONS[relation]

    def exact(x: int, y: int) -> int:
        return int(holds(signed_number(x), signed_number(y)) if signed else holds(x, y))

    known = exact_words(exact, a, b) or _by_bounds(relation, a.value, b.value, signed)
    if known is not None:
        return known
    x, y = a.value, b.value
    if not x.varies and not y.varies:
        return truth_of(a, b)
    if relation in {"EQ", "NE"}:
        apart = distances(x, y)
        if rows_of(x, y) is None and (apart is None or alike(apart) is None):
            return AbstractWord(word(0, 1, None, TRUTH), needed_by((a, b)))
        never = not x.base and not y.base and _never_equal(x, y)
        return decided(relation == "NE") if never else AbstractWord(word(0, 1, None, TRUTH), None)
    together = _common_side(relation, x, y) or _common_side(_SWAPPED[relation], y, x)
    return AbstractWord(word(0, 1, None, TRUTH), needed_by((a, b)) if together else None)


def equal(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return whether two words are equal."""
    return compare("EQ", a, b, signed=False)


def extended(relation: str, a: AbstractWord, b: AbstractWord, low: AbstractWord, signed: bool) -> AbstractWord:
    """Return how two pairs of words compare, by their high words and the comparison of the low ones."""
    same = equal(a, b)
    if relation == "NE":
        return disjunction(negation(same), low)
    if relation == "EQ":
        return conjunction(same, low)
    strict = compare("LT" if relation in {"LT", "LE"} else "GT", a, b, signed)
    return disjunction(strict, conjunction(same, low))


def _by_bounds(relation: str, x: LaneWord, y: LaneWord, signed: bool) -> AbstractWord | None:
    if signed and (x.high >= SIGN or y.high >= SIGN):
        return None
    holds = _RELATIONS[relation]
    corners = {holds(left, right) for left in (x.low, x.high) for right in (y.low, y.high)}
    if len(corners) > 1 or (relation in {"EQ", "NE"} and not (x.high < y.low or y.high < x.low)):
        return None
    return decided(corners.pop())


def _never_equal(x: LaneWord, y: LaneWord) -> bool:
    modulus = min(x.modulus, y.modulus)
    return all((x.offset - y.offset + distance) % modulus for distance in distances(x, y) or (0,))


def _common_side(relation: str, x: LaneWord, y: LaneWord) -> bool:
    """Say whether all lanes of `x` are on one side of `y`, a word without lanes."""
    if y.lanes is not None or y.base or x.base or rows_of(x, y) is not None:
        return False
    rest = 0 if relation in {"LT", "GE"} else -1
    modulus = min(x.modulus, power_of_two(y.offset - rest) if y.known else y.modulus, SIGN)
    while modulus > 1:
        if (y.offset - rest) % modulus == 0 and split(x, modulus, LANES).carries is None:
            return True
        modulus >>= 1
    return False


def choose(condition: AbstractWord, first: AbstractWord, second: AbstractWord) -> AbstractWord:
    """Return the first value where a condition holds, else the second."""
    holds = condition.value.constant
    if holds is not None:
        return first if holds else second
    known = exact_words(_one_of, condition, first, second)
    if known is not None:
        return known
    if condition.value.known:
        return _picked(condition.value.words, first, second)
    return derived(join(first.value, second.value), condition, first, second)


def _picked(chosen: Lanes, first: AbstractWord, second: AbstractWord) -> AbstractWord:
    """Return one value in some lanes, another in the others, which are in different rows."""
    x, y = first.value, second.value
    if x.base != y.base:
        x, y = loose(x), loose(y)
    pairs = zip(chosen, words_of(x, len(chosen)), words_of(y, len(chosen)), strict=True)
    words = tuple([left if holds else right for holds, left, right in pairs])
    tables = [table for table in (chosen, x.rows, y.rows) if table is not None]
    bounds = min(x.low, y.low), max(x.high, y.high)
    return derived(word(0, min(x.modulus, y.modulus), words, bounds, x.base, alike(*tables)), first, second)


def _one_of(chosen: int, first: int, second: int) -> int:
    return first if chosen else second


def _logic(function: Callable[..., int], *inputs: AbstractWord) -> AbstractWord:
    """Return a function of predicates; one that the known ones decide needs no others."""
    known = exact_words(function, *inputs)
    if known is not None:
        return known
    choices = [TRUTH if each.value.constant is None else (each.value.constant,) for each in inputs]
    results = {function(*chosen) for chosen in product(*choices)}
    return number(results.pop()) if len(results) == 1 else truth_of(*inputs)


def conjunction(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return whether both hold."""
    return _logic(operator.and_, a, b)


def disjunction(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return whether one of them holds."""
    return _logic(operator.or_, a, b)


def difference(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return whether exactly one of them holds."""
    return _logic(operator.xor, a, b)


def negation(a: AbstractWord) -> AbstractWord:
    """Return whether it does not hold."""
    return _logic(_opposite, a)


def _opposite(value: int) -> int:
    return 1 - value


def same(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return whether both hold, or neither."""
    return negation(difference(a, b))


def plop3(a: AbstractWord, b: AbstractWord, c: AbstractWord, table: int) -> AbstractWord:
    """Return a function of three predicates by its truth table."""
    return _logic(partial(_row, table), a, b, c)


def _row(table: int, a: int, b: int, c: int) -> int:
    return table >> (a << 2 | b << 1 | c) & 1
