"""Numba CUDA: the bounds of a kernel compiled from its signature, without a GPU, and of what a dispatcher has compiled on one.

    from sassan.integrations import numba as sassan_numba

    sassan_numba.analyze(saxpy, "void(int32, float32, float32[::1], float32[::1])", arch="sm_80", loop_bound=10).wcet
    sassan_numba.analyze_compiled(saxpy)        # after it ran on a GPU: a kernel for each signature

Numba stops at PTX where there is no GPU; ptxas, which comes with the NVVM that Numba needs, makes the cubin. `numba-cuda` is needed, which
has taken the place of the CUDA target inside `numba` itself.
"""

import re
from collections.abc import Callable, Mapping
from typing import Protocol, Unpack, cast

from sassan.api import Choices, Kernel
from sassan.api import analyze as analyze_cubin
from sassan.arch import described
from sassan.compilers import assemble
from sassan.errors import InputError
from sassan.integrations.extra import library
from sassan.integrations.parameter_names import of_numba, program

_EXTRA = "numba"


class _Library(Protocol):
    def get_cubin(self) -> object: ...


class Dispatcher(Protocol):
    """A function of `numba.cuda.jit`."""

    @property
    def py_func(self) -> Callable[..., object]:
        """Return the Python function."""
        ...

    @property
    def overloads(self) -> Mapping[object, object]:
        """Return what was compiled, by signature."""
        ...


def ptx(
    function: Callable[..., object] | Dispatcher, signature: object, *, arch: str = "sm_80", options: Mapping[str, bool] | None = None
) -> str:
    """Return the PTX of a kernel for `arch`; no GPU is needed.

    `signature` is Numba's, as text or as an object; `options` are those of `numba.cuda.compile_ptx`, such as `fastmath` and `lineinfo`.
    Raises InputError `unsupported-architecture`, MissingToolError; what Numba itself raises is passed on.
    """
    cuda = library("numba.cuda", _EXTRA)
    number = described(arch).number
    python = getattr(function, "py_func", function)
    text, _ = cuda.compile_ptx(python, signature, device=False, cc=divmod(number, 10), **(options or {}))
    return cast("str", text)


def analyze(
    function: Callable[..., object] | Dispatcher,
    signature: object,
    *,
    arch: str = "sm_80",
    options: Mapping[str, bool] | None = None,
    **choices: Unpack[Choices],
) -> Kernel:
    """Return the bounds of a kernel compiled for `arch` from its signature; choices as of `sassan.analyze`.

    A parameter is called as in the Python function, an array `x` is `x_data`, `x_nitems`, `x_shape0`, `x_stride0` and others.

    Raises InputError for what cannot be assembled (a device function of another language that is linked at run time), MissingToolError, and
    what `sassan.analyze` raises.
    """
    text = ptx(function, signature, arch=arch, options=options)
    entry = re.search(r"\.entry\s+([\w$]+)", text, re.ASCII)
    if entry is None:
        raise InputError("no-function", "Numba's PTX holds no kernel")
    name = getattr(getattr(function, "py_func", function), "__qualname__", "numba")
    cubin = assemble(text.encode(), arch=described(arch).name, name=str(name))
    names = of_numba(function, library("numba.core.sigutils", _EXTRA).normalize_signature(signature)[0])
    return analyze_cubin(program(cubin, entry[1], names), function=entry[1], **choices)[0]


def analyze_compiled(dispatcher: Dispatcher, **choices: Unpack[Choices]) -> dict[str, Kernel]:
    """Return the bounds of everything that a dispatcher has compiled for the GPU of this process, by signature as text.

    Raises InputError for a device function, and what `sassan.analyze` raises.
    """
    kernels: dict[str, Kernel] = {}
    for signature, overload in dispatcher.overloads.items():
        names = of_numba(dispatcher, signature if isinstance(signature, tuple) else ())
        kernels[str(signature)] = analyze_cubin(program(_cubin(overload), None, names), **choices)[0]
    return kernels


def _cubin(overload: object) -> bytes:
    """Return the cubin of a compiled kernel: bytes, or the code of an object of cuda-core, by the version of Numba CUDA."""
    # The public function, inspect_sass, is the text of a disassembler that must stand on PATH.
    linked = cast("_Library", getattr(overload, "_codelibrary")).get_cubin()  # noqa: B009 - the record has no type
    code = getattr(linked, "code", linked)
    if not isinstance(code, bytes):
        raise InputError("no-gpu-code", "Numba gives no cubin of it", hint="analyze the kernel, not a device function")
    return code
