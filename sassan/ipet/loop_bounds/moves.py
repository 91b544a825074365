"""Constants of `isa/effects.py` at an address that registers give, parameters of PTX, and what other threads hold."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from sassan.domains.ranges import RANGES
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import Known, Value, constant
from sassan.ir import Constant, Operand, PtxAddress, Symbol
from sassan.values.patterns import number_of

_WORD_BYTES = 4
_MOST_PLACES = 1 << 10
"""Of one read, at most."""
_BANK = 1 << 16
"""Bytes of a constant bank."""


def _constant(step: InstructionStep, operand: Operand, offset: int, size: int, is_signed: bool) -> Value:
    if isinstance(operand, PtxAddress) and isinstance(operand.base, Symbol):
        return step.environment.parameter(operand.base.name, operand.offset + offset, size, is_signed=is_signed) or step.unknown()
    if not isinstance(operand, Constant) or operand.bank != 0:
        return step.unknown()
    if not any(each.index is not None for each in operand.base):
        return step.environment.constant(operand.offset + offset, size, is_signed=is_signed)
    addresses = _addresses(step, operand) if size >= _WORD_BYTES else ()
    words = [step.environment.constant(address + offset, size, is_signed=is_signed) for address in addresses]
    if len(words) <= 1:
        return words[0] if words else step.unknown()
    return step.of_range(reduce(RANGES.join, map(step.range, words)), *words)


def _addresses(step: InstructionStep, source: Constant) -> Sequence[int]:
    """Return where a constant may stand in its bank; nothing where that is one of too many places, or computed and not that of a word."""
    base = [step.register(number_of(each.file, each.index)) for each in source.base if each.index is not None]
    place = step.range(reduce(step.state.plus, base, constant(source.offset)))
    low, high = place.unsigned
    apart = place.step or 1
    if high >= _BANK or (place.width and apart % _WORD_BYTES) or low % _WORD_BYTES or place.width // apart >= _MOST_PLACES:
        return ()
    return range(low, high + 1, apart)


def _lane(step: InstructionStep, word: Value) -> Value:
    """Return the word of another thread, of which the state of this one says nothing unless all agree on it."""
    return word if step.instruction.address in step.same else step.unknown()


FUNCTIONS: Mapping[str, Callable[..., Known]] = {"constant": _constant, **dict.fromkeys(("lane", "picked", "shuffled"), _lane)}
