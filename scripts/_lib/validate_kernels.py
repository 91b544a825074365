"""The measured samples and their arguments."""

from __future__ import annotations

from dataclasses import dataclass, field

from sassan.measure.sampling.device import DATA_LARGEST

THREADS = 256


@dataclass(frozen=True)
class Sample:
    """One kernel: its integer and floating-point arguments by name (the others are pointers), and a bound for data-dependent loops."""

    name: str
    scalars: dict[str, float] = field(default_factory=dict[str, float])
    loop_bound: int = DATA_LARGEST + 1


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
    Sample("nested_divergent_loops", {"n": 4}, DATA_LARGEST + 1),
    Sample("nested_if", {"n": 1 << 20}),
    Sample("reduce_shuffle", {"n": 4096}, 257),
    Sample("spmv_csr", {"rows": 1 << 20}),
    Sample("switch_brx", {"n": 1 << 20}),
    Sample("uniform_branches", {"mode": 1, "rounds": 8}),
)
