"""The suite of scripts/bench_makespan: test vectors, the case study, and strings of real samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _lib.makespan_cases import ONES, ROOT, VECTORS, VORONOI, Case, vector, voronoi

from sassan.app.analysis import analyze
from sassan.app.reading import read_program
from sassan.app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = (
    "saxpy",
    "bfs_step",
    "mandelbrot",
    "early_return",
    "double_horner",
    "binary_search",
    "nested_if",
    "voronoi",
    "spmv_csr",
    "float_math",
)
SM_61 = "L=1,C=4,S=1,D=1/8"
LOOP_BOUND = 3


def suite() -> tuple[Case, ...]:
    """Return every instance, in order."""
    return (
        *_vectors(),
        *(voronoi(warps, VORONOI[warps - 1] if warps <= len(VORONOI) else None) for warps in range(4, 17)),
        *_many(),
        *_samples(),
        *_beyond(),
    )


def _vectors() -> Iterator[Case]:
    for (string, cap), values in VECTORS.items():
        yield vector(string, cap, len(values) // 2)
        yield vector(string, cap, len(values))


def _many() -> Iterator[Case]:
    """Yield the instances of 2011 Figures 6 and 7 with more warps."""
    for string in ("LLCLL", "LLCLLCLL"):
        for warps in (16, 40):
            yield Case(string, warps, ONES)


def _beyond() -> Iterator[Case]:
    """Yield instances with tensor instructions that hold their unit, latencies, and block barriers."""
    for string, cap, times, block in (
        ("LTC", "L=1,T=1,C=1", "T=2/6", None),
        ("L2T2C", "L=1,T=1,C=2", "L=1/3,T=2/4", None),
        ("LBTC", "L=1,T=1,C=1", "T=2/4", 2),
        ("L2BT2BC", "L=1,T=1,C=1", "T=2/4", 2),
        ("L2BC2BL", "L=1,C=2", "L=1/4", 4),
    ):
        for warps in (2, 4, 6, 8):
            yield Case(string, warps, cap, label=f"beyond-{string}", times=times, block=block)


def _samples() -> Iterator[Case]:
    """Yield the worst paths of real kernels on their SM (compute capability 6.1)."""
    for name in SAMPLES:
        path = ROOT / "samples" / "sm_61" / f"{name}.cuobjdump.sass"
        if not path.exists():
            print(f"no sample {path.name}: skipped")
            continue
        for function in read_program(str(path)).functions[:1]:
            result = analyze(function, Settings(loop_bound=LOOP_BOUND))
            if result.worst_path is None:
                print(f"{name} has no worst path: skipped")
                continue
            used = {letter.value for letter, count in result.worst_path.counts().items() if count}
            cap = ",".join(capacity for capacity in SM_61.split(",") if capacity[0] in used)
            for warps in (4, 16):
                yield Case(str(result.worst_path), warps, cap, 8, label=name)
