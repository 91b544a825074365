"""Joining the states of one thread that stay apart at a place, and keeping their number small."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from sassan.domains.ranges import RANGES
from sassan.ipet.loop_bounds.values import Both, Compare, Known, Maybe, State, Symbol, Value, union, unknown

_RESTS = (2, 4)


def with_registers(state: State, registers: Mapping[int, Known]) -> State:
    """Return the state with other registers."""
    return State(registers, state.facts, state.decided, state.atoms)


def join_known(state: State, a: Known, other: State, b: Known) -> Known | None:
    """Return what holds of a register that is one thing in a state and another in another; None: nothing."""
    if a == b:
        return a
    if isinstance(a, Value) and isinstance(b, Value):
        origins = union(a.origins, b.origins)
        if a.symbol is b.symbol and a.factor == b.factor:
            return Value(a.symbol, a.factor, RANGES.join(a.range, b.range), origins)
        return unknown(RANGES.join(state.range_of(a), other.range_of(b)), origins)
    return None


def join(states: Sequence[State]) -> State:
    """Return one state that stands for all."""
    out = states[0]
    for one in states[1:]:
        registers: dict[int, Known] = {}
        for name, known in out.registers.items():
            if name in one.registers:
                joined = join_known(out, known, one, one.registers[name])
                if joined is not None:
                    registers[name] = joined
        facts = {
            symbol: found if found is one.facts[symbol] else RANGES.join(found, one.facts[symbol])
            for symbol, found in out.facts.items()
            if symbol in one.facts
        }
        decided = {what: truth for what, truth in out.decided.items() if one.decided.get(what) is truth}
        atoms = tuple(atom for atom in out.atoms if atom in one.atoms)
        out = State(registers, facts, decided, atoms)
    return out


def reduce(states: Sequence[State], capacity: int) -> list[State]:
    """Return at most `capacity` states; those that hold the same in registers become one, with the same rests first."""
    if len(states) <= 1:
        return list(states)
    out = _merged(states, lambda one: (_held(one), _rests(one)))
    if len(out) > capacity:
        out = _merged(out, _held)
    return out if len(out) <= capacity else [join(out)]


def _merged(states: Sequence[State], key_of: Callable[[State], Hashable]) -> list[State]:
    merged: dict[Hashable, State] = {}
    for one in states:
        key = key_of(one)
        old = merged.get(key)
        merged[key] = one if old is None else join((old, one))
    return list(merged.values())


def _held(state: State) -> Hashable:
    return tuple(sorted(state.registers.items(), key=lambda pair: pair[0]))


def _rests(state: State) -> Hashable:
    """Return by register the rest that its symbol leaves, where a path knows one (`apart`)."""
    symbols = {name: known.symbol for name, known in state.registers.items() if isinstance(known, Value) and known.symbol is not None}
    found = {name: state.facts[symbol] for name, symbol in sorted(symbols.items()) if symbol in state.facts}
    return tuple((name, one.low % one.step, one.step) for name, one in found.items() if one.step in _RESTS)


def trimmed(state: State) -> State:
    """Return the state without what it knows of words and conditions that no register holds: nothing asks for them any more."""
    symbols: set[Symbol] = set()
    conditions: set[Maybe | Compare | Both] = set()
    pending: list[Known] = list(state.registers.values())
    while pending:
        known = pending.pop()
        if isinstance(known, Value):
            if known.symbol is not None:
                symbols.add(known.symbol)
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
    return State(state.registers, facts, decided, state.atoms)
