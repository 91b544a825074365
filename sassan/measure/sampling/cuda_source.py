"""CUDA C++ sources: the parameters that a kernel declares, and a version of the kernel that reads the clock around its body."""

import re
from dataclasses import dataclass

from sassan.errors import InputError


@dataclass(frozen=True, slots=True)
class CudaParameter:
    """A kernel parameter: `kind` is `pointer`, `int`, `long`, `float` or `double`."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """A source with a kernel `name` that takes `parameters`; when `clocked`, also a last pointer to a `long long` per thread."""

    source: str
    name: str
    parameters: tuple[CudaParameter, ...]
    clocked: bool = False


def kernels(source: str) -> tuple[str, ...]:
    """Return the names of the kernels declared `extern "C"`, in source order."""
    return tuple(dict.fromkeys(match["name"] for match in _KERNEL.finditer(_plain(source))))


def plain(source: str, name: str) -> CudaKernel:
    """Return the kernel `name` unchanged.

    Raises InputError `no-kernel`, `unknown-parameter`.
    """
    return CudaKernel(source, name, _parameters(_declaration(source, name)))


def timed(source: str, name: str) -> CudaKernel:
    """Return a source in which the kernel `name` is a device function, called by a new kernel that stores the cycles of each thread.

    Raises InputError `no-kernel`, `unknown-parameter`.
    """
    declaration = _declaration(source, name)
    parameters = _parameters(declaration)
    head = f"static __device__ __forceinline__ void {name}_body({declaration['parameters']})"
    body = source[: declaration.start()] + head + source[declaration.end() :]
    call = ", ".join(parameter.name for parameter in parameters)
    parameter_list = "".join(f"{' '.join(text.split())}, " for text in _split(declaration))
    wrapper = _WRAPPER.format(name=name, bounds=declaration["bounds"] or "", parameters=parameter_list, call=call)
    return CudaKernel(body + wrapper, f"{name}_timed", parameters, clocked=True)


# clock64() is volatile: the compiler keeps the order of its calls, and the code between them is timed.
_WRAPPER = """
extern "C" __global__ void {bounds}{name}_timed({parameters}long long *sassan_times) {{
    long long sassan_start = clock64();
    {name}_body({call});
    long long sassan_end = clock64();
    unsigned long long sassan_block = (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned int sassan_thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    sassan_times[sassan_block * (blockDim.x * blockDim.y * blockDim.z) + sassan_thread] = sassan_end - sassan_start;
}}
"""

_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+void\s+(?P<bounds>__launch_bounds__\([^()]*\)\s*)?(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)'
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KINDS = {
    "int": "int",
    "unsigned": "int",
    "unsigned int": "int",
    "int32_t": "int",
    "uint32_t": "int",
    "long long": "long",
    "unsigned long long": "long",
    "int64_t": "long",
    "uint64_t": "long",
    "size_t": "long",
    "float": "float",
    "double": "double",
}


def _plain(source: str) -> str:
    """Return the source with comments blanked out; offsets do not change."""
    return _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), source)


def _declaration(source: str, name: str) -> re.Match[str]:
    for match in _KERNEL.finditer(_plain(source)):
        if match["name"] == name:
            return match
    known = ", ".join(kernels(source)) or 'none: a kernel is declared extern "C" __global__ void'
    raise InputError("no-kernel", f"the source has no kernel '{name}'", hint=f"kernels: {known}")


def _split(declaration: re.Match[str]) -> tuple[str, ...]:
    text = declaration["parameters"].strip()
    return tuple(part.strip() for part in text.split(",")) if text and text != "void" else ()


def _parameters(declaration: re.Match[str]) -> tuple[CudaParameter, ...]:
    return tuple(_parameter(text) for text in _split(declaration))


def _parameter(text: str) -> CudaParameter:
    words = [word for word in re.split(r"[\s*]+", text) if word not in {"const", "__restrict__", "volatile", ""}]
    name, kind = words[-1], " ".join(words[:-1])
    if "*" in text:
        return CudaParameter(name, "pointer")
    if kind not in _KINDS:
        raise InputError(
            "unknown-parameter", f"unsupported type of parameter '{name}': '{text}'", hint=f"supported: a pointer, {', '.join(_KINDS)}"
        )
    return CudaParameter(name, _KINDS[kind])
