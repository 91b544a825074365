"""Which samples are measured, with which arguments, and how a clock is put around their bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sassan.errors import InputError

THREADS = 256
BUFFER = 16 << 20
"""Bytes behind every pointer, filled with small integers: they serve as data, as indices and as bounds of rows."""
LARGEST = 60
"""Of those integers: no row is longer."""


@dataclass(frozen=True)
class Sample:
    """One kernel: its integer and floating-point arguments by name (the rest are pointers), and a bound for loops that depend on data."""

    name: str
    scalars: dict[str, float] = field(default_factory=dict[str, float])
    loop_bound: int = LARGEST + 1


SAMPLES = (
    Sample("saxpy", {"n": 1 << 20, "a": 2.0}),
    Sample("bfs_step", {"depth": 3, "n": 1 << 20}),
    Sample("binary_search", {"n": 4096, "m": 1 << 20}),
    Sample("bitonic_step", {"j": 1, "k": 2}),
    Sample("double_horner", {"degree": 16, "n": 1 << 20}),
    Sample("double_math", {"n": 1 << 20}),
    Sample("early_return", {"n": 1 << 20, "limit": 50}),
    Sample("float_math", {"n": 1 << 20}),
    Sample("histogram_atomic", {"n": 4096}, 257),
    Sample("int64_divide", {"n": 1 << 20}),
    Sample("mandelbrot", {"width": 1 << 20, "height": 1, "x0": -2.0, "y0": 0.1, "step": 1e-5, "limit": 40}),
    Sample("nested_divergent_loops", {"n": 4}, LARGEST + 1),
    Sample("nested_if", {"n": 1 << 20}),
    Sample("reduce_shuffle", {"n": 4096}, 257),
    Sample("spmv_csr", {"rows": 1 << 20}),
    Sample("switch_brx", {"n": 1 << 20}),
    Sample("uniform_branches", {"mode": 1, "rounds": 8}),
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: `kind` is `pointer`, `int` or `float`."""

    name: str
    kind: str


@dataclass(frozen=True)
class Timed:
    """A source whose kernel `name` reads the clock around the body of a sample; it takes `parameters` and where to put times."""

    source: str
    name: str
    parameters: tuple[Parameter, ...]


def timed(source: str, name: str) -> Timed:
    """Return the source with the kernel `name` made a device function, and a kernel around it that stores the cycles of each thread.

    Raises InputError `no-kernel` where the source has no such kernel.
    """
    found = re.search(rf'extern "C" __global__ void {re.escape(name)}\(([^)]*)\)', source)
    if found is None:
        raise InputError("no-kernel", f"the source has no kernel '{name}'")
    whole = [text.strip() for text in found[1].split(",")]
    parameters = tuple(_parameter(text) for text in whole)
    body = source.replace(found[0], f"static __device__ __forceinline__ void {name}_body({found[1]})", 1)
    call = ", ".join(one.name for one in parameters)
    return Timed(body + _WRAPPER.format(name=name, parameters=", ".join(whole), call=call), f"{name}_timed", parameters)


# The clock is read by volatile assembly: calls of it keep their order, and what lies between takes part in the time.
_WRAPPER = """
extern "C" __global__ void {name}_timed({parameters}, long long *sassan_times) {{
    long long sassan_start = clock64();
    {name}_body({call});
    long long sassan_end = clock64();
    sassan_times[blockIdx.x * blockDim.x + threadIdx.x] = sassan_end - sassan_start;
}}
"""


def _parameter(text: str) -> Parameter:
    name = re.split(r"[\s*]+", text)[-1]
    if "*" in text:
        return Parameter(name, "pointer")
    return Parameter(name, "float" if "float" in text else "int")
