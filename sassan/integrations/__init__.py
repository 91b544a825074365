"""sassan inside other tools: Triton, Numba, NVRTC, and the compiler driver."""
