"""Joining the states of one thread that stay apart at a place, and keeping their number small."""

import functools
from collections.abc import Callable, Mapping, Sequence

from sassan.domains.ranges import RANGES, Range
from sassan.ipet.loop_bounds.values import Both, Compare, Known, Maybe, SymbolicState, UnknownWord, Value, union, unknown

_RESTS = (2, 4)


def with_registers(state: SymbolicState, registers: Mapping[int, Known]) -> SymbolicState:
    """Return the state with other registers."""
    return SymbolicState(registers, state.facts, state.decided, state.atoms)


def join_known(state: SymbolicState, a: Known, other: SymbolicState, b: Known) -> Known | None:
    """Return what holds of a register that is one thing in a state and another in another; None: nothing."""
    if a == b:
        return a
    if isinstance(a, Value) and isinstance(b, Value):
        origins = union(a.origins, b.origins)
        words = state.range_of(a)
        if words.constant is not None and words == other.range_of(b):
            return Value(None, 0, words, origins)
        if a.symbol is b.symbol and a.factor == b.factor:
            return Value(a.symbol, a.factor, RANGES.join(a.range, b.range), origins)
        return unknown(RANGES.join(state.range_of(a), other.range_of(b)), origins)
    return None


def join(states: Sequence[SymbolicState]) -> SymbolicState:
    """Return one state that stands for all."""
    out = states[0]
    for state in states[1:]:
        registers: dict[int, Known] = {}
        for name, known in out.registers.items():
            if name in state.registers:
                joined = join_known(out, known, state, state.registers[name])
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
