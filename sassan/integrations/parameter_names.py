"""The names of parameters as a Python front end has them: of Triton's signature, and of the arrays that Numba takes apart."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence

from sassan import api
from sassan.app.parameter_names import named
from sassan.compilers.python_signatures import parts_of_array
from sassan.compilers.signatures import NamedParameter
from sassan.ir import Program

_POINTER = 8
_TRITON_BYTES = {"i32": 4, "u32": 4, "fp32": 4, "i64": 8, "u64": 8, "fp64": 8}


def program(cubin: bytes, kernel: str | None, names: Sequence[NamedParameter] | None, *, further: bool = False) -> Program:
    """Return the program of a cubin; the parameters of a kernel (None: of the only one) have these names, where they fit."""
    read = api.read(cubin)
    meant = [each.name for each in read.functions if each.kernel and kernel in (None, each.name)]
    functions = (named(each, names, further=further) if names and meant == [each.name] else each for each in read.functions)
    return Program(read.name, tuple(functions))


def of_triton(source: object) -> list[NamedParameter] | None:
    """Return the parameters of a kernel by its signature: all but constants; None where one is taken apart, or there is no signature."""
    signature, constants = getattr(source, "signature", None), getattr(source, "constants", None) or {}
    if not isinstance(signature, Mapping):
        return None
    out: list[NamedParameter] = []
    for place, (name, kind) in enumerate(signature.items()):
        if kind == "constexpr" or name in constants or (place,) in constants or place in constants:
            continue
        if not isinstance(name, str) or not isinstance(kind, str) or not (kind.startswith("*") or kind in _TRITON_BYTES):
            return None
        out.append(NamedParameter(name, _POINTER if kind.startswith("*") else _TRITON_BYTES[kind]))
    return out


def of_numba(function: object, types: Sequence[object]) -> list[NamedParameter] | None:
    """Return the parameters of a kernel by the types of its arguments: `x_data` and others for an array `x`; None where it has others."""
    python = getattr(function, "py_func", function)
    if not callable(python):
        return None
    names = _arguments(python)
    parts = [list(_parts(name, each)) for name, each in zip(names, types, strict=False)]
    return [part for several in parts for part in several] if len(names) == len(types) and all(parts) else None


def _arguments(python: Callable[..., object]) -> list[str]:
    try:
        return list(inspect.signature(python).parameters)
    except (TypeError, ValueError):
        return []


def _parts(name: str, kind: object) -> Iterator[NamedParameter]:
    """Yield the parameters of one argument, none where its type is not known."""
    dimensions, bits = getattr(kind, "ndim", None), getattr(kind, "bitwidth", None)
    if isinstance(dimensions, int):
        yield from parts_of_array(name, dimensions)
    elif isinstance(bits, int):
        yield NamedParameter(name, bits // 8)
