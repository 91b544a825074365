"""Constants of `isa/effects.py` at an address that registers give, parameters of PTX, and what other threads hold."""

from collections.abc import Callable, Mapping

from sassan.ipet.loop_bounds.step import Step
from sassan.ipet.loop_bounds.values import Known, Value
from sassan.ir import Constant, Operand, PtxAddress, Symbol
from sassan.values.patterns import number_of

_WORD_BYTES = 4
_BANK = 1 << 16
"""Bytes of a constant bank."""


def _constant(step: Step, operand: Operand, offset: int, size: int, is_signed: bool) -> Value:
    if isinstance(operand, PtxAddress) and isinstance(operand.base, Symbol):
        return step.environment.parameter(operand.base.name, operand.offset + offset, size, is_signed=is_signed) or step.unknown()
    if not isinstance(operand, Constant) or operand.bank != 0:
        return step.unknown()
    address = _address(step, operand)
    if address is None or (size < _WORD_BYTES and address != operand.offset):
        return step.unknown()
    return step.environment.constant(address + offset, size, is_signed=is_signed)


def _address(step: Step, source: Constant) -> int | None:
    """Return where a constant stands in its bank; None where that is not known, or computed and not the place of a word."""
    base = [step.register(number_of(each.file, each.index)).constant for each in source.base if each.index is not None]
    if not base:
        return source.offset
    address = sum(word for word in base if word is not None) + source.offset
    return None if None in base or address % _WORD_BYTES or not 0 <= address < _BANK else address


def _lane(step: Step, word: Value) -> Value:
    """Return the word of another thread, of which the state of this one says nothing."""
    del word
    return step.unknown()


FUNCTIONS: Mapping[str, Callable[..., Known]] = {"constant": _constant, "lane": _lane}
