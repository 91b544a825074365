"""NVRTC and CuPy: the bounds of kernels given as CUDA C++, without a GPU.

from sassan.integrations import nvrtc

nvrtc.analyze_source(source, arch="sm_80", options=["--use_fast_math"])["saxpy"].wcet
nvrtc.analyze_raw(cupy.RawKernel(source, "saxpy"), arch="sm_80")
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Unpack, cast

from sassan.api import Choices, Kernels, analyze, read
from sassan.compilers import compile_source
from sassan.errors import UsageError


class Raw(Protocol):
    """What `cupy.RawKernel` and `cupy.RawModule` have in common."""

    @property
    def code(self) -> str | None:
        """Return the source; None where the object was made of a file of machine code."""
        ...

    @property
    def options(self) -> Sequence[str]:
        """Return the compiler's options."""
        ...


def analyze_source(
    source: str,
    *,
    arch: str,
    options: Sequence[str] = (),
    instances: Sequence[str] = (),
    name: str = "source.cu",
    **choices: Unpack[Choices],
) -> Kernels:
    """Return the bounds of every kernel of a source compiled for `arch`; choices as of `sassan.analyze`.

    `options` are NVRTC's own; `instances` are the instances of templates that are wanted (`scale<float>`).
    Raises InputError `compile-failed` at the place of the first complaint, MissingToolError, and what `sassan.analyze` raises.
    """
    made = compile_source(source, arch=arch, name=name, options=options, instances=instances)
    return analyze(read(made.cubin, name=name), **choices)


def analyze_raw(raw: Raw, *, arch: str, **choices: Unpack[Choices]) -> Kernels:
    """Return the bounds of a `cupy.RawKernel` (of it alone) or of every kernel of a `cupy.RawModule`, compiled anew for `arch`.

    Raises UsageError for a module that was loaded from machine code, and what `analyze_source` raises.
    """
    if not raw.code:
        raise UsageError("no-source", "it was made of machine code, not of a source", hint="sassan.analyze takes the file itself")
    instances = tuple(cast("Sequence[str] | None", getattr(raw, "name_expressions", None)) or ())
    only = cast("str | None", getattr(raw, "name", None))
    options = [*raw.options, *_headers()]
    kernels = analyze_source(raw.code, arch=arch, options=options, instances=instances, **choices)
    if only is None or only not in [kernel.name for kernel in kernels]:
        return kernels
    return Kernels(kernels.file, (kernels[only],))


def _headers() -> tuple[str, ...]:
    """Return where CuPy keeps the headers that its sources may include, nothing where it is not installed."""
    import importlib.util  # noqa: PLC0415

    spec = importlib.util.find_spec("cupy")
    folders = spec.submodule_search_locations or () if spec is not None else ()
    roots = [Path(folder) / "_core" / "include" for folder in folders]
    return tuple(f"-I{root / inner}" for root in roots for inner in ("cupy/_cccl/cub", "cupy/_cccl/thrust", "cupy/_cccl/libcudacxx", "."))
