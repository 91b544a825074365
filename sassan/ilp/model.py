"""An integer linear program as a frozen value: what `ipet/` fills, what `write` prints and what `solve` hands to a solver.

Every coefficient is an integer, so that a solution can be checked exactly; who has rational costs scales them first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal, NamedTuple

from sassan.errors import SelfCheckError

Rational = int | Fraction
"""An exact number: whole where it can be, for Python adds whole numbers ten times as fast as fractions."""
Sense = Literal["<=", "=", ">="]
Terms = tuple[tuple[int, int], ...]
"""(index of a variable, coefficient), sorted by index, no index twice, no coefficient 0."""

_WIDEST = 256
"""Bits of a common denominator up to which whole numbers are faster than fractions."""
_SIGNS = {"<=": 1, ">=": -1}
"""Of the multipliers of a row."""
_LONGEST = 200
"""Characters of a name: LP and MPS readers take 255."""


class IntegerVariable(NamedTuple):
    """An integer unknown, at least `lower`; `math` says in words what it counts."""

    name: str
    math: str = ""
    lower: int = 0


class Row(NamedTuple):
    """`terms sense rhs`; `math` is the formula that it instantiates."""

    name: str
    terms: Terms
    sense: Sense
    rhs: int
    math: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """Maximise `objective` over `variables` under `rows`."""

    name: str
    variables: tuple[IntegerVariable, ...]
    objective: Terms
    rows: tuple[Row, ...]
    math: str = ""


def combine(terms: Iterable[tuple[int, int]]) -> Terms:
    """Return the terms with one entry per variable: like terms are added, zeros dropped."""
    total: dict[int, int] = {}
    for index, factor in terms:
        total[index] = total.get(index, 0) + factor
    return tuple(sorted([term for term in total.items() if term[1]]))


def evaluate(terms: Terms, values: tuple[int, ...]) -> int:
    """Return the value of the linear form, exactly."""
    return sum([factor * values[index] for index, factor in terms])


def violated(model: Model, values: tuple[int, ...]) -> str | None:
    """Return the name of the first variable or row that `values` violates, or None: plain integer arithmetic, no tolerance."""
    for variable, value in zip(model.variables, values, strict=True):
        if value < variable.lower:
            return variable.name
    for row in model.rows:
        above = evaluate(row.terms, values) - row.rhs
        if (above > 0 and row.sense != ">=") or (above < 0 and row.sense != "<="):
            return row.name
    return None


def dual_bound(model: Model, multipliers: Sequence[Rational]) -> Fraction | None:
    """Return an upper bound of the objective that `multipliers` (one per row) prove, or None where they prove nothing.

    Weak duality, in exact arithmetic: with y >= 0 on `<=` rows, y <= 0 on `>=` rows and every reduced cost r = c - yA <= 0,
    c x = y A x + r x <= y b + r lower. Wherever the multipliers come from, what this returns holds.
    """
    given, scale = _whole(multipliers)
    if any(value * _SIGNS.get(row.sense, 0) < 0 for row, value in zip(model.rows, given, strict=True) if value):
        return None
    reduced = _reduced(model, given, scale)
    if any(rest > 0 for rest in reduced):
        return None
    bound = sum(value * row.rhs for row, value in zip(model.rows, given, strict=True) if value and row.rhs)
    bound += sum(rest * variable.lower for rest, variable in zip(reduced, model.variables, strict=True) if variable.lower)
    return Fraction(bound) / scale


def covered(model: Model, multipliers: Sequence[Rational], cover: int) -> tuple[Rational, ...]:
    """Return the multipliers with that of row `cover` raised until they prove a bound, and those of a wrong sign set to 0.

    `cover` is a `<=` row with a coefficient of at least 1 for every variable: what rounding left of positive reduced costs, it takes away.
    """
    fit = [0 if value * _SIGNS.get(row.sense, 0) < 0 else value for row, value in zip(model.rows, multipliers, strict=True)]
    given, scale = _whole(fit)
    largest = max((rest for rest in _reduced(model, given, scale) if rest > 0), default=0)
    fit[cover] += Fraction(largest) / scale
    return tuple(fit)


def _whole(multipliers: Sequence[Rational]) -> tuple[Sequence[Rational], int]:
    """Return the multipliers times a number that makes them whole, and this number; as they are, and 1, where it would be long."""
    scale = 1
    for denominator in {value.denominator for value in multipliers}:
        scale = lcm(scale, denominator)
        if scale.bit_length() > _WIDEST:
            return multipliers, 1
    return [value.numerator * (scale // value.denominator) for value in multipliers], scale


def _reduced(model: Model, multipliers: Sequence[Rational], scale: int) -> list[Rational]:
    """Return c - yA, times `scale`."""
    reduced: list[Rational] = [0] * len(model.variables)
    for index, factor in model.objective:
        reduced[index] += scale * factor
    for row, multiplier in zip(model.rows, multipliers, strict=True):
        if multiplier:
            for index, factor in row.terms:
                reduced[index] -= multiplier * factor
    return reduced


def check_names(model: Model) -> None:
    """Raise SelfCheckError unless every name is plain, short and used once: what LP and MPS readers agree on."""
    seen: set[str] = set()
    for name in (*(each.name for each in model.variables), *(each.name for each in model.rows)):
        # A name that begins with e could be read as an exponent.
        plain = name.isascii() and name.replace("_", "").isalnum() and name[:1].isalpha() and name[:1] not in "eE"
        if name in seen or len(name) > _LONGEST or not plain:
            raise SelfCheckError("bad-row-name", f"the name {name!r} is not fit for LP and MPS files")
        seen.add(name)
