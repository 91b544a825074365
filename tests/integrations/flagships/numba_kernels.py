"""Kernels of Numba CUDA: with shared memory, barriers, atomics, shuffles, mathematics, calls, and a barrier of the grid."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numba
from numba import cuda

TILE = 16
BLOCK = 256
WARP = 32


@dataclass(frozen=True, slots=True)
class NumbaCase:
    """A kernel, its signature as Numba writes it, and options of the compiler; `linked` says that Numba links it with other files."""

    name: str
    function: Callable[..., object]
    signature: str
    options: Mapping[str, bool] = field(default_factory=dict[str, bool])
    linked: bool = False


def saxpy(factor, x, y):
    at = cuda.grid(1)
    if at < x.size:
        y[at] += factor * x[at]


def saxpy_stride(factor, x, y):
    for at in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[at] += factor * x[at]


def product(a, b, c):
    left, right = cuda.shared.array((TILE, TILE), numba.float32), cuda.shared.array((TILE, TILE), numba.float32)
    row, column = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    total = numba.float32(0)
    for start in range(0, a.shape[1], TILE):
        left[y, x] = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else 0
        right[y, x] = b[start + y, column] if start + y < b.shape[0] and column < b.shape[1] else 0
        cuda.syncthreads()
        for inner in range(TILE):
            total += left[y, inner] * right[inner, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def total_shared(x, out):
    kept = cuda.shared.array(BLOCK, numba.float64)
    at, thread = cuda.grid(1), cuda.threadIdx.x
    kept[thread] = x[at] if at < x.size else 0
    cuda.syncthreads()
    width = BLOCK // 2
    while width > 0:
        if thread < width:
            kept[thread] += kept[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, kept[0])


def total_shuffle(x, out):
    at = cuda.grid(1)
    value = x[at] if at < x.size else numba.float32(0)
    distance = WARP // 2
    while distance > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


def votes(x, out):
    at = cuda.grid(1)
    found = cuda.ballot_sync(0xFFFFFFFF, x[at] > 0)
    if cuda.all_sync(0xFFFFFFFF, x[at] > 1):
        cuda.syncwarp()
    out[at] = cuda.popc(found & cuda.lanemask_lt()) + cuda.ffs(found) + cuda.match_any_sync(0xFFFFFFFF, x[at])


def histogram(x, out):
    counts = cuda.shared.array(BLOCK, numba.int32)
    counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for at in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[at], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, cuda.threadIdx.x, counts[cuda.threadIdx.x])


def atomics(x, most, least, lock, floats):
    at = cuda.grid(1)
    cuda.atomic.max(most, 0, x[at])
    cuda.atomic.min(least, 0, x[at])
    cuda.atomic.nanmax(floats, 0, x[at])
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    floats[1] += x[at]
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def mathematics(x, out):
    at = cuda.grid(1)
    if at < x.size:
        value = x[at]
        out[at] = math.sin(value) + math.exp(value) + math.pow(value, 1.7) + math.log(value) + math.erf(value) + math.sqrt(value) / value


def special(x, out):
    at = cuda.grid(1)
    if at < x.size:
        value = x[at]
        out[at] = (
            math.lgamma(value) + math.tan(value) + math.atan2(value, 2.0) + math.sinh(value) + math.fmod(value, 3.0) + math.cosh(value)
        )


def integers(x, y, out):
    at = cuda.grid(1)
    if at < x.size and y[at] != 0:
        out[at] = x[at] // y[at] + x[at] % y[at]


def complex_values(x, out):
    at = cuda.grid(1)
    if at < x.size:
        out[at] = x[at] * x[at] + x[at] / (x[at] + 1)


@cuda.jit(device=True)
def escape(real, imaginary, rounds):
    value = constant = complex(real, imaginary)
    for each in range(rounds):
        value = value * value + constant
        if value.real * value.real + value.imag * value.imag >= 4:
            return each
    return rounds


@cuda.jit(device=True, inline="never")
def power(value, count):
    out = value
    for _ in range(count):
        out *= value
    return out


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def mandelbrot(image, rounds):
    x, y = cuda.grid(2)
    if x < image.shape[0] and y < image.shape[1]:
        image[x, y] = escape(x / image.shape[0] * 3 - 2, y / image.shape[1] * 2 - 1, rounds)


def calling(x, out, count):
    at = cuda.grid(1)
    if at < x.size:
        out[at] = power(x[at], count) + power(x[at] + 1, count)


def recursive(x, out):
    at = cuda.grid(1)
    if at < x.size:
        out[at] = fibonacci(x[at])


def steps_of_grid(x, rounds):
    grid = cuda.cg.this_grid()
    at = cuda.grid(1)
    for _ in range(rounds):
        left = x[max(at - 1, 0)]
        grid.sync()
        x[at] = (x[at] + left) * 0.5
        grid.sync()


def local_memory(x, out):
    kept = cuda.local.array(64, numba.float32)
    at = cuda.grid(1)
    for each in range(64):
        kept[each] = x[at] * each
    out[at] = kept[int(x[at]) & 63]


def halves(x, out):
    at = cuda.grid(1)
    if at < x.size:
        out[at] = x[at] * x[at] + x[at]


def waiting(flags, out):
    at = cuda.grid(1)
    while cuda.atomic.cas(flags, at, 1, 0) == 0:
        cuda.nanosleep(100)
    out[at] = 1


def printing(x):
    at = cuda.grid(1)
    print("value", at, x[at])


CASES = (
    NumbaCase("saxpy", saxpy, "void(float32, float32[::1], float32[::1])"),
    NumbaCase("saxpy-stride", saxpy_stride, "void(float64, float64[:], float64[:])"),
    NumbaCase("product", product, "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"),
    NumbaCase("product-fast", product, "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])", {"fastmath": True}),
    NumbaCase("total-shared", total_shared, "void(float64[::1], float64[::1])"),
    NumbaCase("total-shuffle", total_shuffle, "void(float32[::1], float32[::1])"),
    NumbaCase("votes", votes, "void(int32[::1], int32[::1])"),
    NumbaCase("histogram", histogram, "void(int32[::1], int32[::1])"),
    NumbaCase("atomics", atomics, "void(float64[::1], float64[::1], float64[::1], int32[::1], float64[::1])"),
    NumbaCase("math-double", mathematics, "void(float64[::1], float64[::1])"),
    NumbaCase("math-single", mathematics, "void(float32[::1], float32[::1])"),
    NumbaCase("math-fast", mathematics, "void(float32[::1], float32[::1])", {"fastmath": True}),
    NumbaCase("special-double", special, "void(float64[::1], float64[::1])"),
    NumbaCase("integers", integers, "void(int64[::1], int64[::1], int64[::1])"),
    NumbaCase("complex", complex_values, "void(complex128[::1], complex128[::1])"),
    NumbaCase("mandelbrot", mandelbrot, "void(uint8[:, ::1], int32)"),
    NumbaCase("mandelbrot-debug", mandelbrot, "void(uint8[:, ::1], int32)", {"debug": True, "opt": False}, linked=True),
    NumbaCase("calling", calling, "void(float32[::1], float32[::1], int32)"),
    NumbaCase("recursive", recursive, "void(int32[::1], int32[::1])", linked=True),
    NumbaCase("steps-of-grid", steps_of_grid, "void(float32[::1], int32)", linked=True),
    NumbaCase("local-memory", local_memory, "void(float32[::1], float32[::1])"),
    NumbaCase("halves", halves, "void(float16[::1], float16[::1])", linked=True),
    NumbaCase("waiting", waiting, "void(int32[::1], int32[::1])"),
    NumbaCase("printing", printing, "void(float32[::1])"),
)
