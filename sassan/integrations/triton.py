"""Triton: the bounds of a kernel compiled for any target, with or without a GPU, and of every kernel that a program compiles.

    from sassan.integrations import triton as sassan_triton

    compiled = sassan_triton.compile_for(add, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256}, arch="sm_80")
    sassan_triton.analyze(compiled).wcet

    with sassan_triton.watching() as seen:      # around a program that launches kernels
        add[grid](x, n, BLOCK=256)
    seen.kernels

Triton needs no torch for this, and its wheel carries the assembler.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, Unpack, cast

from sassan.api import Choices, Kernel, Launch
from sassan.api import analyze as analyze_cubin
from sassan.arch import described
from sassan.errors import InputError, SassanError
from sassan.integrations.extra import library
from sassan.integrations.parameter_names import of_triton, program

_EXTRA = "triton"
_WARP = 32


class Metadata(Protocol):
    """What Triton says of a compiled kernel; `shared` is in bytes per block."""

    @property
    def name(self) -> str:
        """Return its name in the cubin."""
        ...

    @property
    def num_warps(self) -> int:
        """Return the warps of a block."""
        ...

    @property
    def shared(self) -> int:
        """Return the shared memory of a block, all of it dynamic."""
        ...


class CompiledKernel(Protocol):
    """A kernel as `triton.compile` returns it."""

    @property
    def asm(self) -> Mapping[str, object]:
        """Return what each stage made of it; `cubin` is bytes."""
        ...

    @property
    def metadata(self) -> Metadata:
        """Return what is known beside the code."""
        ...


@dataclass(frozen=True, slots=True)
class WatchedKernels:
    """What was compiled while it was watched: kernels in order, and by name those that were refused, with the reason."""

    kernels: list[Kernel] = field(default_factory=list[Kernel])
    refused: list[tuple[str, SassanError]] = field(default_factory=list[tuple[str, SassanError]])


def compile_for(
    function: object,
    signature: Mapping[str, str],
    constants: Mapping[str, object] | None = None,
    *,
    arch: str = "sm_80",
    options: Mapping[str, object] | None = None,
) -> CompiledKernel:
    """Return a `triton.jit` function compiled for `arch`; no GPU is needed.

    `signature` names the type of every argument (`*fp32`, `i32`, `constexpr`), `constants` the values of the last kind; `options` are
    Triton's own (`num_warps`).
    Raises InputError `unsupported-architecture`, MissingToolError; what Triton itself raises is passed on.
    """
    compiler, backend = library("triton.compiler", _EXTRA), library("triton.backends.compiler", _EXTRA)
    number = described(arch).number
    source: object = compiler.ASTSource(function, dict(signature), dict(constants or {}))
    target: object = backend.GPUTarget("cuda", number, _WARP)
    return cast("CompiledKernel", compiler.compile(source, target=target, options=dict(options or {})))


def analyze(compiled: CompiledKernel, **choices: Unpack[Choices]) -> Kernel:
    """Return the bounds of a compiled kernel; choices as of `sassan.analyze`.

    Block and shared memory of the launch are those that Triton chose, unless `launch` says others; its parameters are called as in the
    signature.
    Raises InputError `no-gpu-code` for a kernel of another backend than CUDA, and what `sassan.analyze` raises.
    """
    cubin, known = compiled.asm.get("cubin"), compiled.metadata
    if not isinstance(cubin, bytes):
        raise InputError("no-gpu-code", f"{known.name} has no cubin: it was not compiled for CUDA")
    launch = choices.get("launch") or Launch()
    if launch.block is None:
        launch = replace(launch, block=known.num_warps * _WARP)
    if launch.shared is None:
        launch = replace(launch, shared=known.shared)
    choices["launch"] = launch
    names = of_triton(getattr(compiled, "src", None))
    return analyze_cubin(program(cubin, known.name, names, further=True), function=known.name, **choices)[0]


@contextmanager
def watching(
    then: Callable[[Kernel], None] | None = None,
    **choices: Unpack[Choices],
) -> Generator[WatchedKernels]:
    """Analyze every kernel that is compiled, or found in Triton's cache on disk, while the block runs; `then` is called with each.

    The program goes on whatever is refused. A hook that was there before is called, too. Choices as of `sassan.analyze`.
    Raises MissingToolError.
    """
    place, name = _hook()
    before = cast("Callable[..., object] | None", getattr(place, name))
    seen = WatchedKernels()

    def hook(**event: object) -> object:
        function = event["fn"]
        try:
            kernel = analyze(_compiled(function, event), **choices)
        except SassanError as error:
            seen.refused.append((str(getattr(function, "name", "")), error))
        else:
            seen.kernels.append(kernel)
            if then is not None:
                then(kernel)
        return before(**event) if before is not None else None

    setattr(place, name, hook)
    try:
        yield seen
    finally:
        setattr(place, name, before)


def _hook() -> tuple[object, str]:
    """Return where Triton keeps the hook that it calls after it compiled: of `knobs` since 3.4, of the class before."""
    runtime = getattr(library("triton", _EXTRA), "knobs", None)
    if runtime is not None:
        return runtime.runtime, "jit_post_compile_hook"
    return library("triton.runtime.jit", _EXTRA).JITFunction, "compiled_hook"


class _Jitted(Protocol):
    """A function of `triton.jit`: per device, what it compiled, by key, and more."""

    @property
    def device_caches(self) -> Mapping[object, tuple[Mapping[object, CompiledKernel], object]]: ...


def _compiled(function: object, event: Mapping[str, object]) -> CompiledKernel:
    """Return the kernel that a hook is called for: it is in the cache of its function already."""
    jitted = cast("_Jitted", getattr(function, "jit_function"))  # noqa: B009 - Triton's record has no type
    compilation = cast("Mapping[str, object]", event["compile"])
    return jitted.device_caches[compilation["device"]][0][compilation["key"]]
