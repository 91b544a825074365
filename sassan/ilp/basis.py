"""The multipliers of a basis, in exact arithmetic.

A solver's multipliers are doubles; in deep nests of loops they span ten decades, and no rounding of them proves anything. The basis that
the solver ended in says which reduced costs are zero, and these equations have one solution (D. L. Applegate, W. Cook, S. Dash,
D. G. Espinoza, "Exact solutions to linear programming problems", Operations Research Letters 35, 2007). In an IPET system nearly all of
them have one or two unknowns at their turn, so elimination fills nothing in.
"""

from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

from sassan.ilp.model import Model, Rational

_LONGEST = 32
"""Unknowns of an equation beyond which elimination would fill in more than its proof is worth."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The variables between their bounds, and as many rows that hold with equality; the multipliers of the other rows are 0."""

    variables: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(slots=True)
class _Equation:
    """The sum of coefficient * multiplier over rows is `right`: the reduced cost of a variable of the basis is 0."""

    terms: dict[int, Rational]
    right: Rational


def multipliers(model: Model, basis: Basis) -> list[Rational] | None:
    """Return the multiplier of every row, None where the basis does not determine them, or only with long equations."""
    equations, users = _equations(model, basis)
    out: list[Rational] = [0] * len(model.rows)
    solved = _eliminated(equations, users)
    if len(solved) < len(basis.rows):
        return None
    for row, equation in reversed(solved):
        value = equation.right - sum(factor * out[other] for other, factor in equation.terms.items())
        out[row] = value.numerator if value.denominator == 1 else value
    return out


def _equations(model: Model, basis: Basis) -> tuple[dict[int, _Equation], dict[int, set[int]]]:
    """Return the equation of each variable of the basis, and the equations that each row occurs in."""
    equations = {variable: _Equation({}, 0) for variable in basis.variables}
    for variable, factor in model.objective:
        if variable in equations:
            equations[variable].right = factor
    users: dict[int, set[int]] = {}
    for row in basis.rows:
        here = users[row] = set[int]()
        for variable, factor in model.rows[row].terms:
            equation = equations.get(variable)
            if equation is not None:
                equation.terms[row] = factor
                here.add(variable)
    return equations, users


def _eliminated(equations: dict[int, _Equation], users: dict[int, set[int]]) -> list[tuple[int, _Equation]]:
    """Solve equations one by one, the shortest first, each for one row; return the rows in this order, each by rows that follow it."""
    waiting = [(len(equation.terms), variable) for variable, equation in equations.items()]
    heapify(waiting)
    solved: list[tuple[int, _Equation]] = []
    while waiting:
        length, variable = heappop(waiting)
        equation = equations.get(variable)
        if equation is None or len(equation.terms) != length:
            continue  # an entry from before a substitution
        if not 0 < length <= _LONGEST:
            break
        del equations[variable]
        row = _pivot(equation.terms, users)
        for other in equation.terms:
            users[other].discard(variable)
        _solve_for(equation, row)
        solved.append((row, equation))
        for user in users.pop(row):
            _substitute(equations[user], row, equation, user, users)
            heappush(waiting, (len(equations[user].terms), user))
    return solved


def _pivot(terms: dict[int, Rational], users: dict[int, set[int]]) -> int:
    """Return the row to solve for: one without a division, in few other equations."""
    return min(terms, key=lambda row: (abs(terms[row]) != 1, len(users[row]), row))


def _solve_for(equation: _Equation, row: int) -> None:
    factor = equation.terms.pop(row)
    if factor == 1:
        return
    inverse = -1 if factor == -1 else 1 / Fraction(factor)
    equation.right *= inverse
    for other in equation.terms:
        equation.terms[other] *= inverse


def _substitute(equation: _Equation, row: int, by: _Equation, user: int, users: dict[int, set[int]]) -> None:
    factor = equation.terms.pop(row)
    equation.right -= factor * by.right
    for other, share in by.terms.items():
        rest = equation.terms.get(other, 0) - factor * share
        if rest:
            equation.terms[other] = rest
            users[other].add(user)
        else:
            del equation.terms[other]
            users[other].discard(user)
