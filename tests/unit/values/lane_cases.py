"""Words of a warp as 32 numbers: what the words of `domains/lanes.py` stand for, and arguments for the functions over them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import strategies as st

from sassan.domains.lanes import LANES, LAST, SIZE, LaneWord, const, follows, word
from sassan.values.lanes.abstract_word import AbstractWord
from sassan.values.lanes.abstract_word import number as known

SIGN = 1 << 31
RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}


def signed(number: int) -> int:
    """Return a word as a signed number."""
    return number - SIZE if number & SIGN else number


def _looked_up(table: int, *words: int) -> int:
    out = 0
    for place in range(32):
        row = sum((each >> place & 1) << shift for each, shift in zip(words, (2, 1, 0), strict=True))
        out |= (table >> row & 1) << place
    return out


def _shifted_right(a: int, places: int, is_signed: bool) -> int:
    return (signed(a) if is_signed else a) >> places


def _high(a: int, b: int, low: int, top: int, is_signed: bool) -> int:
    factors = (signed(a), signed(b)) if is_signed else (a, b)
    return (factors[0] * factors[1] + (top << 32) + low) >> 32


def _compared(relation: str, a: int, b: int, is_signed: bool) -> int:
    return int(RELATIONS[relation](signed(a), signed(b)) if is_signed else RELATIONS[relation](a, b))


def _extended(relation: str, a: int, b: int, low: int, is_signed: bool) -> int:
    """Return how pairs compare with these high words, whose low words compare so: of unequal high words these alone decide."""
    return low if a == b else _compared(relation, a, b, is_signed)


REFERENCES: Mapping[str, tuple[str, Callable[..., int]]] = {
    "add": ("ww", lambda a, b: a + b),
    "subtract": ("ww", lambda a, b: a - b),
    "multiply": ("ww", lambda a, b: a * b),
    "bit_and": ("ww", lambda a, b: a & b),
    "bit_or": ("ww", lambda a, b: a | b),
    "bit_xor": ("ww", lambda a, b: a ^ b),
    "lop3": ("www8", lambda a, b, c, table: _looked_up(table, a, b, c)),
    "shift_left": ("wn", lambda a, places: a << places),
    "shift_right": ("wns", _shifted_right),
    "funnel_left": ("wwn", lambda top, low, places: (top << 32 | low) << places >> 32),
    "extract": ("wf", lambda a, field: a >> (field & 255) & (1 << (field >> 8)) - 1),
    "high": ("wwwws", _high),
    "abs": ("w", lambda a: abs(signed(a))),
    "popc": ("w", int.bit_count),
    "equal": ("ww", lambda a, b: int(a == b)),
    "compare": ("rwws", _compared),
    "extended": ("rwwts", _extended),
    "conjunction": ("tt", lambda a, b: a & b),
    "disjunction": ("tt", lambda a, b: a | b),
    "difference": ("tt", lambda a, b: a ^ b),
    "negation": ("t", lambda a: 1 - a),
    "same": ("tt", lambda a, b: int(a == b)),
    "plop3": ("ttt8", lambda a, b, c, table: _looked_up(table, a, b, c) & 1),
    "bit": ("t", lambda a: a),
    "lane": ("w", lambda a: a),
    "picked": ("w", lambda a: a),
    "shuffled": ("w", lambda a: a),
    "carry": ("swsw", lambda takes_a, a, takes_b, b: int((SIZE - a if takes_a else a) + (SIZE - b if takes_b else b) >= SIZE)),
    "divide": ("wd", lambda a, divisor: a // divisor),
    "modulo": ("wd", lambda a, divisor: a % divisor),
    "choose": ("tww", lambda chosen, a, b: a if chosen else b),
}
"""Kinds of the arguments of each function, and what it computes of numbers.

w word, t predicate, n places, s whether signed, r relation, 8 truth table, f field, d divisor.
"""


@dataclass(frozen=True)
class Argument:
    """A word and what lanes hold, those of one warp or of as many as its tables are for.

    `shared` says that the lanes of each row of a warp have the same rest.
    """

    held: AbstractWord
    words: tuple[int, ...]
    shared: bool


@dataclass(frozen=True)
class Case:
    """A call: arguments, or what the instruction fixes; only the lanes in `live` exist, which are all of one warp."""

    arguments: tuple[Any, ...]
    live: tuple[int, ...]
    bases: Mapping[str, int]

    def complaint(self, function: Callable[..., AbstractWord], reference: Callable[..., int]) -> str:
        """Return what is wrong with the result of a function, '' where nothing is."""
        held = function(*[each.held if isinstance(each, Argument) else each for each in self.arguments])
        words = {
            lane: reference(*[each.words[lane] if isinstance(each, Argument) else each for each in self.arguments]) & LAST
            for lane in self.live
        }
        for lane, number in words.items():
            if not contains(held.value, lane, number, self.bases):
                return f"{number:#x} in lane {lane} is not in {held.value}"
        arguments = [each for each in self.arguments if isinstance(each, Argument)]
        if held.needs is None or not all(each.shared for index, each in enumerate(arguments) if held.needs >> index & 1):
            return ""
        rests = {(row(held.value, lane), rest(held.value, lane, number)) for lane, number in words.items()}
        same = len(rests) == len({row(held.value, lane) for lane in words})
        return "" if same else f"lanes differ in more than {held.value}: {words}"


def row(value: LaneWord, lane: int) -> int:
    """Return the row of a lane."""
    return 0 if value.rows is None else value.rows[lane]


def rest(value: LaneWord, lane: int, number: int) -> int:
    """Return what a number of a lane is without what the lane adds."""
    return (number - (value.lanes[lane] if value.lanes is not None else 0)) & LAST


def contains(value: LaneWord, lane: int, number: int, bases: Mapping[str, int]) -> bool:
    """Say whether a lane may hold a number."""
    left = rest(value, lane, number) - value.offset - (bases[value.base] if value.base else 0)
    return left % value.modulus == 0 and value.low <= number <= value.high


def join_complaint(
    case: Case, join: Callable[[LaneWord, LaneWord], LaneWord], follows: Callable[[LaneWord, LaneWord], bool] = follows
) -> str:
    """Return what is wrong with the join of two words, '' where nothing is."""
    a, b = (argument.held.value for argument in case.arguments)
    both = join(a, b)
    for argument in case.arguments:
        for lane in case.live:
            if not contains(both, lane, argument.words[lane], case.bases):
                return f"{argument.words[lane]:#x} in lane {lane} is not in {both}"
    # Lanes of one row that agree on either word agree on both.
    for value, argument in zip((a, b), case.arguments, strict=True):
        if argument.shared and follows(value, both):
            rests = {(row(both, lane), rest(both, lane, argument.words[lane])) for lane in case.live}
            if len(rests) > len({row(both, lane) for lane in case.live}):
                return f"lanes that agree on {value} differ in more than {both}"
    return ""


_LINE = tuple(range(LANES))


def tail_complaints(compare: Callable[..., AbstractWord]) -> Iterator[str]:
    """Yield what is wrong with comparisons of 32 w + lane with numbers near its ends, known or known but for multiples of 32."""
    rows = [AbstractWord(word(0, 32, _LINE), 1)]
    ends = [AbstractWord(const(n), 0) for n in (*range(-34, 35), *range(SIGN - 34, SIGN + 35))] + [
        AbstractWord(word(n, 32, None), 2) for n in range(32)
    ]
    for relation, is_signed, row, end in product(RELATIONS, (False, True), rows, ends):
        for first, second in ((row, end), (end, row)):
            held = compare(relation, first, second, is_signed)
            for u in (-64, -32, 0, 32, SIGN - 32, SIGN):
                for n in (end.value.offset,) if end.value.known else (end.value.offset + u, end.value.offset):
                    pairs = [((u + lane) & LAST, n & LAST)[:: 1 if first is row else -1] for lane in _LINE]
                    truths = [_compared(relation, *pair, is_signed) for pair in pairs]
                    if not all(contains(held.value, lane, truth, {}) for lane, truth in enumerate(truths)):
                        yield f"{relation} of {pairs[0]} and so on is {truths}, not {held}"
                    if held.needs is not None and len({rest(held.value, lane, truth) for lane, truth in enumerate(truths)}) > 1:
                        yield f"{relation} of {pairs[0]} and so on is {truths}, and lanes are to agree"


def index_complaint(block: tuple[int, int, int], axis: int, thread_index: Callable[[tuple[int, int, int], int], LaneWord]) -> str:
    """Return what is wrong with the index of threads along an axis of a block, '' where nothing is."""
    value = thread_index(block, axis)
    count = len(value.lanes or range(LANES))
    rests: dict[int, set[int]] = {}
    for z, y, x in product(*map(range, reversed(block))):
        thread = (z * block[1] + y) * block[0] + x
        number = (x, y, z)[axis]
        if not contains(value, thread % count, number, {}):
            return f"{number} of thread {thread} is not in {value}"
        rests.setdefault(thread // LANES, set()).add(rest(value, thread % count, number))
    return "" if all(len(each) == 1 for each in rests.values()) else f"lanes differ in more than {value.lanes}"


numbers = st.sampled_from([0, 1, 2, 5, 31, 32, 63, 64, 96, SIGN - 1, SIGN, SIGN + 32, SIZE - 64, SIZE - 32, SIZE - 31, LAST])
any_number = numbers | st.integers(0, LAST)
_factors = st.sampled_from([1, 1, 1, 2, 4, 33, 1 << 5, 1 << 16, 1 << 26, 1 << 30, LAST])
_shapes = st.sampled_from(
    [
        tuple(range(LANES)),
        tuple(range(LANES)),
        tuple(lane % 16 for lane in range(LANES)),
        tuple(lane >> 3 for lane in range(LANES)),
        tuple(31 - lane for lane in range(LANES)),
        tuple(int(lane == 0) for lane in range(LANES)),
        tuple(lane ^ 5 for lane in range(LANES)),
    ]
)
_few = st.lists(any_number, min_size=4, max_size=4).map(lambda few: tuple(few[lane * lane // 7 % 4] for lane in range(LANES)))
_lanes = st.none() | st.builds(lambda shape, factor: tuple(lane * factor & LAST for lane in shape), _shapes, _factors) | _few
_counts = st.integers(-2, 3) | st.sampled_from([1 << 26, 1 << 30, LAST]) | st.integers(0, LAST)
_bases = st.sampled_from(["", "", "", "p", "q"])


@dataclass(frozen=True)
class Scale:
    """Where the numbers of a case are drawn from."""

    offsets: st.SearchStrategy[int]
    moduli: st.SearchStrategy[int]
    lanes: st.SearchStrategy[tuple[int, ...] | None]
    counts: st.SearchStrategy[int]
    bases: st.SearchStrategy[str]


SCALES = st.sampled_from(
    [
        Scale(numbers, st.sampled_from([1, 2, 8, 32, 32, 64, 1 << 16, SIGN, SIZE, SIZE]), _lanes, _counts, _bases),
        # Numbers that are near to each other.
        Scale(
            st.sampled_from([0, 0, 1, 5, 31, 32, 64]),
            st.sampled_from([8, 32, 32, 64, SIZE, SIZE]),
            st.none() | _shapes,
            st.integers(0, 2),
            st.just(""),
        ),
    ]
)
_tightness = st.sampled_from(["tight", "tight", "low", "high", "open"])
_rows = st.sampled_from(
    [
        *[None] * 5,
        tuple(lane >> 4 for lane in range(LANES)),
        tuple(lane % 4 for lane in range(LANES)),
        tuple(int(lane > 20) for lane in range(LANES)),
    ]
)
_live = st.sampled_from([tuple(range(LANES)), tuple(range(LANES)), tuple(range(24)), (3,), (1, 30), (0, 31)])
_warps = st.sampled_from([1, 1, 1, 2])
_some_bases = st.fixed_dictionaries({"p": any_number, "q": any_number})


def _made(value: LaneWord, words: tuple[int, ...], live: tuple[int, ...], tightness: str) -> LaneWord:
    inside = [words[lane] for lane in live]
    low = min(inside) if tightness in {"tight", "low"} else 0
    return value._replace(low=low, high=max(inside) if tightness in {"tight", "high"} else LAST)


@dataclass(frozen=True)
class Warps:
    """For how many warps tables are, and the lanes of one of them that exist."""

    count: int
    live: tuple[int, ...]


def _tables(draw: st.DrawFn, table: tuple[int, ...] | None, warps: Warps) -> tuple[int, ...] | None:
    """Return a table for so many warps, where the others may be moved."""
    if table is None or warps.count == 1:
        return table
    return table + tuple(draw(numbers) + each & LAST for each in draw(st.sampled_from([table, table, table[::-1]])))


@st.composite
def _argument(draw: st.DrawFn, index: int, warps: Warps, bases: Mapping[str, int], scale: Scale) -> Argument:
    rows = draw(_rows)
    lanes = _tables(draw, draw(scale.lanes), warps)
    value = word(draw(scale.offsets), draw(scale.moduli), lanes, (0, LAST), draw(scale.bases), rows and rows * warps.count)
    shared = draw(st.booleans())
    counts = [draw(scale.counts) for _ in range(4)]
    base = bases[value.base] if value.base else 0
    offsets = value.words if value.lanes else (value.offset,) * LANES * warps.count
    words = tuple(
        (base + counts[row(value, lane) if shared else lane * lane % 3] * value.modulus + each) & LAST for lane, each in enumerate(offsets)
    )
    value = _made(value, words, warps.live, draw(_tightness))
    shared = shared or value.modulus == SIZE
    needs = 0 if value.known else draw(st.sampled_from([1 << index, 1 << index, 0 if shared else None]))
    return Argument(AbstractWord(value, needs), words, shared)


@st.composite
def _predicate(draw: st.DrawFn, index: int, warps: Warps) -> Argument:
    kind = draw(st.sampled_from(["constant", "lanes", "shared", "each"]))
    few = draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
    words = tuple(few[lane * lane // 7 % 4] if kind in {"lanes", "each"} else few[0] for lane in range(LANES * warps.count))
    if kind in {"shared", "each"}:
        return Argument(AbstractWord(word(0, 1, None, (0, 1)), 1 << index), words, kind == "shared")
    return Argument(AbstractWord(_made(word(0, SIZE, words), words, warps.live, "tight"), 0), words, shared=True)


@st.composite
def _places(draw: st.DrawFn, index: int, warps: Warps) -> Argument:
    if draw(st.booleans()):
        places = (draw(st.integers(0, 31)),) * LANES * warps.count
        return Argument(AbstractWord(_made(word(0, SIZE, places), places, warps.live, "tight"), 0), places, shared=True)
    few = draw(st.lists(st.integers(0, 31), min_size=4, max_size=4))
    places = tuple(few[lane % 4] for lane in range(LANES * warps.count))
    known = draw(st.booleans())
    return Argument(
        AbstractWord(
            _made(word(0, SIZE if known else 1, places if known else None), places, warps.live, "tight"), 0 if known else 1 << index
        ),
        places,
        known,
    )


@st.composite
def cases(draw: st.DrawFn, kinds: str) -> Case:
    """Draw a call of a function with arguments of these kinds."""
    count, bases, scale = draw(_warps), draw(_some_bases), draw(SCALES)
    first = draw(st.integers(0, count - 1)) * LANES
    live = tuple(first + lane for lane in draw(_live))
    warps = Warps(count, live)
    arguments: list[Any] = []
    index = 0
    for kind in kinds:
        match kind:
            case "w":
                arguments.append(draw(_argument(index, warps, bases, scale)))
            case "t":
                arguments.append(draw(_predicate(index, warps)))
            case "n":
                arguments.append(draw(_places(index, warps)))
            case "s":
                arguments.append(draw(st.booleans()))
            case "d":
                arguments.append(draw(st.sampled_from([1, 2, 3, 32, 48, 96, 100, 1 << 31]) | st.integers(1, LAST)))
            case "r":
                arguments.append(draw(st.sampled_from(list(RELATIONS))))
            case "8":
                arguments.append(draw(st.integers(0, 255) | st.sampled_from([0xC0, 0xA0, 0x88, 0xF0, 0xFC, 0x3C])))
            case _:
                arguments.append(draw(st.integers(0, 31)) | draw(st.integers(0, 31)) << 8)
        index += isinstance(arguments[-1], Argument)
    return Case(tuple(arguments), live, bases)


def wrapping_shift() -> Case:
    """Return a shift of words that wrap around between two lanes."""
    lanes = tuple(4 * lane for lane in range(LANES))
    words_of_lanes = tuple((lane - 64) & LAST for lane in lanes)
    return Case(
        (Argument(AbstractWord(word(0, 4, lanes), 1), words_of_lanes, shared=True), Argument(known(2), (2,) * LANES, shared=True), False),
        tuple(range(LANES)),
        {},
    )


def mask_of_the_modulus() -> Case:
    """Return a conjunction with the lowest bit of which nothing is known."""
    some = Argument(AbstractWord(word(3, 8, None), 1), (11,) * LANES, shared=True)
    return Case((some, Argument(known(8), (8,) * LANES, shared=True)), tuple(range(LANES)), {})
