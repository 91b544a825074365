"""A flagship kernel: what a compiler makes of it for an SM, and what sassan says of that."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sassan.api import Kernel
from sassan.integrations.triton import CompiledKernel

OUTSIDE = (
    "vprintf",
    "__assertfail",
    "__cuda_syscall_CGS_sync",
    "__cuda_syscall_CGS_get_intrinsic_handle",
    "__cuda_syscall_cp_async_bulk_tensor_2d_tile_unicast",
)
"""Functions of the driver, which no input holds: whoever analyzes gives their cost."""
LIMITS = frozenset({"external-contention", "unknown-sm"})
"""Codes that any kernel may have: what a function of the driver takes from other warps is unknown, and so are the latencies of some SMs."""
FACTS = "".join(f"[external.{name}]\ncost = 1000\n" for name in OUTSIDE)


@dataclass(frozen=True, slots=True)
class Flagship:
    """A kernel, or some of one source.

    `compiled` takes the number of an SM, and returns what is analyzed: machine code, or a kernel of Triton. `known` are the codes of gaps
    that the documentation names as limits, beside LIMITS. `first` and `last` are the SMs that it is for.
    """

    name: str
    compiled: Callable[[int], bytes | CompiledKernel]
    first: int = 0
    last: int = 999
    known: frozenset[str] = frozenset()


Analysis = Callable[..., Iterable[Kernel]]
"""Takes what `Flagship.compiled` returned, and the choices of `sassan.analyze`."""


@dataclass(frozen=True, slots=True)
class Family:
    """The flagship kernels of a compiler, and the SMs that it compiles for."""

    compiler: str
    sms: tuple[int, ...]
    flagships: tuple[Flagship, ...]
    analyze: Analysis
