"""The bound of a Numba CUDA kernel, compiled from its signature; no GPU is needed (extra `numba`)."""

from numba import cuda

import sassan
from sassan.integrations import numba as sassan_numba


@cuda.jit
def smooth(source, target, rounds):
    at = cuda.grid(1)
    if at >= source.size:
        return
    value = source[at]
    for _ in range(rounds):
        value = (value + source[min(at + 1, source.size - 1)]) * 0.5
    target[at] = value


SIGNATURE = "void(float32[::1], float32[::1], int32)"

for arch in ("sm_75", "sm_90"):
    kernel = sassan_numba.analyze(smooth, SIGNATURE, arch=arch, loop_bound=100, launch=sassan.Launch(block=128))
    print(arch, "WCET", kernel.wcet, "of", len(kernel.function.instructions), "instructions; full SM", kernel.warps, "warps", kernel.makespan)
