"""NVIDIA's compilers, as far as they run without a GPU: NVRTC (CUDA C++ to a cubin) and ptxas (PTX to a cubin)."""

from sassan.compilers.nvrtc import Compiled, compile_source, libraries
from sassan.compilers.ptxas import assemble

__all__ = ["Compiled", "assemble", "compile_source", "libraries"]
