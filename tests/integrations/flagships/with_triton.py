"""The flagship kernels of Triton."""

from functools import partial

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from integrations.flagships.flagship import Family, Flagship
from integrations.flagships.triton_cases import TritonCase
from integrations.flagships.triton_kernels import CASES
from sassan.api import Kernel
from sassan.integrations.triton import CompiledKernel, analyze

SMS = (70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
_WARP = 32


def family() -> Family:
    """Return the kernels of the Triton that is installed."""
    flagships = tuple(Flagship(case.name, partial(_compiled, case), case.first, case.last) for case in CASES)
    return Family(f"triton {triton.__version__}", SMS, flagships, _analyzed)


def _compiled(case: TritonCase, sm: int) -> CompiledKernel:
    # Not compile_for: it does not say which arguments are multiples of 16, without which loads are narrow.
    source = ASTSource(case.function, case.signature, dict(case.constants), case.multiples)
    return triton.compile(source, target=GPUTarget("cuda", sm, _WARP), options=dict(case.options))


def _analyzed(compiled: CompiledKernel, **choices: object) -> list[Kernel]:
    return [analyze(compiled, **choices)]
