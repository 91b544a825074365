"""From one iteration of a loop to the number of its back edges: counters that move one way, and exits that every iteration passes.

Three rules, all over words on the circle of 2^32, so that nothing is assumed about overflow. Let h(k) be what a register holds at the k-th
visit of the head since the loop was entered, k from 0, and let every way back change it by c(k), `least` <= c(k) <= `most`, `least` > 0;
the other direction is the mirror image.

Monotone bound.
Measure h from the least start: q(k) = h(k) - start. Every way back has found h(k) in a set whose part above the start ends at
`top` and whose part below, if it has one, begins at `wrapped` (both measured like q). If every start, and `top` plus `most`, stay below
`wrapped`, then by induction every q(k) does, so q(k) <= top at every back edge; q grows by `least` or more each time, and it never
enters the part below. So at most floor((top - 0) / least) + 1 back edges are taken.

Equality bound.
Every way back has found left != right, where right is the same word all the time and left is h times a factor, plus a number, so
that it moves by the same number c every time. If c divides every possible first distance d = right - left, then left meets right after
d / c iterations: at most max(d) / c back edges are taken.

Distance bound.
Every way back has found h + a < right or h + a <= right, read as numbers of one kind (signed or not), where right is the same word all
the time. Let f be the number of h(0), r that of right, s 1 or 0, and let h grow as in the first rule. Where both are sums of one unknown
word, the begin of a row and its end, r - f may be known much better than r and f are. If no number that h takes wraps around,
h(k) = f + q(k), and q(k) <= r - f - a - s at every back edge: there are at most 1 + (max(r - f) - a - s) / least of them, rounded down. By
induction h(k) is at most t = max(f, r - a - s + most), so nothing wraps around if t, t + a and f + a are numbers of that kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from sassan.domains import ranges
from sassan.domains.ranges import RANGES, SIZE, Range
from sassan.ipet.loop_bounds.values import Both, Compare, Maybe, Origins, SymbolicState, UnknownWord, Value

_HALF = SIZE >> 1


@dataclass(frozen=True, slots=True)
class Counter:
    """A register over one loop: its symbol, its value and range where the loop is entered, and its change on each way back."""

    register: int
    symbol: UnknownWord
    start: Range
    first: Value | None
    steps: tuple[Range, ...]
    origins: Origins = frozenset()

    @property
    def step(self) -> Range:
        """Return every change of one iteration."""
        out = self.steps[0]
        for change in self.steps[1:]:
            out = RANGES.join(out, change)
        return out


@dataclass(frozen=True, slots=True)
class LoopBound:
    """A bound with its argument in words, and what it rests on that is not given."""

    bound: int
    reason: str
    origins: Origins = frozenset()


def counters(node: int, head: SymbolicState, entries: Sequence[SymbolicState], back: Sequence[SymbolicState]) -> list[Counter]:
    """Return the registers that every way back to the head `node` changes by a known amount."""
    out: list[Counter] = []
    if not back:
        return out
    for register, known in sorted(head.registers.items()):
        if not isinstance(known, Value) or known.symbol is None or (known.symbol.head, known.symbol.register) != (node, register):
            continue
        steps = [_step(state, register, known.symbol) for state in back]
        starts = [state.registers.get(register) for state in entries]
        if any(step is None for step in steps) or not all(isinstance(value, Value) for value in starts):
            continue
        start = _all([state.range_of(value) for state, value in zip(entries, starts, strict=True) if isinstance(value, Value)])
        first = starts[0] if all(value == starts[0] for value in starts) and isinstance(starts[0], Value) else None
        origins: Origins = frozenset().union(*(value.origins for value in starts if isinstance(value, Value)))
        out.append(Counter(register, known.symbol, start, first, tuple(step for step in steps if step is not None), origins))
    return out


def _step(state: SymbolicState, register: int, symbol: UnknownWord) -> Range | None:
    known = state.registers.get(register)
    return known.range if isinstance(known, Value) and known.symbol is symbol and known.factor == 1 else None


def _all(parts: Sequence[Range]) -> Range:
    out = parts[0]
    for part in parts[1:]:
        out = RANGES.join(out, part)
    return out


def between(counter: Counter, back: Sequence[SymbolicState]) -> Iterator[Range]:
    """Yield guesses of the words that a counter has at the head: from its start to the last one before or behind a limit."""
    step = ranges.signed(counter.step.constant or 0)
    if not step:
        return
    least, most = counter.start.unsigned
    stride = gcd(step, counter.start.step)
    ends = [limit + more for limit in _limits_of(counter, back) for more in (0, step)]
    if step < 0 < least and counter.start.constant is not None:
        # Most counters that go down end at 0.
        ends.append(least % -step or -step)
    for end in dict.fromkeys(ends):
        down = most - max(0, most - max(0, end)) // stride * stride
        words = ranges.span(least, max(least, end), stride) if step > 0 else ranges.span(down, most, stride)
        if words.width and RANGES.leq(counter.start, words):
            yield words


def _limits_of(counter: Counter, back: Sequence[SymbolicState]) -> Iterator[int]:
    """Yield the numbers that a counter, as it is at the head, is compared with, those first of which the path knows the outcome."""
    sides = [(atom.left, atom.right) for state in back for atom in state.atoms]
    sides += [(each.left, each.right) for state in back for condition in state.decided for each in _comparisons(condition)]
    for first, second in sides:
        for left, right in ((first, second), (second, first)):
            if left.symbol is counter.symbol and left.factor == 1 and left.range.constant is not None and right.constant is not None:
                yield (right.constant - left.range.constant) % SIZE


def _comparisons(condition: Maybe | Compare | Both) -> Iterator[Compare]:
    match condition:
        case Compare():
            yield condition
        case Both(first, second):
            for part in (first.what, second.what):
                if not isinstance(part, bool):
                    yield from _comparisons(part)
        case Maybe():
            return


def monotone_bound(counter: Counter, back: Sequence[SymbolicState]) -> LoopBound | None:
    """Return the bound of the first rule."""
    low, high = counter.step.signed
    if low <= 0 <= high or -_HALF in (low, high):
        return None
    upward = low > 0
    start = counter.start if upward else ranges.negate(counter.start)
    least, most = (low, high) if upward else (-high, -low)
    top, wrapped = 0, SIZE
    for state in back:
        kept = state.facts.get(counter.symbol, counter.symbol.range)
        kept = kept if upward else ranges.negate(kept)
        first, last = (kept.low - start.low) % SIZE, (kept.low + kept.width - start.low) % SIZE
        if kept.width >= SIZE - 1:
            return None
        top = max(top, last)
        wrapped = min(wrapped, first) if first > last else wrapped
    if max(start.width, top + most) >= wrapped:
        return None
    limit = ranges.signed(counter.start.low + top) if upward else ranges.signed(counter.start.low + counter.start.width - top)
    change = str(least) if least == most else f"{least} to {most}"
    direction, relation = ("plus", "at most") if upward else ("minus", "at least")
    text = f"from {_shown(counter.start)}, {direction} {change} per iteration, {relation} {limit}"
    origins: Origins = frozenset().union(*(_reasons(state, counter.symbol) for state in back))
    return LoopBound(top // least + 1, text, origins | counter.origins)


def _reasons(state: SymbolicState, symbol: UnknownWord) -> Origins:
    parts = [atom.left.origins | atom.right.origins for atom in state.atoms if symbol in (atom.left.symbol, atom.right.symbol)]
    return frozenset().union(*parts)


def equality_bound(
    counter: Counter, back: Sequence[SymbolicState], fixed: Sequence[Value], old: frozenset[UnknownWord]
) -> LoopBound | None:
    """Return the bound of the second rule; `fixed` are values that no iteration changes, `old` symbols of one word all the time."""
    step, first = counter.step.constant, counter.first
    if not step or first is None:
        return None
    ways = [_unequal_pairs(counter, state, fixed, old) for state in back]
    shared = [pair for pair in ways[0] if all(any((pair[0] == a and pair[1] is b) or pair == (a, b) for a, b in way) for way in ways[1:])]
    bounds = [_equality_of(counter, step, left, right, back) for left, right in shared]
    return min((bound for bound in bounds if bound is not None), key=lambda bound: bound.bound, default=None)


def distance_bound(
    counter: Counter, back: Sequence[SymbolicState], fixed: Sequence[Value], old: frozenset[UnknownWord]
) -> LoopBound | None:
    """Return the bound of the third rule; `fixed` and `old` as in `equality_bound`."""
    low, high = counter.step.signed
    if counter.first is None or low <= 0 <= high or -_HALF in (low, high):
        return None
    bounds = [_distance_bound(counter, back, fixed, old, is_signed=is_signed) for is_signed in (False, True)]
    return min((bound for bound in bounds if bound is not None), key=lambda bound: bound.bound, default=None)


def _distance_bound(
    counter: Counter, back: Sequence[SymbolicState], fixed: Sequence[Value], old: frozenset[UnknownWord], *, is_signed: bool
) -> LoopBound | None:
    first, sign = counter.first, 1 if counter.step.signed[0] > 0 else -1
    assert first is not None
    least, most = sorted(sign * change for change in counter.step.signed)
    state = _facts_of_all(back)
    starts = _numbers(state, first, sign, is_signed=is_signed)
    ways = [_limits(counter, path, sign, is_signed=is_signed) for path in back]
    limits = [way for way in (next((way for way in each if _is_fixed(way[2], fixed, old)), None) for each in ways) if way is not None]
    if starts is None or len(limits) < len(ways):
        return None
    farthest, top = starts[1], -SIZE
    for added, strict, right in limits:
        ends, distance = _numbers(state, right, sign, is_signed=is_signed), state.range_of(state.minus(right, first))
        if ends is None or max(ends[1], starts[1]) - min(ends[0], starts[0]) >= _HALF:
            return None  # the words do not say how far the numbers are apart
        farthest = max(farthest, ends[1] - added - strict + most)
        top = max(top, max(sign * number for number in distance.signed) - added - strict)
    smallest, greatest = sorted(sign * number for number in ((-_HALF, _HALF - 1) if is_signed else (0, SIZE - 1)))
    if any(farthest + max(0, added) > greatest or starts[0] + min(0, added) < smallest for added, _, _ in limits):
        return None
    change = str(least) if least == most else f"{least} to {most}"
    direction = "plus" if sign > 0 else "minus"
    text = f"from {_shown(counter.start)}, {direction} {change} per iteration, as long as it has moved by at most {top}"
    origins: Origins = frozenset().union(*(right.origins for _, _, right in limits))
    return LoopBound(max(0, top // least + 1), text, origins | counter.origins)


def _limits(counter: Counter, state: SymbolicState, sign: int, *, is_signed: bool) -> Iterator[tuple[int, bool, Value]]:
    """Yield a, whether it is less, and the right side of each comparison: counter + a < right; all mirrored where `sign` is -1."""
    for atom in state.atoms:
        left, right = (atom.left, atom.right) if sign > 0 else (atom.right, atom.left)
        compares = atom.relation in {"<", "<="} and atom.is_signed == is_signed
        if compares and left.symbol is counter.symbol and left.factor == 1 and left.range.constant is not None:
            yield sign * ranges.signed(left.range.constant), atom.relation == "<", right


def _numbers(state: SymbolicState, value: Value, sign: int, *, is_signed: bool) -> tuple[int, int] | None:
    """Return the least and the greatest number that a word is, or its negative; None where the words wrap around."""
    words = state.range_of(value)
    low, high = words.view(is_signed)
    return None if high - low != words.width else (low, high) if sign > 0 else (-high, -low)


def _facts_of_all(back: Sequence[SymbolicState]) -> SymbolicState:
    """Return what is known of words on all ways back."""
    shared = [symbol for symbol in back[0].facts if all(symbol in path.facts for path in back)]
    return SymbolicState(facts={symbol: _all([path.facts[symbol] for path in back]) for symbol in shared})


def _unequal_pairs(
    counter: Counter, state: SymbolicState, fixed: Sequence[Value], old: frozenset[UnknownWord]
) -> list[tuple[Value, Value]]:
    """Return (left, right) of every comparison that a way back found unequal: the counter on the left, something fixed on the right."""
    out: list[tuple[Value, Value]] = []
    for atom in state.atoms:
        if atom.relation not in {"<", "!="}:
            continue
        for left, right in ((atom.left, atom.right), (atom.right, atom.left)):
            if left.symbol is counter.symbol and left.range.constant is not None and _is_fixed(right, fixed, old):
                out.append((left, right))
    return out


def _is_fixed(value: Value, fixed: Sequence[Value], old: frozenset[UnknownWord]) -> bool:
    if any(value is other for other in fixed):
        return True
    return value.range.constant is not None and (value.symbol is None or value.symbol in old)


def _equality_of(counter: Counter, step: int, left: Value, right: Value, back: Sequence[SymbolicState]) -> LoopBound | None:
    first = counter.first
    if first is None:
        return None
    state = _facts_of_all(back)
    begin = state.plus(state.times(first, left.factor), Value(None, 0, left.range))
    change = ranges.signed(step * left.factor)
    distance = state.range_of(state.minus(right, begin) if change > 0 else state.minus(begin, right))
    size = abs(change)
    low, high = distance.unsigned
    exact = high - low == distance.width and low % size == 0 and (not distance.step or distance.step % size == 0)
    if not size or not exact or high >= SIZE - size:
        return None
    text = (
        f"from {_shown(counter.start)}, {'plus' if change > 0 else 'minus'} {size} per iteration, until it has moved by {_shown(distance)}"
    )
    return LoopBound(high // size, text, first.origins | right.origins)


def _shown(words: Range) -> str:
    if words.constant is not None:
        return str(ranges.signed(words.constant))
    low, high = words.signed
    return f"{low} to {high}" if words != ranges.EVERY else "any word"
