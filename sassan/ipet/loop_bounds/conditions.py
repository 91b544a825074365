"""Deciding and assuming conditions: what a path that takes a branch knows afterwards."""

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.values import (
    ANY,
    NO,
    YES,
    Atom,
    Both,
    Compare,
    Known,
    Maybe,
    SymbolicState,
    Truth,
    UnknownWord,
    Value,
    unknown,
)

LESS, AT_MOST, EQUAL = "<", "<=", "=="
NOT_EQUAL = "!="
_GREATEST = (1 << 32) - 1
_HALF = 1 << 31
_HARDLY_KNOWN = 1 << 20
"""A word of more than so many is hardly known."""
_FEW = 8
"""Words that are looked at one by one."""


def compare(state: SymbolicState, relation: str, left: Value, right: Value, *, is_signed: bool) -> Truth:
    """Return a comparison, decided where the ranges allow it."""
    known = _decide(state, relation, left, right, is_signed=is_signed)
    if known is not None:
        return YES if known else NO
    return _of_bit(relation, left, right, is_signed=is_signed) or Truth(Compare(relation, is_signed, left, right))


def _of_bit(relation: str, left: Value, right: Value, *, is_signed: bool) -> Truth | None:
    """Return what a comparison of a number with the bit of a condition says of that condition; None for any other comparison."""
    symbols = [value.symbol for value in (left, right) if value.symbol is not None]
    truth = symbols[0].truth if len(symbols) == 1 else None
    if truth is None or left.range.width or right.range.width:
        return None
    outcomes = tuple(
        _decide(
            SymbolicState(),
            relation,
            *(Value(None, 0, ranges.add(ranges.const(value.factor * bit), value.range)) for value in (left, right)),
            is_signed=is_signed,
        )
        for bit in (0, 1)
    )
    if outcomes[0] == outcomes[1]:
        return YES if outcomes[1] else NO
    return truth if outcomes[1] else truth.negate()


def _decide(state: SymbolicState, relation: str, left: Value, right: Value, *, is_signed: bool) -> bool | None:
    distance = state.range_of(state.minus(right, left))
    if distance.constant == 0:
        return relation != LESS
    if relation == EQUAL:
        return None if distance.holds(0) else False
    words, others = state.range_of(left), state.range_of(right)
    low, high = words.view(is_signed)
    other_low, other_high = others.view(is_signed)
    exact = high - low == words.width and other_high - other_low == others.width
    if left.symbol is right.symbol and exact and max(high, other_high) - min(low, other_low) < _HALF:
        # Neither wraps around, and they differ by less than half of all words: so do their numbers.
        return _decide_distance(relation, distance)
    if relation == LESS:
        return True if high < other_low else False if low >= other_high else None
    return True if high <= other_low else False if low > other_high else None


def _decide_distance(relation: str, distance: Range) -> bool | None:
    least, most = distance.signed
    if relation == LESS:
        return True if least > 0 else False if most <= 0 else None
    return True if least >= 0 else False if most < 0 else None


def assume(state: SymbolicState, truth: Truth, wanted: bool, limit: int) -> list[SymbolicState]:
    """Return the states in which a condition has a truth: none where it cannot, several (at most `limit`) where there are several cases."""
    condition = truth.what
    if isinstance(condition, bool):
        return [state] if condition == wanted else []
    if condition is ANY.what:
        return [state]
    wanted = wanted != truth.negated
    if condition in state.decided:
        return [state] if state.decided[condition] == wanted else []
    decided = SymbolicState(state.registers, state.facts, {**state.decided, condition: wanted}, state.atoms)
    match condition:
        case Maybe():
            return [decided]
        case Compare():
            refined = _refined(decided, condition, wanted)
            return [] if refined is None else [refined]
        case Both():
            return _both(decided, condition, wanted, limit)


def _both(decided: SymbolicState, condition: Both, wanted: bool, limit: int) -> list[SymbolicState]:
    first, second = condition.first, condition.second
    if wanted:
        return [late for early in assume(decided, first, True, limit) for late in assume(early, second, True, limit)]
    left = assume(decided, first, False, limit)
    right = [late for early in assume(decided, first, True, limit) for late in assume(early, second, False, limit)]
    if not left or not right or len(left) + len(right) <= limit:
        return left + right
    return [decided]


def _refined(state: SymbolicState, comparison: Compare, wanted: bool) -> SymbolicState | None:
    """Return the state that knows of a comparison that it holds, or does not; None where that cannot be."""
    relation, left, right = comparison.relation, comparison.left, comparison.right
    if not wanted:
        relation, left, right = _opposite(relation, left, right)
    known = _decide(state, EQUAL if relation == NOT_EQUAL else relation, left, right, is_signed=comparison.is_signed)
    if known is (relation == NOT_EQUAL):
        return None
    atom = Atom(relation, comparison.is_signed, left, right)
    out: SymbolicState | None = SymbolicState(state.registers, state.facts, state.decided, (*state.atoms, atom))
    for value, other, flipped in ((left, right, False), (right, left, True)):
        out = None if out is None else _narrow(out, value, (relation, comparison.is_signed, flipped), out.range_of(other))
    return None if out is None else _apart(out, atom)


def _apart(state: SymbolicState, atom: Atom) -> SymbolicState:
    """Return the state that knows how far two words are apart of which one is less than the other one."""
    left, right = atom.left, atom.right
    plain = (left.factor, right.factor) == (1, 1) and left.range.constant is not None and right.range.constant is not None
    if atom.relation not in {LESS, AT_MOST} or not plain or left.symbol is None or right.symbol is None or left.symbol is right.symbol:
        return state
    least, most = int(atom.relation == LESS), state.range_of(right).view(atom.is_signed)[1] - state.range_of(left).view(atom.is_signed)[0]
    if not least <= most <= _GREATEST:
        return state
    distance = right.symbol.minus(left.symbol, make=True)
    assert distance is not None
    # right - left is the difference of the symbols and of what is added to them.
    words = ranges.add(ranges.span(least, most), ranges.add(left.range, ranges.negate(right.range)))
    old = state.facts.get(distance, distance.range)
    return (
        SymbolicState(state.registers, {**state.facts, distance: words}, state.decided, state.atoms) if words.width < old.width else state
    )


def _opposite(relation: str, left: Value, right: Value) -> tuple[str, Value, Value]:
    match relation:
        case "<":
            return AT_MOST, right, left
        case "<=":
            return LESS, right, left
        case _:
            return NOT_EQUAL, left, right


def _narrow(state: SymbolicState, value: Value, how: tuple[str, bool, bool], other: Range) -> SymbolicState | None:
    """Return the state with a narrower range of the symbol of a value, None where nothing is left."""
    symbol = value.symbol
    if symbol is None:
        return state
    narrowed: SymbolicState | None = state
    parts = symbol.sum or ()
    for place, (part, factor) in enumerate(parts):
        if narrowed is not None:
            others = ranges.scale(narrowed.range_of_sum((*parts[:place], *parts[place + 1 :])), value.factor)
            narrowed = _narrow(narrowed, Value(part, ranges.signed(factor * value.factor), ranges.add(others, value.range)), how, other)
    return None if narrowed is None else _narrow_symbol(narrowed, value, symbol, how, other)


def _narrow_symbol(
    state: SymbolicState, value: Value, symbol: UnknownWord, how: tuple[str, bool, bool], other: Range
) -> SymbolicState | None:
    if value.factor not in {1, -1}:
        return _narrow_few(state, value, symbol, how, other)
    words = _cut(state.range_of(value), how[0], other, is_signed=how[1], flipped=how[2])
    if words is None:
        return None
    # The symbol is one of these words minus one of the range, or the negative of that.
    narrower = ranges.scale(ranges.add(words, ranges.negate(value.range)), value.factor)
    old = state.range_of(Value(symbol, 1, ranges.const(0)))
    return (
        SymbolicState(state.registers, {**state.facts, symbol: narrower}, state.decided, state.atoms)
        if narrower.width < old.width
        else state
    )


def _narrow_few(state: SymbolicState, value: Value, symbol: UnknownWord, how: tuple[str, bool, bool], other: Range) -> SymbolicState | None:
    """Return the state without those words at the ends of a short range of a symbol that a comparison of its multiple excludes."""
    old = state.facts.get(symbol, symbol.range)
    step = old.step or 1
    if old.width // step >= _FEW:
        return state
    words = range(old.low, old.low + old.width + 1, step)
    multiples = [ranges.add(ranges.const(word * value.factor), value.range) for word in words]
    left = [
        word
        for word, multiple in zip(words, multiples, strict=True)
        if _cut(multiple, how[0], other, is_signed=how[1], flipped=how[2]) is not None
    ]
    if not left:
        return None
    narrower = ranges.span(left[0], left[-1], step)
    return (
        SymbolicState(state.registers, {**state.facts, symbol: narrower}, state.decided, state.atoms)
        if narrower.width < old.width
        else state
    )


def _cut(words: Range, relation: str, other: Range, *, is_signed: bool, flipped: bool) -> Range | None:
    low, high = other.view(is_signed)
    least, most = (-(1 << 31), (1 << 31) - 1) if is_signed else (0, _GREATEST)
    strict = relation == LESS
    match relation:
        case "!=":
            return words if other.constant is None else ranges.without(words, other.constant)
        case "==":
            return ranges.between(words, low, high, is_signed=is_signed)
        case _ if flipped:
            return ranges.between(words, low + strict, most, is_signed=is_signed)
        case _:
            return ranges.between(words, least, high - strict, is_signed=is_signed)


def chosen(state: SymbolicState, truth: Truth, known: Known, *, holds: bool) -> Known:
    """Return the smaller or the greater one of two words that a condition compares, on the path on which it `holds` or does not.

    Where what is known of one word cannot say by how much the path narrows a sum, the result is a word of its own: max(0, x + y - z) is at
    least 0.
    """
    compared = truth.what
    if not isinstance(compared, Compare) or not isinstance(known, Value) or compared.relation not in {LESS, AT_MOST}:
        return known
    is_true, is_signed = holds != truth.negated, compared.is_signed
    left, right = (compared.left, compared.right) if is_true else (compared.right, compared.left)
    strict = (compared.relation == LESS) == is_true
    words = state.range_of(known)
    least, most = words.view(is_signed)
    if known == left:
        most = min(most, state.range_of(right).view(is_signed)[1] - strict)
    elif known == right:
        least = max(least, state.range_of(left).view(is_signed)[0] + strict)
    narrowed = words.width > _HARDLY_KNOWN and least <= most and most - least <= words.width >> 1
    return unknown(ranges.span(least, most), known.origins) if narrowed else known
