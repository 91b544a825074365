"""Names of kernel parameters from Python: `def kernel(x, n, BLOCK: tl.constexpr)` of a source, and the parts of an array of Numba.

A source is parsed and never run. A definition that is there twice, or takes other than plain parameters, yields no names.
"""

import ast
import warnings
from collections.abc import Iterator, Sequence

from sassan.compilers.signatures import NamedParameter

_POINTER = 8
_ARRAY = ("meminfo", "parent", "nitems", "itemsize", "data")
"""The words of an array in Numba, before its shape and its strides."""
_CONSTANT = "constexpr"


def parts_of_array(name: str, dimensions: int) -> Iterator[NamedParameter]:
    """Yield the parameters that Numba makes of an array: `x_data` and others of `x`."""
    axes = [f"{word}{axis}" for word in ("shape", "stride") for axis in range(dimensions)]
    yield from (NamedParameter(f"{name}_{word}", _POINTER) for word in (*_ARRAY, *axes))


def parameters(text: str, qualified: Sequence[str], line: int | None = None) -> tuple[str, ...] | None:
    """Return the parameters of the only function of a qualified name (`outer`, `inner`), without constants of compilation.

    `line`: of the only one that has it. None where there is none, or several, or it takes more than plain parameters.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    matching = [each for each in _definitions(module, qualified) if line is None or _has(each, line)]
    return _names(matching[0]) if len(matching) == 1 else None


def _definitions(node: ast.AST, path: Sequence[str]) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a path of names below a node, whatever statements they are in."""
    first, *rest = path
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _definitions(child, path)
        elif child.name == first and rest:
            yield from _definitions(child, rest)
        elif child.name == first and isinstance(child, ast.FunctionDef):
            yield child


def _has(function: ast.FunctionDef, line: int) -> bool:
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return first <= line <= (function.end_lineno or first)


def _names(function: ast.FunctionDef) -> tuple[str, ...] | None:
    given = function.args
    if given.vararg is not None or given.kwarg is not None or given.kwonlyargs:
        return None
    named = [(each.arg, ast.unparse(each.annotation) if each.annotation is not None else "") for each in (*given.posonlyargs, *given.args)]
    return tuple(name for name, annotation in named if _CONSTANT not in annotation)
