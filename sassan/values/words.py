"""The functions of the language of effects (`isa/effects.py`) over words of a thread and what a warp must agree on for them.

A value comes with the registers on which threads must agree so that they agree on it, up to its lanes (`domains/lanes.py`): None where
nothing makes them. A predicate is a word that is 0 or 1.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

from sassan.domains.lanes import (
    LANES,
    LAST,
    SIZE,
    UNKNOWN,
    Lanes,
    LaneWord,
    alike,
    alone,
    const,
    distances,
    equal_lanes,
    flat,
    from_words,
    join,
    loose,
    rows_of,
    word,
)

_SIGN = 1 << 31
_WORD_BITS = 32
_HALF = 16
_COLUMNS = (0xF0, 0xCC, 0xAA)
_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}


class Held(NamedTuple):
    """A word, and the registers on which threads must agree so that they agree on it up to its lanes; None: nothing makes them."""

    value: LaneWord
    needs: int | None


def number(value: int) -> Held:
    """Return a number."""
    return Held(const(value), 0)


def _union(held: tuple[Held, ...]) -> int | None:
    out = 0
    for each in held:
        if each.needs is None:
            return None
        out |= each.needs
    return out


def _made(value: LaneWord, *inputs: Held) -> Held:
    """Return a value worked out lane by lane from these inputs; what is known needs no agreement."""
    if value.rows is not None and alone(value.rows):
        return Held(flat(value), None)
    return Held(value, 0 if value.known else _union(inputs))


def opaque(*inputs: Held, modulus: int = 1, offset: int = 0, bounds: tuple[int, int] = (0, LAST)) -> Held:
    """Return a value that follows from the inputs: threads agree on it in the rows of lanes that hold the same in all inputs."""
    rows = equal_lanes(*[each.value for each in inputs])
    return _made(word(offset, modulus, None, bounds, rows=rows), *inputs)


def _truth(*inputs: Held) -> Held:
    """Return a predicate that follows from the inputs: threads agree on it altogether, where they agree on inputs without lanes."""
    return Held(word(0, 1, None, TRUTH), None if any(each.value.varies for each in inputs) else _union(inputs))


def _exact(function: Callable[..., int], *inputs: Held) -> Held | None:
    """Return the function where its inputs are known in every lane."""
    values = [each.value for each in inputs]
    if not all(value.known for value in values):
        return None
    if all(value.lanes is None for value in values):
        return number(function(*[value.offset for value in values]))
    count = _count(values)
    return Held(from_words(tuple(map(function, *[_words(value, count) for value in values]))), 0)


def _count(values: Iterable[LaneWord]) -> int:
    """Return for how many lanes the tables of words are."""
    return next((len(table) for value in values for table in (value.lanes, value.rows) if table is not None), LANES)


def _words(value: LaneWord, count: int) -> tuple[int, ...]:
    return (value.offset,) * count if value.lanes is None else value.words


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


def add(a: Held, b: Held) -> Held:
    """Return the sum."""
    x, y = a.value, b.value
    if x.base and y.base:
        x, y = loose(x), loose(y)
    lanes = _lanewise(operator.add, x, y)
    bounds = _bounds(x.low + y.low, x.high + y.high)
    return _made(word(x.offset + y.offset, min(x.modulus, y.modulus), lanes, bounds, x.base or y.base, rows_of(x, y)), a, b)


def subtract(a: Held, b: Held) -> Held:
    """Return the difference."""
    x, y = a.value, loose(b.value)
    bounds = _bounds(x.low - y.high, x.high - y.low)
    lanes = _lanewise(operator.sub, x, y)
    return _made(word(x.offset - y.offset, min(x.modulus, y.modulus), lanes, bounds, x.base, rows_of(x, y)), a, b)


def negated(a: Held) -> Held:
    """Return the negative."""
    return subtract(number(0), a)


def inverted(a: Held) -> Held:
    """Return the complement."""
    return subtract(number(-1), a)


def multiply(a: Held, b: Held) -> Held:
    """Return the low word of the product."""
    x, y = loose(a.value), loose(b.value)
    factor = y.constant
    if factor is None and x.constant is not None:
        x, y, factor = y, x, x.constant
    if factor == 0:
        return number(0)
    if factor is not None:
        lanes = None if x.lanes is None else tuple([lane * factor for lane in x.lanes])
        low, high = sorted((x.low * _signed(factor), x.high * _signed(factor)))
        return _made(word(x.offset * factor, x.modulus * (factor & -factor), lanes, _bounds(low, high), rows=x.rows), a, b)
    known = _exact(operator.mul, a, b)
    if known is not None:
        return known
    x, y = flat(x), flat(y)
    modulus = min(_power(x.offset * y.modulus), _power(y.offset * x.modulus), x.modulus * y.modulus)
    return opaque(a, b, modulus=modulus, offset=x.offset * y.offset, bounds=_bounds(x.low * y.low, x.high * y.high))


def _power(number: int) -> int:
    """Return the greatest power of two that divides a number."""
    return number & -number if number else SIZE


class _Split(NamedTuple):
    """Words x(l) below a modulus, the value being x(l) plus a multiple of it that lanes with one carry share, in each row."""

    low: tuple[int, ...]
    carries: tuple[int, ...] | None


def _split(value: LaneWord, modulus: int, count: int) -> _Split:
    """Split a word without a base at a modulus that divides its own; `count` is for how many lanes tables are."""
    if value.lanes is None:
        return _Split((value.offset & modulus - 1,) * count, None)
    if modulus == SIZE:
        return _Split(value.words, None)
    words = [value.offset + _signed(lane) for lane in value.lanes]
    carries = tuple([number // modulus for number in words])
    return _Split(tuple([number % modulus for number in words]), carries if alike(carries) is not None else None)


def bitwise(function: Callable[..., int], *inputs: Held, bounds: tuple[int, int] = (0, LAST)) -> Held:
    """Return a function that works bit by bit."""
    values = [each.value for each in inputs]
    known = _exact(function, *inputs)
    if known is not None:
        return known
    modulus = min([1 if value.base else value.modulus for value in values])
    if modulus == 1 and not any(value.varies for value in values):
        high = _high_bits(function, values, 1)
        return number(high) if high is not None else Held(LaneWord(0, 1, None, *bounds), _union(inputs))
    count = _count(values)
    splits = [_split(loose(value), modulus, count) for value in values]
    low = tuple([function(*words) & modulus - 1 for words in zip(*[split.low for split in splits], strict=True)])
    high = _high_bits(function, values, modulus)
    if high is not None:
        return Held(from_words(tuple([high | bits for bits in low])), 0)
    tables = [table for table in (*[split.carries for split in splits], rows_of(*values)) if table is not None]
    return _made(word(0, modulus, low, bounds, rows=alike(*tables) if tables else None), *inputs)


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


def bit_and(a: Held, b: Held) -> Held:
    """Return the conjunction; with a mask below the modulus of a word, what carries over in the word does not matter."""
    for value, mask in ((a.value, b.value.constant), (b.value, a.value.constant)):
        if mask is not None and not value.base and mask < value.modulus:
            return Held(from_words(tuple([number & mask for number in value.words])), 0)
    held = bitwise(operator.and_, a, b, bounds=(0, min(a.value.high, b.value.high)))
    for mask in (a.value.constant, b.value.constant):
        if mask is not None and held.value.lanes is None and _power(mask) > held.value.modulus:
            return Held(word(0, _power(mask), None, (held.value.low, held.value.high), rows=held.value.rows), held.needs)
    return held


def _below(*inputs: Held) -> tuple[int, int]:
    return 0, (1 << max(each.value.high for each in inputs).bit_length()) - 1


def bit_or(a: Held, b: Held) -> Held:
    """Return the disjunction."""
    return bitwise(operator.or_, a, b, bounds=_below(a, b))


def bit_xor(a: Held, b: Held) -> Held:
    """Return the exclusive disjunction."""
    return bitwise(operator.xor, a, b, bounds=_below(a, b))


def lop3(a: Held, b: Held, c: Held, table: int) -> Held:
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


def shift_left(a: Held, b: Held) -> Held:
    """Return the word shifted by 0 to 31 places."""
    places = b.value.constant
    if places is None:
        return _exact(_shifted_left, a, b) or opaque(a, b)
    return multiply(a, number(1 << places)) if places < _WORD_BITS else opaque(a)


def _shifted_left(value: int, places: int) -> int:
    return value << places if places < _WORD_BITS else 0


def shift_right(a: Held, b: Held, signed: bool) -> Held:
    """Return the word shifted by 0 to 31 places, arithmetically where it is signed."""
    places = b.value.constant
    known = _exact(partial(_shifted, signed), a, b) if places is None or places < _WORD_BITS else None
    if known is not None:
        return known
    if places is None or places >= _WORD_BITS:
        return opaque(a, b)
    value = loose(a.value)
    bounds = (value.low >> places, value.high >> places) if not signed or value.high < _SIGN else (0, LAST)
    low, carries = _split(value, value.modulus, _count([value]))
    rows = value.rows
    if carries is not None:
        integers = _integers(value, 1 << places, signed)
        low, rows = (low, alike(carries, rows or carries)) if integers is None else (integers, rows)
    return _made(word(0, value.modulus >> places or 1, tuple([part >> places for part in low]), bounds, rows=rows), a)


def _integers(value: LaneWord, modulus: int, signed: bool) -> tuple[int, ...] | None:
    """Return offset plus lanes as integers, where no lane wraps around and the rest is a multiple of a modulus; else None."""
    if value.lanes is None or value.modulus < modulus or value.high - value.low >= _SIGN or (signed and value.high >= _SIGN):
        return None
    parts = tuple([value.offset + _signed(lane) for lane in value.lanes])
    # Words and parts both lie within half the circle: so the rest is one integer in all lanes of a row, not just one word.
    return parts if max(parts) - min(parts) < _SIGN else None


def _shifted(signed: bool, value: int, places: int) -> int:
    if places >= _WORD_BITS:
        return LAST if signed and value & _SIGN else 0
    return (value - SIZE if signed and value & _SIGN else value) >> places


def divide(a: Held, divisor: int) -> Held:
    """Return the quotient of an unsigned word by a number that is not 0."""
    power = _power(divisor)
    if divisor == power:
        return shift_right(a, number(power.bit_length() - 1), signed=False)
    known = _exact(operator.floordiv, a, number(divisor))
    if known is not None:
        return known
    value = loose(a.value)
    # Words with equal multiples of a power of two that divides the divisor have one quotient.
    low, carries = _split(value, value.modulus, _count([value]))
    multiples = tuple([each // min(power, value.modulus) for each in low])
    tables = [table for table in (multiples, carries, value.rows) if table is not None]
    return _made(word(0, 1, None, (value.low // divisor, value.high // divisor), rows=alike(*tables)), a)


def modulo(a: Held, divisor: int) -> Held:
    """Return the remainder of an unsigned word by a number that is not 0."""
    if divisor == _power(divisor):
        return bit_and(a, number(divisor - 1))
    held = subtract(a, multiply(divide(a, divisor), number(divisor)))
    return Held(held.value if held.value.known else held.value._replace(low=0, high=min(divisor - 1, a.value.high)), held.needs)


def funnel_left(high: Held, low: Held, places: Held) -> Held:
    """Return the high word of a shifted pair where one word of the pair is 0."""
    distance = places.value.constant
    if low.value.constant == 0:
        return shift_left(high, places)
    if high.value.constant == 0 and distance is not None and 1 <= distance < _WORD_BITS:
        return shift_right(low, number(_WORD_BITS - distance), signed=False)
    return opaque(high, low, places)


def extract(value: Held, field: int) -> Held:
    """Return an unsigned field: its place in bits 0 to 7, its width in bits 8 to 15."""
    place, width = field & 255, field >> 8 & 255
    if place >= _WORD_BITS or width >= _WORD_BITS:
        return opaque(value)
    return bit_and(shift_right(value, number(place), signed=False), number((1 << width) - 1))


def high(a: Held, b: Held, c: Held, d: Held, signed: bool) -> Held:  # the arguments of the language
    """Return the high word of a product plus a pair (low, high)."""

    def exact(x: int, y: int, low: int, top: int) -> int:
        if signed:
            x, y = (each - SIZE if each & _SIGN else each for each in (x, y))
        return (x * y + (top << _WORD_BITS | low)) >> _WORD_BITS

    return _exact(exact, a, b, c, d) or opaque(a, b, c, d)


def magnitude(a: Held) -> Held:
    """Return the magnitude of a signed word."""
    return a if a.value.high < _SIGN else _exact(_absolute, a) or opaque(a)


def _absolute(value: int) -> int:
    return SIZE - value if value & _SIGN else value


def count_ones(a: Held) -> Held:
    """Return the number of ones."""
    return _exact(int.bit_count, a) or opaque(a, bounds=(0, _WORD_BITS))


TRUTH = (0, 1)
"""The bounds of a predicate."""


def decided(value: bool) -> Held:
    """Return a predicate that is known."""
    return number(int(value))


def compare(relation: str, a: Held, b: Held, signed: bool) -> Held:
    """Return how two words compare.

    A word that shares all but its lowest bits compares with a multiple of 2 to the number of these as its common part does: so threads
    agree on `i < n` where n is a multiple of 32 and i is 32 w + lane.
    """
    holds = _RELATIONS[relation]

    def exact(x: int, y: int) -> int:
        return int(holds(_signed(x), _signed(y)) if signed else holds(x, y))

    known = _exact(exact, a, b) or _by_bounds(relation, a.value, b.value, signed)
    if known is not None:
        return known
    x, y = a.value, b.value
    if not x.varies and not y.varies:
        return _truth(a, b)
    if relation in {"EQ", "NE"}:
        apart = distances(x, y)
        if rows_of(x, y) is None and (apart is None or alike(apart) is None):
            return Held(word(0, 1, None, TRUTH), _union((a, b)))
        never = not x.base and not y.base and _never_equal(x, y)
        return decided(relation == "NE") if never else Held(word(0, 1, None, TRUTH), None)
    together = _common_side(relation, x, y) or _common_side(_SWAPPED[relation], y, x)
    return Held(word(0, 1, None, TRUTH), _union((a, b)) if together else None)


def _signed(number: int) -> int:
    return number - SIZE if number & _SIGN else number


def _by_bounds(relation: str, x: LaneWord, y: LaneWord, signed: bool) -> Held | None:
    if signed and (x.high >= _SIGN or y.high >= _SIGN):
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
    modulus = min(x.modulus, _power(y.offset - rest) if y.known else y.modulus, _SIGN)
    while modulus > 1:
        if (y.offset - rest) % modulus == 0 and _split(x, modulus, LANES).carries is None:
            return True
        modulus >>= 1
    return False


def choose(condition: Held, first: Held, second: Held) -> Held:
    """Return the first value where a condition holds, else the second."""
    holds = condition.value.constant
    if holds is not None:
        return first if holds else second
    known = _exact(_one_of, condition, first, second)
    if known is not None:
        return known
    if condition.value.known:
        return _picked(condition.value.words, first, second)
    return _made(join(first.value, second.value), condition, first, second)


def _picked(chosen: Lanes, first: Held, second: Held) -> Held:
    """Return one value in some lanes, another in the others, which are in different rows."""
    x, y = first.value, second.value
    if x.base != y.base:
        x, y = loose(x), loose(y)
    pairs = zip(chosen, _words(x, len(chosen)), _words(y, len(chosen)), strict=True)
    words = tuple([left if holds else right for holds, left, right in pairs])
    tables = [table for table in (chosen, x.rows, y.rows) if table is not None]
    bounds = min(x.low, y.low), max(x.high, y.high)
    return _made(word(0, min(x.modulus, y.modulus), words, bounds, x.base, alike(*tables)), first, second)


def _one_of(chosen: int, first: int, second: int) -> int:
    return first if chosen else second


def _logic(function: Callable[..., int], *inputs: Held) -> Held:
    """Return a function of predicates; one that the known ones decide needs no others."""
    known = _exact(function, *inputs)
    if known is not None:
        return known
    choices = [TRUTH if each.value.constant is None else (each.value.constant,) for each in inputs]
    results = {function(*chosen) for chosen in product(*choices)}
    return number(results.pop()) if len(results) == 1 else _truth(*inputs)


def conjunction(a: Held, b: Held) -> Held:
    """Return whether both hold."""
    return _logic(operator.and_, a, b)


def disjunction(a: Held, b: Held) -> Held:
    """Return whether one of them holds."""
    return _logic(operator.or_, a, b)


def difference(a: Held, b: Held) -> Held:
    """Return whether exactly one of them holds."""
    return _logic(operator.xor, a, b)


def negation(a: Held) -> Held:
    """Return whether it does not hold."""
    return _logic(_opposite, a)


def _opposite(value: int) -> int:
    return 1 - value


def same(a: Held, b: Held) -> Held:
    """Return whether both hold, or neither."""
    return negation(difference(a, b))


def plop3(a: Held, b: Held, c: Held, table: int) -> Held:
    """Return a function of three predicates by its truth table."""
    return _logic(partial(_row, table), a, b, c)


def _row(table: int, a: int, b: int, c: int) -> int:
    return table >> (a << 2 | b << 1 | c) & 1


def _equal(a: Held, b: Held) -> Held:
    return compare("EQ", a, b, signed=False)


def _bit(a: Held) -> Held:
    return a


FUNCTIONS: Mapping[str, Callable[..., Held]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "bit_and": bit_and,
    "bit_or": bit_or,
    "bit_xor": bit_xor,
    "lop3": lop3,
    "shift_left": shift_left,
    "shift_right": shift_right,
    "funnel_left": funnel_left,
    "extract": extract,
    "high": high,
    "abs": magnitude,
    "popc": count_ones,
    "equal": _equal,
    "compare": compare,
    "conjunction": conjunction,
    "disjunction": disjunction,
    "difference": difference,
    "negation": negation,
    "same": same,
    "plop3": plop3,
    "bit": _bit,
}
"""Functions of values alone; those that read operands as they stand are in `patterns.py`. What is in neither leaves its result unknown."""
UNKNOWN_HELD = Held(UNKNOWN, None)
