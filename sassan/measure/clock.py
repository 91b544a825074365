"""A clock around the body of a CUDA kernel, and the parameters that its source declares."""

import re
from dataclasses import dataclass

from sassan.errors import InputError


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel: `kind` is `pointer`, `int`, `long`, `float` or `double`."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A source with a kernel `name` that takes `parameters`; when `clocked`, also a last pointer to a `long long` per thread."""

    source: str
    name: str
    parameters: tuple[Parameter, ...]
    clocked: bool = False


def kernels(source: str) -> tuple[str, ...]:
    """Return the names of the kernels that are declared `extern "C"`, in order."""
    return tuple(dict.fromkeys(found["name"] for found in _KERNEL.finditer(_plain(source))))


def plain(source: str, name: str) -> Kernel:
    """Return a kernel as it stands.

    Raises InputError `no-kernel`, `unknown-parameter`.
    """
    return Kernel(source, name, _parameters(_declaration(source, name)))


def timed(source: str, name: str) -> Kernel:
    """Return the source with the kernel `name` made a device function, and a kernel around it that stores the cycles of each thread.

    Raises InputError `no-kernel`, `unknown-parameter`.
    """
    found = _declaration(source, name)
    parameters = _parameters(found)
    head = f"static __device__ __forceinline__ void {name}_body({found['parameters']})"
    body = source[: found.start()] + head + source[found.end() :]
    call = ", ".join(one.name for one in parameters)
    whole = "".join(f"{' '.join(text.split())}, " for text in _split(found))
    wrapper = _WRAPPER.format(name=name, bounds=found["bounds"] or "", parameters=whole, call=call)
    return Kernel(body + wrapper, f"{name}_timed", parameters, clocked=True)


# The clock is read by volatile assembly: calls of it keep their order, and what lies between takes part in the time.
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
    """Return the source with blanks for comments: places stay."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def _declaration(source: str, name: str) -> re.Match[str]:
    for found in _KERNEL.finditer(_plain(source)):
        if found["name"] == name:
            return found
    known = ", ".join(kernels(source)) or 'none: a kernel is declared extern "C" __global__ void'
    raise InputError("no-kernel", f"the source has no kernel '{name}'", hint=f"kernels: {known}")


def _split(found: re.Match[str]) -> tuple[str, ...]:
    text = found["parameters"].strip()
    return tuple(one.strip() for one in text.split(",")) if text and text != "void" else ()


def _parameters(found: re.Match[str]) -> tuple[Parameter, ...]:
    return tuple(_parameter(text) for text in _split(found))


def _parameter(text: str) -> Parameter:
    words = [word for word in re.split(r"[\s*]+", text) if word not in {"const", "__restrict__", "volatile", ""}]
    name, kind = words[-1], " ".join(words[:-1])
    if "*" in text:
        return Parameter(name, "pointer")
    if kind not in _KINDS:
        raise InputError("unknown-parameter", f"the type of parameter '{name}' is not known: '{text}'", hint=f"known: {', '.join(_KINDS)}")
    return Parameter(name, _KINDS[kind])
