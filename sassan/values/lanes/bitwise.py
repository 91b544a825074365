"""Functions of words of lanes that work bit by bit: what is known of low bits, in each lane, and of high bits."""

import operator
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

from sassan.domains.lanes import LAST, SIZE, LaneWord, alike, from_words, loose, rows_of, word
from sassan.values.lanes.abstract_word import AbstractWord, derived, exact_words, lane_count, needed_by, number, power_of_two, signed_number

_COLUMNS = (0xF0, 0xCC, 0xAA)


class _Split(NamedTuple):
    """Words x(l) below a modulus, the value being x(l) plus a multiple of it that lanes with one carry share, in each row."""

    low: tuple[int, ...]
    carries: tuple[int, ...] | None


def split(value: LaneWord, modulus: int, count: int) -> _Split:
    """Split a word without a base at a modulus that divides its own; `count` is for how many lanes tables are."""
    if value.lanes is None:
        return _Split((value.offset & modulus - 1,) * count, None)
    if modulus == SIZE:
        return _Split(value.words, None)
    words = [value.offset + signed_number(lane) for lane in value.lanes]
    carries = tuple([number // modulus for number in words])
    return _Split(tuple([number % modulus for number in words]), carries if alike(carries) is not None else None)


def bitwise(function: Callable[..., int], *inputs: AbstractWord, bounds: tuple[int, int] = (0, LAST)) -> AbstractWord:
    """Return a function that works bit by bit."""
    values = [each.value for each in inputs]
    known = exact_words(function, *inputs)
    if known is not None:
        return known
    modulus = min([1 if value.base else value.modulus for value in values])
    if modulus == 1 and not any(value.varies for value in values):
        high = _high_bits(function, values, 1)
        return number(high) if high is not None else AbstractWord(LaneWord(0, 1, None, *bounds), needed_by(inputs))
    count = lane_count(values)
    splits = [split(loose(value), modulus, count) for value in values]
    low = tuple([function(*words) & modulus - 1 for words in zip(*[split.low for split in splits], strict=True)])
    high = _high_bits(function, values, modulus)
    if high is not None:
        return AbstractWord(from_words(tuple([high | bits for bits in low])), 0)
    tables = [table for table in (*[split.carries for split in splits], rows_of(*values)) if table is not None]
    return derived(word(0, modulus, low, bounds, rows=alike(*tables) if tables else None), *inputs)


def _high_bits(function: Callable[..., int], values: list[LaneWord], modulus: int) -> int | None:
    """Return the bits from a modulus on of a bitwise function of these values, where they do not depend on those that are not known."""
    high = LAST & -modulus
    choices = [_fixed_bits(value, high) or (0, high) for value in values]
    results = {function(*chosen) & high for chosen in product(*choices)}
    return results.pop() if len(results) == 1 else None


def _fixed_bits(value: LaneWord, mask: int) -> tuple[int, ...]:
    """Return the bits of a word under a mask where they are known and the same in all lanes, else nothing."""
    if value.lanes is None:
        return (value.offset & mask,) if value.known else ()
    bits = {number & mask for number in value.words} if value.known else set[int]()
    return tuple(bits) if len(bits) == 1 else ()


def bit_and(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the conjunction; with a mask below the modulus of a word, what carries over in the word does not matter."""
    for value, mask in ((a.value, b.value.constant), (b.value, a.value.constant)):
        if mask is not None and not value.base and mask < value.modulus:
            return AbstractWord(from_words(tuple([number & mask for number in value.words])), 0)
    held = bitwise(operator.and_, a, b, bounds=(0, min(a.value.high, b.value.high)))
    for mask in (a.value.constant, b.value.constant):
        if mask is not None and held.value.lanes is None and power_of_two(mask) > held.value.modulus:
            return AbstractWord(word(0, power_of_two(mask), None, (held.value.low, held.value.high), rows=held.value.rows), held.needs)
    return held


def _below(*inputs: AbstractWord) -> tuple[int, int]:
    return 0, (1 << max(each.value.high for each in inputs).bit_length()) - 1


def bit_or(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the disjunction."""
    return bitwise(operator.or_, a, b, bounds=_below(a, b))


def bit_xor(a: AbstractWord, b: AbstractWord) -> AbstractWord:
    """Return the exclusive disjunction."""
    return bitwise(operator.xor, a, b, bounds=_below(a, b))


def lop3(a: AbstractWord, b: AbstractWord, c: AbstractWord, table: int) -> AbstractWord:
    """Return a bitwise function by its truth table; inputs that it does not depend on do not matter."""
    inputs = [each if _matters(table, column) else number(0) for each, column in zip((a, b, c), _COLUMNS, strict=True)]
    if table == _COLUMNS[0] & _COLUMNS[1]:
        return bit_and(a, b)
    if table in _COLUMNS:
        return (a, b, c)[_COLUMNS.index(table)]
    for table_part, pair in ((table, (a, b)), (table, (a, c)), (table, (b, c))):
        columns = [_COLUMNS[(a, b, c).index(each)] for each in pair] if len({id(each) for each in (a, b, c)}) == len(_COLUMNS) else []
        if columns and table_part == columns[0] & columns[1]:
            return bit_and(*pair)
    return bitwise(partial(_looked_up, table), *inputs, bounds=(0, LAST) if table & 1 else _below(*inputs))


def _matters(table: int, column: int) -> bool:
    shift = {0xF0: 4, 0xCC: 2, 0xAA: 1}[column]
    return (table & column) >> shift != table & ~column & 0xFF


def _looked_up(table: int, a: int, b: int, c: int) -> int:
    out = 0
    for row in range(8):
        if table >> row & 1:
            out |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return out & LAST
