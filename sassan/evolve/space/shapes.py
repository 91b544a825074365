"""Launch shapes as expressions over genes: `["TILE", "TILE"]`, `["ceil(4096 / (TILE * WORK))"]`, computed with exact fractions.

Restrictions compare such expressions: `"TILE * WORK <= 64 and TILE % 2 == 0"`.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ROUNDINGS: Mapping[str, Callable[[Fraction], int]] = {"ceil": ceil, "floor": floor}
_LONGEST = 200


class ShapeProblem(Exception):  # noqa: N818 - converted to an error of the file by the caller
    """An expression is invalid or has no integer value; the message says why."""


def extent(text: str, numbers: Mapping[str, int]) -> int:
    """Return the value of an expression over integers, names, + - * / // %, ceil() and floor(); raises ShapeProblem."""
    value = _value(_tree(text), numbers)
    if value.denominator != 1:
        raise ShapeProblem(f"'{text}' is {value}, not an integer: use ceil(...)")
    return int(value)


def holds(text: str, numbers: Mapping[str, int]) -> bool:
    """Return whether a restriction holds: comparisons of expressions, with `and`, `or` and `not`; raises ShapeProblem."""
    return _truth(_tree(text), numbers)


def names(text: str) -> frozenset[str]:
    """Return the names in an expression; raises ShapeProblem."""
    return frozenset(node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)) - _ROUNDINGS.keys()


def _tree(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ShapeProblem("the expression is too long")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ShapeProblem(f"'{text}' is not an expression") from None


def _value(tree: ast.expr, numbers: Mapping[str, int]) -> Fraction:
    match tree:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return Fraction(number)
        case ast.Name(id=name):
            if name not in numbers:
                raise ShapeProblem(f"'{name}' is not a gene with integer values")
            return Fraction(numbers[name])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            try:
                return Fraction(_OPERATIONS[type(op)](_value(left, numbers), _value(right, numbers)))
            except ZeroDivisionError:
                raise ShapeProblem("division by zero") from None
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _ROUNDINGS:
            return Fraction(_ROUNDINGS[name](_value(inner, numbers)))
        case _:
            raise ShapeProblem(f"'{ast.unparse(tree)}' is not allowed: use numbers, genes, + - * / // %, ceil() and floor()")


def _truth(tree: ast.expr, numbers: Mapping[str, int]) -> bool:
    match tree:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_truth(part, numbers) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_truth(part, numbers) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _truth(inner, numbers)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            values = [_value(part, numbers) for part in (left, *others)]
            return all(_COMPARISONS[type(op)](*pair) for op, pair in zip(ops, pairwise(values), strict=True))
        case _:
            raise ShapeProblem(f"'{ast.unparse(tree)}' is not a comparison")
