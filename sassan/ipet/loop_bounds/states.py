"""Joining the states of one thread that stay apart at a place, and keeping their number small."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sassan.domains.ranges import RANGES, Range
from sassan.ipet.loop_bounds.conditions import compare
from sassan.ipet.loop_bounds.values import (
    NO,
    YES,
    Both,
    Compare,
    Known,
    Maybe,
    SymbolicState,
    Truth,
    UnknownWord,
    Value,
    conjunction,
    union,
    unknown,
)

_RESTS = (2, 4)


def with_registers(state: SymbolicState, registers: Mapping[int, Known]) -> SymbolicState:
    """Return the state with other registers."""
    return SymbolicState(registers, state.facts, state.decided, state.atoms)


@dataclass(slots=True)
class _Pair:
    """Two states that become one. What a word is in one and in the other is one word of the joined one, wherever it stands."""

    one: SymbolicState
    other: SymbolicState
    words: dict[tuple[int, int], Value] = field(default_factory=dict[tuple[int, int], Value])
    """By the objects: two values that are equal need not be the same word."""
    comparisons: dict[tuple[int, int], Compare] = field(default_factory=dict[tuple[int, int], Compare])

    def known(self, a: Known, b: Known) -> Known | None:
        """Return what holds of a register that is one thing in a state and another in the other; None: nothing."""
        if isinstance(a, Value) and isinstance(b, Value):
            return self._word(a, b)
        if isinstance(a, Truth) and isinstance(b, Truth):
            return a if a == b else self._truth(a, b)
        return None

    def _word(self, a: Value, b: Value) -> Value:
        if a is b or (a.range.constant is not None and a == b):
            return a
        word = self.words.get((id(a), id(b)))
        if word is None:
            word = self.words[id(a), id(b)] = self._joined(a, b)
        return word

    def _joined(self, a: Value, b: Value) -> Value:
        if a == b:
            return Value(*a)
        origins = union(a.origins, b.origins)
        words = self.one.range_of(a)
        if words.constant is not None and words == self.other.range_of(b):
            return Value(None, 0, words, origins)
        if a.symbol is b.symbol and a.factor == b.factor:
            return Value(a.symbol, a.factor, RANGES.join(a.range, b.range), origins)
        return unknown(RANGES.join(words, self.other.range_of(b)), origins)

    def _truth(self, a: Truth, b: Truth) -> Truth | None:
        """Return one comparison for two of one kind: the guard of a loop is kept over another loop before it.

        Where a state has decided it, what follows from the other outcome is kept: a thread that has it is in the other state.
        """
        if isinstance(a.what, Compare) and isinstance(b.what, Compare):
            return self._follows(a, b)
        for outcome in (True, False):
            former, other = _implied(a, outcome), _implied(b, outcome)
            followed = None if former is None or other is None else self._follows(former, other)
            if followed is not None:
                known = conjunction(followed, Truth(Maybe()))
                return known if outcome else known.negate()
        return None

    def _follows(self, a: Truth, b: Truth) -> Truth | None:
        """Return a comparison of joined words that holds where one holds in each state, YES or NO standing for what `_implied` says."""
        former, other = a.what, b.what
        if not isinstance(former, Compare) or not isinstance(other, Compare):
            return self._decided(a, b, self.one, self.other) or self._decided(b, a, self.other, self.one)
        if (former.relation, former.is_signed, a.negated) != (other.relation, other.is_signed, b.negated):
            return None
        compared = self.comparisons.get((id(former), id(other)))
        if compared is None:
            left, right = self._word(former.left, other.left), self._word(former.right, other.right)
            compared = self.comparisons[id(former), id(other)] = Compare(former.relation, former.is_signed, left, right)
        return Truth(compared, a.negated)

    def _decided(self, truth: Truth, outcome: Truth, state: SymbolicState, decided: SymbolicState) -> Truth | None:
        """Return the comparison that holds in a state where it also does in the one that has decided it, of the same registers."""
        known = truth.what
        if not isinstance(known, Compare) or not isinstance(outcome.what, bool):
            return None
        pairs = [(value, _same_register(value, state, decided)) for value in (known.left, known.right)]
        left, right = (other for _, other in pairs)
        if left is None or right is None:
            return None
        if outcome.what:
            holds = compare(decided, known.relation, left, right, is_signed=known.is_signed).what
            if not isinstance(holds, bool) or holds == truth.negated:
                return None
        joined = [self._word(*(pair if state is self.one else pair[::-1])) for pair in ((known.left, left), (known.right, right))]
        return Truth(Compare(known.relation, known.is_signed, *joined), truth.negated)


def _same_register(value: Value, state: SymbolicState, other: SymbolicState) -> Value | None:
    """Return what another state has in a register that holds a word in a state; a number that no register holds is the same in both."""
    held = (other.registers.get(name) for name, known in state.registers.items() if known is value)
    return next((known for known in held if isinstance(known, Value)), value if value.constant is not None else None)


def _implied(truth: Truth, outcome: bool) -> Truth | None:
    """Return a comparison that holds where a condition has an outcome; None where nothing is known.

    YES and NO are a condition that always has this outcome, or never: then it may follow from any comparison, or any may follow from it.
    """
    match truth.what:
        case bool() as known:
            return YES if known == outcome else NO
        case Compare():
            return truth if outcome else truth.negate()
        case Both(first=first) if outcome != truth.negated:
            return first if isinstance(first.what, Compare) else None
        case _:
            return None


def join(states: Sequence[SymbolicState]) -> SymbolicState:
    """Return one state that stands for all."""
    out = states[0]
    for state in states[1:]:
        pair, registers = _Pair(out, state), dict[int, Known]()
        for name, known in out.registers.items():
            if name in state.registers:
                joined = pair.known(known, state.registers[name])
                if joined is not None:
                    registers[name] = joined
        facts = {
            symbol: words if words is state.facts[symbol] else RANGES.join(words, state.facts[symbol])
            for symbol, words in out.facts.items()
            if symbol in state.facts
        }
        decided = {condition: truth for condition, truth in out.decided.items() if state.decided.get(condition) is truth}
        atoms = tuple(atom for atom in out.atoms if atom in state.atoms)
        out = SymbolicState(registers, facts, decided, atoms)
    return out


def reduce(states: Sequence[SymbolicState], capacity: int) -> list[SymbolicState]:
    """Return at most `capacity` states; those that hold the same in registers become one, with the same rests first."""
    if len(states) <= 1:
        return list(states)
    out = _merged(states, _like)
    if len(out) > capacity:
        out = _merged(out, _same_registers)
    return out if len(out) <= capacity else [join(out)]


def merge_shifted(states: Sequence[SymbolicState]) -> list[SymbolicState]:
    """Return the states, those joined of which some registers differ by one distance and the others are alike: ends of halved intervals."""
    names = sorted(set(states[0].registers).intersection(*(state.registers for state in states)))
    words = [name for name in names if all(_is_word(state.registers[name]) for state in states)]
    if not words:
        return list(states)
    counts = {name: len({state.range_of(_word(state, name)) for state in states}) for name in words}
    base = max(words, key=counts.__getitem__)
    distances = {name: [state.minus(_word(state, name), _word(state, base)) for state in states] for name in words}
    moved = [
        name
        for name, values in distances.items()
        if len({value.range for value in values}) < counts[name] and all(value.symbol is None for value in values)
    ]
    if base not in moved:
        return list(states)
    groups: dict[object, list[SymbolicState]] = {}
    for place, state in enumerate(states):
        held = (state.range_of(_word(state, name)) for name in words if name not in moved)
        groups.setdefault((*held, *(distances[name][place].range for name in moved)), []).append(state)
    return [_shifted(group, base, moved) if len(group) > 1 else group[0] for group in groups.values()]


def _is_word(known: Known) -> bool:
    return isinstance(known, Value) and known.factor in {0, 1}


def _word(state: SymbolicState, name: int) -> Value:
    known = state.registers[name]
    assert isinstance(known, Value)
    return known


def _shifted(group: Sequence[SymbolicState], base: int, moved: Sequence[int]) -> SymbolicState:
    """Return one state in which the moved registers keep their distance from the base."""
    out, first = join(group), group[0]
    reached = _hull([state.range_of(_word(state, base)) for state in group])
    start = unknown(reached, _word(first, base).origins)
    registers = {name: out.plus(start, first.minus(_word(first, name), _word(first, base))) for name in moved}
    return with_registers(out, {**out.registers, **registers})


def _hull(parts: Sequence[Range]) -> Range:
    """Return a range that holds all words of some."""
    return functools.reduce(RANGES.join, parts)


def _merged(states: Sequence[SymbolicState], alike: Callable[[SymbolicState, SymbolicState], bool]) -> list[SymbolicState]:
    """Return the states, those that are alike joined; they are few, and comparing two is cheaper than hashing one."""
    first, *others = states
    kept, merged = [first], [first]
    for state in others:
        place = next((place for place, old in enumerate(kept) if alike(old, state)), None)
        if place is None:
            kept.append(state)
            merged.append(state)
        else:
            merged[place] = join((merged[place], state))
    return merged


def _same_registers(a: SymbolicState, b: SymbolicState) -> bool:
    return a.registers is b.registers or a.registers == b.registers


def _like(a: SymbolicState, b: SymbolicState) -> bool:
    return _same_registers(a, b) and (a.facts is b.facts or a.facts == b.facts or _rests(a) == _rests(b))


def _rests(state: SymbolicState) -> Mapping[int, tuple[int, int]]:
    """Return by register the rest that its symbol leaves, where a path knows one (`apart`)."""
    if not any(words.step in _RESTS for words in state.facts.values()):
        return {}
    symbols = {name: known.symbol for name, known in state.registers.items() if isinstance(known, Value) and known.symbol is not None}
    facts = {name: state.facts[symbol] for name, symbol in symbols.items() if symbol in state.facts}
    return {name: (words.low % words.step, words.step) for name, words in facts.items() if words.step in _RESTS}


def trimmed(state: SymbolicState) -> SymbolicState:
    """Return the state without what it knows of words and conditions that no register holds: nothing asks for them any more."""
    symbols: set[UnknownWord] = set()
    conditions: set[Maybe | Compare | Both] = set()
    pending: list[Known] = list(state.registers.values())
    while pending:
        known = pending.pop()
        if isinstance(known, Value):
            if known.symbol is not None:
                symbols.add(known.symbol)
                pending += () if known.symbol.truth is None else (known.symbol.truth,)
            continue
        condition = known.what
        if isinstance(condition, bool) or condition in conditions:
            continue
        conditions.add(condition)
        match condition:
            case Compare(left=left, right=right):
                pending += [left, right]
            case Both(first=first, second=second):
                pending += [first, second]
            case Maybe():
                pass
    facts = {symbol: words for symbol, words in state.facts.items() if symbol.shared or symbol in symbols}
    decided = {condition: truth for condition, truth in state.decided.items() if condition in conditions}
    return SymbolicState(state.registers, facts, decided, state.atoms)
