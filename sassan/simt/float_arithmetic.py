"""Sums, products, comparisons and functions of numbers in single and double precision, as floating-point units compute them.

All are rounded to nearest, whatever an operation says: the other ways differ by a unit in the last place. Infinities and what is not a
number are results like others: numpy does not warn of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import pi, prod

import numpy as np
import numpy.typing as npt

from sassan.ir import Constant, Immediate, Operand, Register
from sassan.simt.integer_work import MASK, MINUS_ZERO, GroupOperation, UnknownError
from sassan.simt.values import LANES, Truth

Numbers = npt.NDArray[np.float64]
ROUNDINGS = frozenset(("RN", "RM", "RP", "RZ"))
_SCALES: Mapping[str, float] = {"D8": 0.125, "D4": 0.25, "D2": 0.5, "M2": 2.0, "M4": 4.0, "M8": 8.0}
"""By what FMUL multiplies its product before it is rounded."""
_TINY = 2.0**-126
_HIGH = np.uint64(32)
_ORDERED: Mapping[str, Callable[[Numbers, Numbers], Truth]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}
_COMBINED: Mapping[str, Callable[[Truth, Truth], Truth]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}
_FUNCTIONS: Mapping[str, Callable[[Numbers], Numbers]] = {
    "RSQ": lambda number: 1 / np.sqrt(number),
    "SQRT": np.sqrt,
    "LG2": np.log2,
    "EX2": np.exp2,
    # The operand is a number of turns.
    "SIN": lambda turns: np.sin(2 * pi * turns),
    "COS": lambda turns: np.cos(2 * pi * turns),
    "TANH": np.tanh,
}
_EXTREMES = frozenset({"MAX", "MIN"})
_ONE = np.uint64(0x3F800000)
_HIGH_WORDS: Mapping[str, Callable[[Numbers], Numbers]] = {
    "RCP64H": lambda number: 1 / number,
    "RSQ64H": lambda number: 1 / np.sqrt(number),
}


def is_double(work: GroupOperation) -> bool:
    """Say whether an operation works on double precision, by its name."""
    return work.instruction.opcode.startswith("D")


@np.errstate(all="ignore")
def number_of(work: GroupOperation, operand: Operand, *, double: bool) -> Numbers:
    """Return an operand as numbers of all lanes; raises UnknownError for a form that is not a number of 32 or 64 bits."""
    if isinstance(operand, Immediate):
        if operand.modifiers or (isinstance(operand.value, int) and "0x" in work.instruction.text):
            raise UnknownError
        if not operand.value and MINUS_ZERO.search(work.instruction.text):
            raise UnknownError
        return np.full((len(work.rows), LANES), operand.value, np.float64)
    if not isinstance(operand, Register | Constant) or operand.inverted:
        raise UnknownError
    plain = replace(operand, negated=False, absolute=False)
    if double:
        number = (work.word(plain) | work.word(plain, 1) << _HIGH).view(np.float64)
    else:
        number = _flushed(work, work.word(plain).astype(np.uint32).view(np.float32).astype(np.float64))
    number = np.abs(number) if operand.absolute else number
    return -number if operand.negated else number


def put_number(work: GroupOperation, to: Operand, number: Numbers, *, double: bool) -> None:
    """Write a number, rounded to the precision."""
    if double:
        words = np.ascontiguousarray(number, np.float64).view(np.uint64)
        work.put(to, words & MASK)
        work.put(to, words >> _HIGH, 1)
    else:
        rounded = _flushed(work, number.astype(np.float32).astype(np.float64)).astype(np.float32)
        work.put(to, rounded.view(np.uint32).astype(np.uint64))


def _flushed(work: GroupOperation, number: Numbers) -> Numbers:
    return np.where(np.abs(number) < _TINY, 0.0, number) if "FTZ" in work.modifiers else number


@np.errstate(all="ignore")
def _of_two(work: GroupOperation, compute: Callable[[Numbers, Numbers], Numbers]) -> None:
    to, left, right = work.instruction.operands
    _put_result(work, to, compute(*(number_of(work, each, double=is_double(work)) for each in (left, right))))


def _put_result(work: GroupOperation, to: Operand, number: Numbers) -> None:
    if work.modifiers - {*ROUNDINGS, *_SCALES, "FTZ", "SAT"}:
        raise UnknownError
    put_number(work, to, np.clip(np.nan_to_num(number), 0, 1) if "SAT" in work.modifiers else number, double=is_double(work))


def _sum(work: GroupOperation) -> None:
    _of_two(work, np.add)


@np.errstate(all="ignore")
def _product(work: GroupOperation) -> None:
    """A product, scaled where it says so: FMUL.D4 is a quarter of it."""
    scales = [_SCALES[each] for each in work.modifiers if each in _SCALES]
    to, *factors = work.instruction.operands
    a, b = (number_of(work, each, double=is_double(work)) for each in factors)
    _put_result(work, to, a * b * prod(scales))


@np.errstate(all="ignore")
def _product_and_sum(work: GroupOperation) -> None:
    to, *factors = work.instruction.operands
    a, b, c = (number_of(work, each, double=is_double(work)) for each in factors)
    _put_result(work, to, a * b + c)


@np.errstate(all="ignore")
def _least_or_greatest(work: GroupOperation) -> None:
    to, left, right, least = work.instruction.operands
    if work.modifiers - {"FTZ", "NAN"}:
        raise UnknownError
    a, b = (number_of(work, each, double=is_double(work)) for each in (left, right))
    put_number(work, to, np.where(work.truth(least), np.fmin(a, b), np.fmax(a, b)), double=is_double(work))


def _selected(work: GroupOperation) -> None:
    to, left, right, first = work.instruction.operands
    if work.modifiers - {"FTZ"}:
        raise UnknownError
    a, b = (number_of(work, each, double=False) for each in (left, right))
    put_number(work, to, np.where(work.truth(first), a, b), double=False)


@np.errstate(all="ignore")
def _compared(work: GroupOperation, left: Operand, right: Operand, also: Operand) -> tuple[Truth, Truth]:
    """Return a comparison combined with another truth, and its opposite combined with it."""
    _, name, *rest = (part for part in work.instruction.opcode.split(".") if part != "BF")
    combine = _COMBINED[next((each for each in rest if each in _COMBINED), "")]
    a, b = (number_of(work, each, double=is_double(work)) for each in (left, right))
    unordered = np.isnan(a) | np.isnan(b)
    match name:
        case "NUM" | "NAN":
            truth = unordered == (name == "NAN")
        case _ if name.removesuffix("U") in _ORDERED:
            truth = _ORDERED[name.removesuffix("U")](a, b)
            truth = truth | unordered if name.endswith("U") else truth & ~unordered
        case _:
            raise UnknownError
    other = work.truth(also)
    return combine(truth, other), combine(~truth, other)


def _set_truth(work: GroupOperation) -> None:
    to, opposite, left, right, also = work.instruction.operands
    if work.modifiers & _EXTREMES:
        _choose_extreme(work)
        return
    truth, rest = _compared(work, left, right, also)
    work.put(to, truth)
    work.put(opposite, rest)


def _choose_extreme(work: GroupOperation) -> None:
    """DSETP.MAX, DSETP.MIN: whether the first number is to be taken, and whether neither is one (the code then makes the second quiet).

    A number is taken in place of what is none, as the maximum of PTX is defined.
    """
    to, neither, left, right, also = work.instruction.operands
    if work.modifiers not in ({"MAX", "AND"}, {"MIN", "AND"}) or not work.truth(also).all():
        raise UnknownError
    a, b = (number_of(work, each, double=is_double(work)) for each in (left, right))
    first = (a > b) if "MAX" in work.modifiers else (a < b)
    # Which of two equal numbers is taken, and what is none, no standard settles.
    work.drawn = not ((a < b) | (a > b)).all()
    work.put(to, first | np.isnan(b))
    work.put(neither, np.isnan(a) & np.isnan(b))


def _set_word(work: GroupOperation) -> None:
    """FSET, DSET: all ones, or 1.0 with BF, where a comparison holds."""
    to, left, right, also = work.instruction.operands
    if isinstance(to, Register) and "CC" in to.modifiers:
        raise UnknownError
    truth, _ = _compared(work, left, right, also)
    work.put(to, truth.astype(np.uint64) * (_ONE if "BF" in work.modifiers else MASK))


@np.errstate(all="ignore")
def function(work: GroupOperation) -> None:
    """Compute a function of MUFU but for the reciprocal in single precision."""
    to, source = work.instruction.operands
    (name,) = work.modifiers - {"FTZ"}
    if name in _HIGH_WORDS:
        number = (work.word(source) << _HIGH).view(np.float64)
        work.put(to, _HIGH_WORDS[name](number).view(np.uint64) >> _HIGH)
    elif name in _FUNCTIONS:
        put_number(work, to, _FUNCTIONS[name](number_of(work, source, double=False)), double=False)
    else:
        raise UnknownError


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **dict.fromkeys(("FADD", "FADD32I", "DADD"), _sum),
    **dict.fromkeys(("FMUL", "FMUL32I", "UFMUL", "DMUL"), _product),
    **dict.fromkeys(("FFMA", "FFMA32I", "DFMA"), _product_and_sum),
    **dict.fromkeys(("FMNMX", "DMNMX"), _least_or_greatest),
    **dict.fromkeys(("FSETP", "DSETP"), _set_truth),
    **dict.fromkeys(("FSET", "DSET"), _set_word),
    "FSEL": _selected,
}
