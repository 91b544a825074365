"""What comparisons say of ordinary numbers, where the contents of memory are not known.

A number of which nothing is known may be smaller or larger than another one. But programs hardly compute with numbers of 2^16 and more, or
of 2^-64 and less: comparisons with these guard paths for numbers that are none, or that a fast way does not treat (a sine of a large
number, a root of one that has no exponent).
"""

import operator
from collections.abc import Callable, Mapping

from sassan.ir import Immediate, Instruction, Operand, Register

_LARGE, _SMALL = 2.0**16, 2.0**-64
_TESTS: Mapping[str, Callable[[float, float], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}


def of_ordinary_numbers(instruction: Instruction) -> tuple[bool, bool] | None:
    """Return the two results of a comparison that all ordinary numbers have; None where they differ, and of other comparisons."""
    test = instruction.opcode.split(".")[1].removesuffix("U")
    if test not in _TESTS or len(instruction.operands) != 5:  # noqa: PLR2004 - two results, two sides, and a condition
        return None
    *_, left, right, also = instruction.operands
    if not isinstance(also, Register) or also.index is not None or also.negated or "AND" not in instruction.opcode.split("."):
        return None
    several = {_TESTS[test](a, b) for a in _values(left) for b in _values(right)}
    return (several == {True}, several != {True}) if len(several) == 1 and (_is_extreme(left) or _is_extreme(right)) else None


def _values(side: Operand) -> tuple[float, ...]:
    if isinstance(side, Immediate):
        return (float(side.value),)
    magnitudes = (1.0,) if isinstance(side, Register) and side.absolute else (1.0, -1.0)
    return tuple(-each for each in magnitudes) if isinstance(side, Register) and side.negated else magnitudes


def _is_extreme(side: Operand) -> bool:
    return isinstance(side, Immediate) and (abs(side.value) >= _LARGE or 0 < abs(side.value) <= _SMALL)
