"""LP and MPS files for any other solver: named rows, the math as comments, the same bytes for the same model.

PuLP writes neither the comments nor (in MPS) the direction of the objective, hence these writers.
LP: the CPLEX LP format, comments begin with a backslash. MPS: the free format that HiGHS, CBC, GLPK and SCIP read; since readers
disagree on OBJSENSE, the MPS file minimises the negated objective, and says so.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sassan.ilp.model import Model, Row, Terms, check_names
from sassan.names import visible

_PER_LINE = 8
_MPS_SENSE = {"<=": "L", "=": "E", ">=": "G"}
_T = TypeVar("_T")


def lp(model: Model) -> str:
    """Return the model as CPLEX LP text."""
    check_names(model)
    return "\n".join((*_lp_head(model), *_lp_rows(model), *_lp_tail(model))) + "\n"


def _in_lines(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (items[start : start + _PER_LINE] for start in range(0, len(items), _PER_LINE))


def _comment(mark: str, text: str) -> Iterator[str]:
    for line in text.splitlines():
        plain = visible(line).encode("ascii", "backslashreplace").decode()
        yield f"{mark} {plain}".rstrip()


def _lp_head(model: Model) -> Iterator[str]:
    yield from _comment("\\", model.math)
    for variable in model.variables:
        if variable.math:
            yield from _comment("\\", f"{variable.name}: {variable.math}")
    yield "Maximize"
    yield from _lp_form("objective", model, model.objective)
    yield "Subject To"


def _lp_rows(model: Model) -> Iterator[str]:
    for row in model.rows:
        yield from _comment("\\", row.math)
        lines = [*_lp_form(row.name, model, row.terms)]
        yield from lines[:-1]
        yield f"{lines[-1]} {row.sense} {row.rhs}"


def _lp_form(name: str, model: Model, terms: Terms) -> Iterator[str]:
    """Yield `name: + 3 x - 2 y`, a few terms per line; a form without terms is written as 0 times the first variable."""
    start = f" {name}:"
    for some in _in_lines(terms or ((0, 0),)):
        yield start + "".join(f" {'-' if factor < 0 else '+'} {abs(factor)} {model.variables[index].name}" for index, factor in some)
        start = "   "


def _lp_tail(model: Model) -> Iterator[str]:
    yield "Bounds"
    for variable in model.variables:
        yield f" {variable.name} >= {variable.lower}"
    yield "Generals"
    for some in _in_lines(model.variables):
        yield " " + " ".join(variable.name for variable in some)
    yield "End"


def mps(model: Model) -> str:
    """Return the model as free MPS text: minimise the negated objective."""
    check_names(model)
    return "\n".join((*_mps_head(model), *_mps_columns(model), *_mps_tail(model))) + "\n"


def _mps_head(model: Model) -> Iterator[str]:
    yield "* MINIMISE: the objective row is the negated objective"
    yield from _comment("*", model.math)
    for variable in model.variables:
        if variable.math:
            yield from _comment("*", f"{variable.name}: {variable.math}")
    yield "NAME ipet FREE"  # CBC guesses fixed columns without the last word
    yield "ROWS"
    yield " N objective"
    for row in model.rows:
        yield from _comment("*", row.math)
        yield f" {_MPS_SENSE[row.sense]} {row.name}"


def _mps_columns(model: Model) -> Iterator[str]:
    columns: list[list[tuple[str, int]]] = [[] for _ in model.variables]
    for index, factor in model.objective:
        columns[index].append(("objective", -factor))
    for row in model.rows:
        for index, factor in row.terms:
            columns[index].append((row.name, factor))
    yield "COLUMNS"
    yield " MARKER 'MARKER' 'INTORG'"
    for variable, entries in zip(model.variables, columns, strict=True):
        for name, factor in entries or [("objective", 0)]:
            yield f" {variable.name} {name} {factor}"
    yield " MARKER 'MARKER' 'INTEND'"


def _mps_tail(model: Model) -> Iterator[str]:
    yield "RHS"
    yield from (_rhs(row) for row in model.rows if row.rhs)
    # Without a bound of their own, some readers give integer columns the upper bound 1.
    yield "BOUNDS"
    for variable in model.variables:
        yield f" LO BND {variable.name} {variable.lower}"
        yield f" PL BND {variable.name}"
    yield "ENDATA"


def _rhs(row: Row) -> str:
    return f" RHS {row.name} {row.rhs}"
