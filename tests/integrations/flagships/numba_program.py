"""A program that launches one kernel of numba_kernels.py, with arrays of ones."""

import sys
from pathlib import Path

import numpy as np
from numba import cuda, types
from numba.core import sigutils

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
from integrations.flagships.numba_kernels import CASES  # noqa: E402 - the path comes first

(case,) = (each for each in CASES if each.name == sys.argv[1])
kinds, _ = sigutils.normalize_signature(case.signature)
given = [cuda.to_device(np.ones((64,) * kind.ndim, str(kind.dtype))) if isinstance(kind, types.Array) else 1 for kind in kinds]
cuda.jit(case.function, **case.options)[1, 32](*given)
