"""Loops over the ones of a word: `x &= x - 1`, or `x ^= 1 << highest`, until it is 0.

Let x(k) be what a register holds at the k-th visit of the head, and let every way back leave some of the ones of x(k) in it, fewer, if x(k)
is not 0; of 0, some leave 0, and others anything. If at every back edge x(k) is not 0, then at most as many are taken as x(0) has ones:
each takes one away at least. Where what is left is never 0, the last one stays: one less. That x(k) is not 0, the path has found; or it
follows from what it leaves, if of 0 that is 0; or, by induction, from entries that are not 0 and ways back that never leave 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sassan.ipet.loop_bounds.conditions import NOT_EQUAL
from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.values import Origins, SymbolicState, UnknownWord, Value

_PLACES = 32


class _Left(NamedTuple):
    """What a way back leaves: whether surely not 0, whether it has found that there was some, and whether it leaves 0 of 0."""

    some: bool
    found: bool
    keeps_zero: bool


def ones_bound(
    node: int, head: SymbolicState, entries: Sequence[SymbolicState], back: Sequence[SymbolicState]
) -> tuple[int, LoopBound] | None:
    """Return the register of which every way back to the head `node` takes ones away, and the bound; None where there is none."""
    for register, known in sorted(head.registers.items()):
        symbol = known.symbol if isinstance(known, Value) else None
        starts = [(state, value) for state in entries if isinstance(value := state.registers.get(register), Value)]
        if symbol is None or (symbol.head, symbol.register) != (node, register) or len(starts) < len(entries):
            continue
        left = [_left(state, register, symbol) for state in back]
        ways = [way for way in left if way is not None]
        never_zero = all(way.some for way in ways)
        by_induction = never_zero and not any(state.range_of(value).holds(0) for state, value in starts)
        if len(ways) < len(left) or not all(by_induction or way.found or (way.some and way.keeps_zero) for way in ways):
            continue
        most = max(_ones(state, value) for state, value in starts)
        origins: Origins = frozenset().union(*(value.origins for _, value in starts))
        text = f"loses a one of at most {most} per iteration, until it is 0"
        # A word has 32 ones at most, whatever it is: the bound rests on nothing that is not given.
        return register, LoopBound(max(0, most - never_zero), text, origins if most < _PLACES else frozenset())
    return None


def _left(state: SymbolicState, register: int, symbol: UnknownWord) -> _Left | None:
    """Return what a way back leaves; None where it need not take ones away."""
    late = state.registers.get(register)
    if not isinstance(late, Value) or late.factor != 1 or late.range.constant != 0:
        return None
    made, keeps = late.symbol, True
    while made is not None and made is not symbol:
        keeps, before = keeps and made.keeps_zero, made.fewer_than
        if before is not None and before is not symbol and not made.keeps_zero and state.facts.get(before, before.range).holds(0):
            return None
        made = before
    if made is None or late.symbol is symbol:
        return None
    last = late.symbol
    without_highest = last is not None and last.fewer_than is symbol and not last.keeps_zero
    some = not state.range_of(late).holds(0) or (without_highest and _has_more(state, symbol))
    return _Left(some, not state.facts.get(symbol, symbol.range).holds(0), keeps)


def _has_more(state: SymbolicState, symbol: UnknownWord) -> bool:
    """Say whether a path has found that a word is not its highest one alone."""
    pairs = [(atom.left, atom.right) for atom in state.atoms if atom.relation == NOT_EQUAL]
    plain = [(a.symbol, b.symbol) for a, b in pairs if (a.factor, a.range.constant, b.factor, b.range.constant) == (1, 0, 1, 0)]
    return any(whole is symbol and bit is not None and bit.one_of is symbol for a, b in plain for whole, bit in ((a, b), (b, a)))


def _ones(state: SymbolicState, value: Value) -> int:
    words = state.range_of(value)
    return words.constant.bit_count() if words.constant is not None else words.unsigned[1].bit_length()
