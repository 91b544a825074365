"""Loops over the ones of a word: `x &= x - 1` until it is 0.

Let x(k) be what a register holds at the k-th visit of the head, and let every way back leave some of the ones of x(k) in it, fewer unless
x(k) is 0. If every way back has found that x(k) is not 0, or that what it leaves is not, then at most as many back edges are taken as x(0)
has ones: each takes one away at least, and behind the last x is 0. Where what is left is never 0, the last one stays: one less.
"""

from collections.abc import Sequence

from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.values import Origins, State, Symbol, Value

_PLACES = 32


def ones_bound(node: int, head: State, entries: Sequence[State], back: Sequence[State]) -> tuple[int, LoopBound] | None:
    """Return the register of which every way back to the head `node` takes ones away, and the bound; None where there is none."""
    for register, known in sorted(head.registers.items()):
        symbol = known.symbol if isinstance(known, Value) else None
        starts = [(state, value) for state in entries if isinstance(value := state.registers.get(register), Value)]
        if symbol is None or (symbol.head, symbol.register) != (node, register) or len(starts) < len(entries):
            continue
        left = [_left(state, register, symbol) for state in back]
        if None in left:
            continue
        most = max(_ones(state, value) for state, value in starts)
        origins: Origins = frozenset().union(*(value.origins for _, value in starts))
        text = f"loses a one of at most {most} per iteration, until it is 0"
        # A word has 32 ones at most, whatever it is: the bound rests on nothing that is not given.
        return register, LoopBound(max(0, most - all(left)), text, origins if most < _PLACES else frozenset())
    return None


def _left(state: State, register: int, symbol: Symbol) -> bool | None:
    """Say whether a way back leaves a word that is not 0; None where it need not take ones away, or may find 0."""
    late = state.registers.get(register)
    if not isinstance(late, Value) or late.factor != 1 or late.range.constant != 0:
        return None
    made = late.symbol
    while made is not None and made.fewer_than is not None and made.fewer_than is not symbol:
        made = made.fewer_than
    if made is None or made.fewer_than is None:
        return None
    if not state.range_of(late).holds(0):
        return True
    return None if state.facts.get(symbol, symbol.range).holds(0) else False


def _ones(state: State, value: Value) -> int:
    words = state.range_of(value)
    return words.constant.bit_count() if words.constant is not None else words.unsigned[1].bit_length()
