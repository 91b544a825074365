"""What is known of a loop for the states in which threads enter it, kept so that a loop that is met again in the same states costs nothing.

A loop in a loop in a loop is met once for each set of loops around it, mostly in states that differ only in what the loop never names and
in the identities of unknown words. `EntryKeys` spells the rest in a normal form: what a loop does from two lists of states with one key is
the same, but for identities.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sassan.domains import ranges
from sassan.domains.ranges import Range
from sassan.ipet.loop_bounds.counters import LoopBound
from sassan.ipet.loop_bounds.values import Both, Compare, Known, Maybe, Origins, SymbolicState, Truth, UnknownWord, Value
from sassan.ir import Constant, Instruction, Register
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.facts import Facts
from sassan.isa.registers import bit

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Movement:
    """A counter of a loop: its register, its range where the loop is entered, and its change on each way back."""

    register: int
    start: Range
    step: Range


@dataclass(frozen=True, slots=True)
class LoopSummary:
    """The bound of a loop (None: none is known), its counters, and what its exits depend on."""

    best: LoopBound | None
    counters: tuple[Movement, ...]
    missing: Origins


def distance(step: Range, bound: int) -> Range:
    """Return by how much a counter has changed at the visits of the head, in so many iterations at most."""
    low, high = step.signed
    return ranges.span(min(0, low * bound), max(0, high * bound), abs(low) if low == high and low else 1)


def named_registers(instructions: Iterable[Instruction], facts: Mapping[int, Facts]) -> int:
    """Return every register that some instructions name, as a mask: those that they read, and more."""
    out = 0
    for instruction in instructions:
        known = facts[instruction.address]
        out |= known.reads | known.guard | known.condition
        for effect in known.effects:
            out |= effect.writes
        for operand in instruction.operands:
            if isinstance(operand, Register):
                out |= _pair(operand.file, operand.index)
            elif isinstance(operand, Constant):
                for register in operand.base:
                    out |= _pair(register.file, register.index)
    return out


@lru_cache(maxsize=1024)
def _pair(file: str, index: int | None) -> int:
    """Return a register and the one behind it: a pair is named by its first register."""
    return 3 * bit(file, index)


class EntryKeys:
    """Normal forms of entry states: words and conditions are numbered in the order in which the registers name them."""

    def __init__(self, registers: int) -> None:
        """Look at these registers only, a mask."""
        self._registers = registers
        self._numbers: dict[object, int] = {}
        self._spelled: set[object] = set()

    def key(self, entries: Sequence[SymbolicState], side: Sequence[SymbolicState]) -> Key:
        """Return the key of states at the head of a loop, and of those that enter it elsewhere."""
        return (*(self._state(state) for state in entries), None, *(self._state(state) for state in side))

    def _state(self, state: SymbolicState) -> Key:
        wanted = self._registers
        self._spelled = set()
        named = sorted(name for name in state.registers if wanted >> (CARRY if name == ZERO else name) & 1)
        words = tuple((name, self._known(state, state.registers[name])) for name in named)
        shared = frozenset((symbol, words) for symbol, words in state.facts.items() if symbol.shared)
        held = frozenset(
            known.symbol for known in state.registers.values() if isinstance(known, Value) and known.symbol and known.symbol.shared
        )
        return words, shared, held

    def _known(self, state: SymbolicState, known: Known) -> Key:
        return self._value(state, known) if isinstance(known, Value) else self._truth(state, known)

    def _value(self, state: SymbolicState, value: Value) -> Key:
        symbol = value.symbol
        if symbol is None or symbol.shared:
            return value
        return (*self._symbol(state, symbol), value.factor, value.range, value.origins)

    def _symbol(self, state: SymbolicState, symbol: UnknownWord) -> Key:
        place = self._numbers.setdefault(symbol, len(self._numbers))
        truth = None if symbol.truth is None else self._truth(state, symbol.truth)
        made = tuple(self._numbers.setdefault(other, len(self._numbers)) for other in symbol.difference or ())
        if symbol.quotient is not None:
            dividend = symbol.quotient.dividend
            place_of = self._numbers.setdefault(dividend.symbol, len(self._numbers))
            made = (place_of, dividend.factor, *dividend.range, *symbol.quotient[1:])
        return place, symbol.range, symbol.origins, symbol.head, symbol.register, state.facts.get(symbol), truth, made

    def _truth(self, state: SymbolicState, truth: Truth) -> Key:
        condition = truth.what
        if isinstance(condition, bool):
            return condition, truth.negated
        place = self._numbers.setdefault(condition, len(self._numbers))
        parts: Key = () if condition in self._spelled else self._parts(state, condition)
        self._spelled.add(condition)
        return place, truth.negated, state.decided.get(condition), parts

    def _parts(self, state: SymbolicState, condition: Maybe | Compare | Both) -> Key:
        match condition:
            case Maybe():
                return (condition.origins,)
            case Compare():
                return condition.relation, condition.is_signed, self._value(state, condition.left), self._value(state, condition.right)
            case Both():
                return self._truth(state, condition.first), self._truth(state, condition.second)
