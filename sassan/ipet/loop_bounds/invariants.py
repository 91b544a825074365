"""What a loop preserves: registers that stay as they were on entry, and counters that stay within limits.

They are guessed, and hold by induction: if the guesses hold after every iteration that begins with them, they always do (`infer.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from sassan.domains import ranges
from sassan.domains.ranges import RANGES
from sassan.ipet.loop_bounds.counters import Counter, between
from sassan.ipet.loop_bounds.summaries import Movement, distance
from sassan.ipet.loop_bounds.values import SymbolicState, UnknownWord, Value


def guesses_of(counter: Counter, head: int, back: Sequence[SymbolicState]) -> Iterator[Value]:
    """Yield guesses of what a counter is at the head."""
    for words in between(counter, back):
        yield Value(UnknownWord(words, counter.origins, head, counter.register), 1, ranges.const(0), counter.origins)


def next_guesses(guesses: Mapping[int, Iterator[Value]]) -> dict[int, Value]:
    """Return the next guess of each register that has one left."""
    nearest = {name: next(some, None) for name, some in guesses.items()}
    return {name: known for name, known in nearest.items() if known is not None}


def may_stay(head: int, name: int, start: SymbolicState, back: Sequence[SymbolicState]) -> bool:
    """Say whether a register that the loop writes may be left as it was by every way back."""
    old = start.registers[name]
    if not isinstance(old, Value) or old.symbol is None or (old.symbol.head, old.symbol.register) != (head, name):
        return False
    late = [state.registers.get(name) for state in back]
    return all(isinstance(value, Value) and value.symbol is old.symbol and value.factor == 1 and value.range.holds(0) for value in late)


def stays(state: SymbolicState, name: int, known: Value) -> bool:
    """Say whether a register still holds what it held on entry, or is still where a counter was guessed to stay."""
    late = state.registers.get(name)
    if not isinstance(late, Value):
        return False
    counts = known.symbol is not None and known.symbol.register == name
    return (
        RANGES.leq(state.range_of(late), known.symbol.range)
        if known.symbol and counts
        else state.range_of(state.minus(late, known)).constant == 0
    )


def words_within(head: int, moved: Sequence[Movement], bound: int, held: Mapping[int, Value]) -> dict[int, Value]:
    """Return counters with the words that they have at the head in so many iterations, where that says anything; not what is `held`."""
    words = {each.register: ranges.add(each.start, distance(each.step, bound)) for each in moved if each.register not in held}
    return {
        name: Value(UnknownWord(some, head=head, register=name), 1, ranges.const(0)) for name, some in words.items() if some != ranges.EVERY
    }


def narrowed(held: Mapping[int, Value], entries: Sequence[SymbolicState], back: Sequence[SymbolicState]) -> dict[int, Value]:
    """Return what is held with the words that counters have on entry and after an iteration; nothing where these are no fewer."""
    out = dict(held)
    for name, known in held.items():
        symbol = known.symbol
        if symbol is None or symbol.register != name:
            continue
        values = [(state, state.registers.get(name)) for state in (*entries, *back)]
        parts = [state.range_of(value) for state, value in values if isinstance(value, Value)]
        words = reduce(RANGES.join, parts)
        if len(parts) == len(values) and words != symbol.range and RANGES.leq(words, symbol.range):
            out[name] = Value(UnknownWord(words, symbol.origins, symbol.head, name), 1, ranges.const(0), known.origins)
    return out if out != held else {}
