"""The flagship kernels of CuPy, whose compiler is NVRTC: raw kernels, and where CuPy is installed what it generates."""

import importlib.util
from functools import partial
from pathlib import Path

from integrations.flagships.cupy_kernels import CASES, CupyCase
from integrations.flagships.flagship import Family, Flagship
from sassan.api import Kernels, analyze, read
from sassan.compilers import compile_source

SMS = (70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121)


def family() -> Family:
    """Return the kernels of the NVRTC that is installed; raises ImportError where there is none."""
    import nvidia.cuda_nvrtc  # noqa: F401, PLC0415

    made = compile_source('extern "C" __global__ void none() {}', arch="sm_80")
    cases = [*CASES, *_generated()]
    flagships = tuple(Flagship(case.name, partial(_compiled, case), known=case.known) for case in cases)
    return Family(f"nvrtc {'.'.join(map(str, made.version))}", SMS, flagships, _analyzed)


def _generated() -> tuple[CupyCase, ...]:
    if importlib.util.find_spec("cupy") is None:
        return ()
    from integrations.flagships.cupy_generated import CASES as GENERATED  # noqa: PLC0415 - it needs CuPy

    return GENERATED


def _compiled(case: CupyCase, sm: int) -> bytes:
    return compile_source(case.source, arch=f"sm_{sm}", name=f"{case.name}.cu", options=(*case.options, *_headers())).cubin


def _analyzed(cubin: bytes, **choices: object) -> Kernels:
    return analyze(read(cubin), **choices)


def _headers() -> tuple[str, ...]:
    """Return the folders of CUDA's own headers in the wheels that are installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec is not None else []
    return tuple(f"-I{found}" for folder in folders for found in sorted(folder.glob("cuda_*/include")))
