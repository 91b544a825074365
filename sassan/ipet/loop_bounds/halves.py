"""Searches by halves: an interval whose ends are kept in two registers, or the length of one, until nothing is left of it.

Let D(k), a word read as a number without a sign, be the length at the k-th visit of the head: the word high - low, or the word of one
register. Every way back leaves floor(D / 2) + c of it, D - floor(D / 2) + c, D + c or c: functions of D that never fall, whatever low and
high are. Let every D(k) from which a back edge is taken be `least` or more, which each way has found of D(k), or all ways of what they
leave and the entries of D(0). If no function is below 0 at `least`, no difference of words wraps around, and by induction D(k) is at most
w(...w(D(0))), with w the greatest of the functions at each point: as many back edges are taken at most as it takes until that is below
`least`. Where nothing is known of D(0), the same holds from D(1) on: that is any word with which a back edge is taken, and one more is
taken. An arithmetic shift halves a number with a sign: then every D(k) must be below 2^31.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sassan.domains import ranges
from sassan.ipet.loop_bounds.conditions import NOT_EQUAL
from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.values import Half, Origins, SymbolicState, UnknownWord, Value, constant

_GREATEST = ranges.SIZE - 1
_LAST_PLACE = 31
_MOST_HALVINGS = 128
"""A length that lasts longer is not halved, but counted down."""
_MOST_ENDS = 8
"""Registers with a middle of one loop that are looked at."""
_RISING = frozenset({(0, 0), (1, 0), (0, 1), (1, -1)})
"""So many lengths and halves of it are a function that never falls."""
Ends = tuple[int | None, int]
"""The registers of the lower and of the upper end of an interval; None: the lower one is 0."""


@dataclass(frozen=True, slots=True)
class _Way:
    """What a way back leaves of a length D: `whole` times D, `halves` times floor(D / 2), and `more`."""

    whole: int
    halves: int
    more: int
    signed: bool
    least: int
    """What it has found D to be at least; 0: nothing."""
    most: int
    """What it has found D to be at most."""
    late: tuple[int, int]
    """What it has found of what it leaves: at least, at most."""

    def __call__(self, length: int) -> int:
        return self.whole * length + self.halves * (length // 2) + self.more


def halves_bound(
    node: int, head: SymbolicState, entries: Sequence[SymbolicState], back: Sequence[SymbolicState]
) -> tuple[Ends, LoopBound] | None:
    """Return the registers whose interval every way back to the head `node` halves, and the bound; None where there are none."""
    for low, high in _candidates(node, head, back):
        ends = (None if low is None else low.register, high.register)
        ways = [_way(state, low, high) for state in back]
        known = [way for way in ways if way is not None]
        pairs = [(state, _ends(state, low, high)) for state in entries]
        begins = [(*_within(state, state.minus(pair[1], pair[0]), *pair), pair) for state, pair in pairs if pair is not None]
        if len(known) < len(ways) or len(begins) < len(pairs):
            continue
        most = max(begin[1] for begin in begins)
        bound = _iterations(known, min(begin[0] for begin in begins), most)
        if bound is None:
            continue
        origins: Origins = frozenset().union(*(end.origins for *_, pair in begins for end in pair))
        # Words have 32 bits: a bound by that rests on nothing that is not given.
        return ends, LoopBound(bound, f"is halved, {most} at first", origins if most < _GREATEST >> 1 else frozenset())
    return None


def _candidates(node: int, head: SymbolicState, back: Sequence[SymbolicState]) -> Iterator[tuple[UnknownWord | None, UnknownWord]]:
    seen: dict[tuple[UnknownWord | None, UnknownWord], None] = {}
    for state in back:
        for register in head.registers:
            late = state.registers.get(register)
            made = late.symbol if isinstance(late, Value) else None
            if made is None:
                continue
            if made.mean is not None and made.mean.whole.difference is not None:
                seen[made.mean.whole.difference[::-1]] = None
            for half in (made.half, made.rest):
                if half is not None and half.whole.head == node:
                    seen[None, half.whole] = None
    for low, high in list(seen)[:_MOST_ENDS]:
        if high.head == node and (low is None or low.head == node):
            yield low, high


def _ends(state: SymbolicState, low: UnknownWord | None, high: UnknownWord) -> tuple[Value, Value] | None:
    """Return the ends of the interval that a state has in the registers of two words."""
    above = state.registers.get(high.register)
    below = constant(0) if low is None else state.registers.get(low.register)
    return (below, above) if isinstance(below, Value) and isinstance(above, Value) else None


def _way(state: SymbolicState, low: UnknownWord | None, high: UnknownWord) -> _Way | None:
    ends = _ends(state, low, high)
    if ends is None:
        return None
    below, above = ends
    upper, lower = _place(above, low, high), _place(below, low, high)
    if upper is None or lower is None:
        return None
    (whole, halves, more, signs), (less_whole, less_halves, less, other_signs) = upper, lower
    shape = whole - less_whole, halves - less_halves
    if shape not in _RISING:
        return None
    least, most = _begun_with(state, low, high)
    return _Way(
        *shape,
        more - less,
        signs or other_signs,
        least,
        most,
        _within(state, state.minus(above, below), below, above),
    )


def _place(value: Value, low: UnknownWord | None, high: UnknownWord) -> tuple[int, int, int, bool] | None:
    """Return where a word is in an interval: so many lengths, halves and ones above its lower end, and whether the half has a sign."""
    more, word = value.range.constant, value.symbol
    if more is None or value.factor != int(word is not None):
        return None
    more = ranges.signed(more)
    if word is low or word is high:
        return int(word is high), 0, more, False
    assert word is not None
    half, rest = (word.half, word.rest) if low is None else (word.mean, None)
    if half is not None and _is_of(half, low, high):
        return 0, 1, more, half.is_signed
    if rest is not None and _is_of(rest, low, high):
        return 1, -1, more, rest.is_signed
    return None


def _is_of(half: Half, low: UnknownWord | None, high: UnknownWord) -> bool:
    return half.whole is high if low is None else half.whole.difference == (high, low)


def _begun_with(state: SymbolicState, low: UnknownWord | None, high: UnknownWord) -> tuple[int, int]:
    """Return the least and the greatest length that a way may have begun with."""
    if low is None:
        return state.facts.get(high, high.range).unsigned
    words = [Value(word, 1, ranges.const(0)) for word in (low, high)]
    least, most = _within(state, state.minus(words[1], words[0]), *words)
    for symbol, known in state.facts.items():
        if symbol.difference == (high, low):
            below, above = known.unsigned
            least, most = max(least, below), min(most, above)
    return least, most


def _within(state: SymbolicState, length: Value, low: Value, high: Value) -> tuple[int, int]:
    """Return the least and the greatest length from one word to another one, by what a path has found of them."""
    least, most = state.range_of(length).unsigned
    for atom in state.atoms:
        if _is_same(atom.left, low) and _is_same(atom.right, high) and atom.relation in {"<", "<="}:
            # Numbers that far apart are as far apart as words, if no word could be.
            farthest = _numbers(state, high, is_signed=atom.is_signed)[1] - _numbers(state, low, is_signed=atom.is_signed)[0]
            least, most = max(least, int(atom.relation == "<")), min(most, max(0, farthest))
        elif atom.relation in {"<", NOT_EQUAL} and any(
            _is_same(atom.left, a) and _is_same(atom.right, b) for a, b in ((low, high), (high, low))
        ):
            least = max(least, 1)
    return least, most


def _numbers(state: SymbolicState, value: Value, *, is_signed: bool) -> tuple[int, int]:
    """Return the least and the greatest number that a word is, by its range and by what a path has compared it with."""
    least, most = state.range_of(value).view(is_signed)
    for atom in state.atoms:
        if atom.is_signed != is_signed or atom.relation not in {"<", "<="}:
            continue
        if _is_same(atom.right, value):
            least = max(least, state.range_of(atom.left).view(is_signed)[0] + (atom.relation == "<"))
        elif _is_same(atom.left, value):
            most = min(most, state.range_of(atom.right).view(is_signed)[1] - (atom.relation == "<"))
    return least, most


def _is_same(value: Value, other: Value) -> bool:
    """Say whether two values are one word."""
    alike = (value.symbol is other.symbol, value.factor, value.range) == (True, other.factor, other.range)
    return value is other or (alike and value.range.constant is not None)


def _iterations(ways: Sequence[_Way], first: int, most: int) -> int | None:
    """Return how many back edges a length takes that is first so many at least, and at most; None where it need not become less."""
    smallest, late, late_most = min(way.least for way in ways), min(way.late[0] for way in ways), max(way.late[1] for way in ways)
    most = min(most, max(way.most for way in ways))  # from a greater one no back edge is taken
    if least := max(smallest, min(first, late)):
        return _halvings(ways, least, most)
    # Nothing is known of the first length: it may be 0, and what that leaves any word with which a back edge is taken.
    later = _halvings(ways, late, late_most) if late else None
    return None if later is None else later + 1


def _halvings(ways: Sequence[_Way], least: int, most: int) -> int | None:
    """Return how many back edges are taken at most from a length of so many on, if they are taken from `least` on alone."""
    if any(way(least) < 0 for way in ways) or (any(way.signed for way in ways) and most >> _LAST_PLACE):
        return None
    count, length = 0, most
    while length >= least:
        left = max(way(length) for way in ways)
        if left >= length or count == _MOST_HALVINGS:
            return None
        count, length = count + 1, left
    return count
