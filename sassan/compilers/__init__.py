"""NVIDIA's compilers, as far as they run without a GPU: NVRTC (CUDA C++ to a cubin) and ptxas (PTX to a cubin)."""

from sassan.compilers.nvrtc import NvrtcOutput, compile_source, libraries
from sassan.compilers.ptxas import assemble

__all__ = ["NvrtcOutput", "assemble", "compile_source", "libraries"]
