"""Abstract states that are drawn, worlds that they allow, and whether a state allows what was computed in these worlds.

A world gives every `UnknownWord` and every condition a value. So a result that is said to be a multiple of an unknown word is
held to that word, not to a range alone: a range of every word says nothing, the identity of a word does.
"""

from collections.abc import Iterable
from random import Random

import numpy as np
import numpy.typing as npt

from sassan.domains import ranges
from sassan.domains.ranges import SIZE, Range
from sassan.ipet.loop_bounds.values import NO, YES, Both, Compare, Known, Maybe, SymbolicState, Truth, UnknownWord, Value, constant

Numbers = npt.NDArray[np.int64]
"""A word, or a condition as 0 or 1, in each world."""
Bools = npt.NDArray[np.bool_]

LAST = SIZE - 1
WORDS = (0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1, 2**32 - 500)
FLOATS = (0x3E124925, 0x3F800000, 0x40E00000, 0x44870000, 0x4EFFFFFF, 0x4F800000, 0x7F800000, 0x7FC00000, 0xC0490FDB)
"""Single precision: 1/7, 1, 7, 1080, two about 2^31 and 2^32, infinity, none, -pi."""
_CORNERS = np.array(WORDS + FLOATS, dtype=np.int64)
_WIDTHS = (1, 2, 3, 7, 31, 32, 100, 255, 65535, 65536, 1 << 24, 2**31 - 1, 2**31, 2**32 - 3)
_FACTORS = (1, 1, 1, -1, -1, 2, 2, 2, 4, -4, 3, -5, 8, 1 << 16, 1 << 30, -(1 << 31))


class Worlds:
    """A number of worlds; unknown words and conditions are drawn when they are asked for."""

    def __init__(self, random: Random, count: int) -> None:
        """Draw with `random`; numpy's generator is seeded by it."""
        self.random = random
        self.count = count
        self.dice = np.random.default_rng(random.getrandbits(64))
        self.symbols: dict[UnknownWord, Numbers] = {}
        self.conditions: dict[Maybe | Compare | Both, Bools] = {}
        self.facts: dict[UnknownWord, Range] = {}
        self._ends = [0]
        self._pool = [self.symbol(), self.symbol()]

    def range(self) -> Range:
        """Return a set of words at a corner of what ranges may be."""
        random = self.random
        how = random.random()
        if how < 0.15:
            return ranges.EVERY
        if how < 0.3:
            return ranges.span(0, (1 << random.randrange(1, 32)) - 1)
        low = random.choice((random.choice(WORDS + FLOATS), random.getrandbits(32))) - random.choice((0, 0, 1, 2, 100))
        step = random.choice((1, 1, 1, 1, 2, 3, 4, 8, 12, 1 << 16))
        return ranges.span(low, low + random.choice((random.choice(_WIDTHS), random.getrandbits(random.randrange(1, 32)))), step)

    def members(self, words: Range) -> Numbers:
        """Return a word of a set in each world: its ends, the corners of words among them, and others."""
        if not words.width:
            return np.full(self.count, words.low, dtype=np.int64)
        step = words.step or 1
        steps = words.width // step
        out = self.dice.integers(0, steps, size=self.count, endpoint=True)
        quarter, half = self.count // 4, self.count // 2
        # In the first quarter the ends; then the corners of all words, as far as they are in the set.
        out[:quarter:2] = np.minimum(out[:quarter:2] % 3, steps)
        out[1:quarter:2] = steps - np.minimum(out[1:quarter:2] % 3, steps)
        corners = (self.dice.choice(_CORNERS, size=half - quarter) - words.low) % SIZE // step
        out[quarter:half] = np.where(corners <= steps, corners, out[quarter:half])
        self.dice.shuffle(out)
        return (words.low + out * step) & LAST

    def symbol(self) -> UnknownWord:
        """Return an unknown word, of which a path may know more than that it is of its range."""
        words = self.range()
        symbol = UnknownWord(words)
        self._ends += [words.low, words.low + words.width]
        if words.width and self.random.random() < 0.3:
            step = words.step or 1
            first, last = sorted(self.random.randint(0, words.width // step) for _ in range(2))
            words = self.facts[symbol] = ranges.span(words.low + first * step, words.low + last * step, step)
        self.symbols[symbol] = self.members(words)
        return symbol

    def share(self, symbol: UnknownWord, numbers: Numbers) -> None:
        """Take an unknown word from elsewhere."""
        self.symbols[symbol] = numbers

    def constant(self, word: int) -> tuple[Value, Numbers]:
        """Return a known word."""
        return constant(word), np.full(self.count, word & LAST, dtype=np.int64)

    def word(self) -> tuple[Value, Numbers]:
        """Return a word as a register holds it, and what it is in each world."""
        random, how = self.random, self.random.random()
        if how < 0.25:
            # Or a word beside the end of a range of another one.
            near = random.choice(self._ends) + random.choice((-1, 0, 0, 1))
            return self.constant(random.choice((random.choice(WORDS + FLOATS), random.getrandbits(32), near)))
        if how < 0.3:
            words = self.range()
            return Value(None, 0, words), self.members(words)
        if how < 0.38:
            return self._bit()
        if how < 0.65:
            symbol = self.symbol() if random.random() < 0.7 else random.choice(self._pool)
            return Value(symbol, 1, ranges.const(0)), self.symbols[symbol]
        symbol, factor = random.choice(self._pool), random.choice(_FACTORS)
        words = ranges.const(random.choice((random.choice(WORDS), random.getrandbits(32)))) if how < 0.9 else self.range()
        return Value(symbol, factor, words), (self.symbols[symbol] * factor + self.members(words)) & LAST

    def _bit(self) -> tuple[Value, Numbers]:
        """Return the bit of a condition, plus or minus a number: what a carry makes of a high word."""
        known = [condition for condition in self.conditions if isinstance(condition, Compare)]
        condition, negated = self.random.choice(known) if known else self._comparison(), self.random.random() < 0.5
        numbers = (self.conditions[condition] != negated).astype(np.int64)
        symbol = UnknownWord(ranges.span(0, 1), truth=Truth(condition, negated))
        self.symbols[symbol] = numbers
        factor, added = self.random.choice((1, 1, -1, 2)), self.random.choice((0, 0, -1, 1, 5))
        self._ends = [added, added + factor]
        return Value(symbol, factor, ranges.const(added)), numbers * factor + added & LAST

    def truth(self) -> tuple[Truth, Numbers]:
        """Return a condition as a register holds it, and what it is in each world."""
        how = self.random.random()
        if how < 0.3:
            truth = YES if how < 0.15 else NO
            return truth, np.full(self.count, int(truth is YES), dtype=np.int64)
        condition: Maybe | Compare | Both
        if how > 0.9 and self.conditions:
            condition = self.random.choice(tuple(self.conditions))
            holds = self.conditions[condition]
        elif how < 0.55:
            condition = Maybe()
            holds = self.dice.integers(0, 2, size=self.count).astype(np.bool_)
        else:
            condition = self._comparison()
            holds = self.conditions[condition]
        self.conditions[condition] = holds
        negated = self.random.random() < 0.5
        return Truth(condition, negated), (holds != negated).astype(np.int64)

    def _comparison(self) -> Compare:
        (left, a), (right, b) = self.word(), self.word()
        condition = Compare(self.random.choice(("<", "<=", "==")), self.random.random() < 0.5, left, right)
        self.conditions[condition] = related(condition.relation, condition.is_signed, a, b)
        return condition

    def state(self, registers: dict[int, Known]) -> SymbolicState:
        """Return the state that knows these registers and what was drawn of words."""
        return SymbolicState(registers, dict(self.facts))

    def allows(self, state: SymbolicState, results: Iterable[tuple[Known, Numbers]]) -> Bools:
        """Say in which worlds a state, and what it says of results, is true."""
        reading = _Reading(self, state)
        values, truths = [], []
        for known, numbers in results:
            (values if isinstance(known, Value) else truths).append((known, numbers))
        out = reading.knows()
        for value, numbers in sorted(values, key=lambda each: each[0].range.width):
            out &= reading.word(value, numbers)
        for truth, numbers in truths:
            out &= reading.truth(truth, numbers != 0)
        return out

    def may_end(self, state: SymbolicState, value: Value, halves: Numbers) -> Bools:
        """Say in which worlds the low half of a word may be what it is; a range of many words is believed."""
        exact = _Reading(self, state).exact(value)
        if exact is not None:
            return exact & 0xFFFF == halves
        words = state.range_of(value)
        if words.width // (words.step or 1) > 1 << 12:
            return np.ones(self.count, dtype=np.bool_)
        members = np.arange(words.low, words.low + words.width + 1, words.step or 1) & 0xFFFF
        return np.isin(halves, members)


class _Reading:
    """What a state says in each world; new unknown words are what the results make them."""

    def __init__(self, worlds: Worlds, state: SymbolicState) -> None:
        self.state = state
        self.count = worlds.count
        self.symbols = dict(worlds.symbols)
        self.conditions = dict(worlds.conditions)

    def knows(self) -> Bools:
        """Say where what a path has found of words and conditions holds."""
        out = np.ones(self.count, dtype=np.bool_)
        for symbol, words in self.state.facts.items():
            if symbol in self.symbols:
                out &= holds(words, self.symbols[symbol])
        for condition, wanted in self.state.decided.items():
            out &= self.may(Truth(condition))[0 if wanted else 1]
        for atom in self.state.atoms:
            left, right = self.exact(atom.left), self.exact(atom.right)
            if left is not None and right is not None:
                out &= related(atom.relation, atom.is_signed, left, right)
        return out

    def exact(self, value: Value) -> Numbers | None:
        """Return what a word is in each world, None where more than the world decides it."""
        if value.range.width or (value.symbol is not None and value.symbol not in self.symbols):
            return None
        base = 0 if value.symbol is None else self.symbols[value.symbol] * value.factor
        return (base + np.full(self.count, value.range.low, dtype=np.int64)) & LAST

    def word(self, value: Value, numbers: Numbers) -> Bools:
        """Say where a word may be what it is said to be."""
        symbol = value.symbol
        if symbol is None:
            return holds(value.range, numbers)
        if symbol in self.symbols:
            return holds(value.range, (numbers - self.symbols[symbol] * value.factor) & LAST)
        if value.range.width or not value.factor % 2:
            return holds(self.state.range_of(value), numbers)
        words = self.symbols[symbol] = (numbers - value.range.low) * pow(value.factor, -1, SIZE) & LAST
        held = holds(self.state.range_of(Value(symbol, 1, ranges.const(0))), words)
        return held if symbol.truth is None else held & np.where(words == 1, *self.may(symbol.truth))

    def truth(self, truth: Truth, wanted: Bools) -> Bools:
        """Say where a condition may be what it is said to be."""
        what = truth.what
        if isinstance(what, Maybe) and what not in self.conditions:
            self.conditions[what] = wanted != truth.negated
        can, cannot = self.may(truth)
        return np.where(wanted, can, cannot)

    def may(self, truth: Truth) -> tuple[Bools, Bools]:
        """Say where a condition may hold, and where it may fail."""
        what = truth.what
        every = np.ones(self.count, dtype=np.bool_)
        if isinstance(what, bool):
            can, cannot = (every, ~every) if what else (~every, every)
        elif what in self.conditions:
            can, cannot = self.conditions[what], ~self.conditions[what]
        else:
            can, cannot = self._undrawn(what, every)
        return (cannot, can) if truth.negated else (can, cannot)

    def _undrawn(self, what: Maybe | Compare | Both, every: Bools) -> tuple[Bools, Bools]:
        match what:
            case Both(first=first, second=second):
                (can, cannot), (also, but) = self.may(first), self.may(second)
                return can & also, cannot | but
            case Compare():
                left, right = self.exact(what.left), self.exact(what.right)
                if left is None or right is None:
                    return every, every
                found = related(what.relation, what.is_signed, left, right)
                return found, ~found
            case Maybe():
                return every, every


def holds(words: Range, numbers: Numbers) -> Bools:
    """Say which words are in a set."""
    distance = (numbers - words.low) & LAST
    inside = distance <= words.width
    return inside & (distance % words.step == 0) if words.step else inside


def related(relation: str, is_signed: bool, a: Numbers, b: Numbers) -> Bools:
    if is_signed:
        a, b = ((words ^ (1 << 31)) - (1 << 31) for words in (a, b))
    match relation:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case "==":
            return a == b
        case _:
            return a != b
