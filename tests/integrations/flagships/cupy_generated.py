"""CUDA C++ that CuPy itself generates, without a GPU: elementwise kernels, functions of arrays (ufunc), reductions.

CuPy generates a source when a kernel is called with arrays, which need a GPU: here its inner functions get what it would say of them.
"""

from pathlib import Path

import cupy
import numpy as np
from cupy._core import _carray, _kernel, _reduction, _scalar, core

from integrations.flagships.cupy_kernels import CupyCase

_ARRAY, _INDEXER, _SCALAR = 1, 2, 3
"""Kinds of arguments, by CuPy's numbers."""
_BLOCK = 512
_HEADERS = "".join(f"#include <{name}>\n" for name in core._cupy_header_list) + "typedef int IndexT;\n"
"""What CuPy puts before every source; numbers of elements are of 32 bits, as for arrays that are not huge."""
_INCLUDE = Path(cupy.__file__).parent / "_core" / "include"
_OPTIONS = ("--std=c++17", f"-I{_INCLUDE}", *(f"-I{_INCLUDE / 'cupy' / '_cccl' / part}" for part in ("cub", "thrust", "libcudacxx")))


def _array(kind: type, axes: int) -> object:
    return _kernel._ArgInfo(_ARRAY, cupy.ndarray, kind, axes, False, True)


def _indexer(axes: int) -> object:
    return _kernel._ArgInfo(_INDEXER, _carray.Indexer, None, axes, True, True)


def _elementwise(types: str, out: str, operation: str, kind: type, axes: int) -> str:
    kernel = cupy.ElementwiseKernel(types, out, operation, "made")
    arguments = (*(_array(kind, axes) for _ in range(kernel.nargs)), _indexer(axes))
    return _kernel._get_elementwise_kernel_code(
        arguments, _kernel._TypeMap((("T", kind),)), kernel.params, kernel.operation, kernel.name, kernel.preamble, "", "", ()
    )


def _function(function: object, kind: type, axes: int) -> str:
    """Return the source of a function of arrays for one type."""
    chosen = next(one for one in function._ops.ops if all(np.dtype(each) == np.dtype(kind) for each in one.in_types))
    ins = {f"in{place}": np.dtype(each) for place, each in enumerate(chosen.in_types)}
    outs = {f"out{place}": np.dtype(each) for place, each in enumerate(chosen.out_types)}
    typed = "".join(f"typedef {_scalar.get_typename(each)} {name}_type;\n" for name, each in (ins | outs).items())
    parameters = (", ".join(f"{each.name} {name}" for name, each in some.items()) for some in (ins, outs))
    kernel = cupy.ElementwiseKernel(*parameters, chosen.routine, "made")
    arguments = (*(_array(each.type, axes) for each in (ins | outs).values()), _indexer(axes))
    preamble = typed + function._preamble
    return _kernel._get_elementwise_kernel_code(
        arguments, _kernel._TypeMap(()), kernel.params, kernel.operation, kernel.name, preamble, function._loop_prep, "", ()
    )


def _reduced(mapping: str, reducing: str, last: str, first: str, kind: type) -> str:
    kernel = cupy.ReductionKernel("T x", "T y", mapping, reducing, last, first, "made")
    stride = _kernel._ArgInfo(_SCALAR, np.int32, np.int32, 0, True, True)
    arguments = (_array(kind, 2), _array(kind, 1), _indexer(2), _indexer(1), stride)
    return _reduction._ReductionKernel_get_cached_function_code(
        1, 1, kernel._params, arguments, _kernel._TypeMap((("T", kind),)), "made", _BLOCK, kernel.reduce_type, kernel.identity,
        kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr, kernel.preamble, (),
    )  # fmt: skip


def _case_reduced(name: str, source: str) -> CupyCase:
    # CuPy chooses this type by the size of the array.
    return _case(name, f"typedef int IndexT;\n{source}")


def _case(name: str, source: str) -> CupyCase:
    return CupyCase(f"cupy-{name}", _HEADERS + source, _OPTIONS)


_FUNCTIONS = (
    ("exp", cupy.exp, np.float64, 1),
    ("sin", cupy.sin, np.float32, 2),
    ("power", cupy.power, np.float64, 3),
    ("divide", cupy.floor_divide, np.int64, 2),
    ("add-half", cupy.add, np.float16, 2),
    ("multiply-complex", cupy.multiply, np.complex128, 2),
    ("tanh", cupy.tanh, np.float64, 1),
    ("greater", cupy.greater, np.float32, 2),
)
CASES = (
    _case("squares", _elementwise("T x, T y", "T z", "z = (x - y) * (x - y)", np.float32, 2)),
    _case("raw", _elementwise("raw T x, T y", "T z", "z = x[i / 2] + y", np.float64, 1)),
    *(_case(name, _function(function, kind, axes)) for name, function, kind, axes in _FUNCTIONS),
    _case_reduced("norm", _reduced("x * x", "a + b", "y = sqrt(a)", "0", np.float32)),
    _case_reduced("most", _reduced("x", "max(a, b)", "y = a", "-1e30", np.float64)),
)
