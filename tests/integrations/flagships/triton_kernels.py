"""Kernels of Triton that work on rows: softmax, layer norm, dropout, sums, and what reports errors; and the table of all cases."""

import triton
import triton.language as tl

from integrations.flagships import triton_attention, triton_descriptors, triton_products
from integrations.flagships.triton_cases import TritonCase


@triton.jit
def softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + at, powers / tl.sum(powers, 0), mask=at < columns)


@triton.jit
def softmax_persistent(x, out, stride, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(out + row * stride + at, powers / tl.sum(powers, 0), mask=at < columns)


@triton.jit
def norm_forward(x, out, weight, bias, means, scales, stride, columns, small, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
        distance = tl.where(at < columns, values - mean, 0.0)
        squares += distance * distance
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / columns + small)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
        scaled = (values - mean) * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * stride + at, scaled, mask=inside)


@triton.jit
def norm_backward_x(
    x,
    grad,
    grad_x,
    weight,
    partial_weight,
    partial_bias,
    means,
    scales,
    locks,
    stride,
    columns,
    GROUP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    change = tl.load(grad + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    factor = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(inside, (values - tl.load(means + row)) * scale, 0.0)
    weighted = tl.where(inside, change * factor, 0.0)
    along = tl.sum(normal * weighted, 0) / columns
    level = tl.sum(weighted, 0) / columns
    tl.store(grad_x + row * stride + at, (weighted - (normal * along + level)) * scale, mask=inside)
    # Rows of a group add to one partial sum, one after the other.
    group = row % GROUP
    lock, count = locks + group, locks + GROUP + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    first = tl.load(count) == 0
    to_weight, to_bias = partial_weight + group * columns + at, partial_bias + group * columns + at
    if first:
        tl.atomic_xchg(count, 1)
        tl.store(to_weight, change * normal, mask=inside)
        tl.store(to_bias, change, mask=inside)
    else:
        tl.store(to_weight, change * normal + tl.load(to_weight, mask=inside), mask=inside)
        tl.store(to_bias, change + tl.load(to_bias, mask=inside), mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def norm_backward_weight(partial, out, groups, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, groups, ROWS):
        group = start + tl.arange(0, ROWS)
        inside = (group[:, None] < groups) & (at[None, :] < columns)
        total += tl.load(partial + group[:, None] * columns + at[None, :], mask=inside, other=0.0)
    tl.store(out + at, tl.sum(total, 0), mask=at < columns)


@triton.jit
def dropout(x, out, size, share, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < size)
    kept = tl.rand(seed, at) > share
    tl.store(out + at, tl.where(kept, values / (1 - share), 0.0), mask=at < size)


@triton.jit
def normal_noise(out, size, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at), mask=at < size)


@triton.jit
def sum_atomic(x, out, most, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < size, other=0.0)
    tl.atomic_add(out, tl.sum(values, 0))
    tl.atomic_max(most, tl.max(values, 0))


@triton.jit
def scatter_atomic(x, places, out, half, count, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    values, place = tl.load(x + at, mask=inside), tl.load(places + at, mask=inside)
    tl.atomic_add(out + place, values, mask=inside, sem="relaxed")
    tl.atomic_add(half + place, values.to(tl.float16), mask=inside)
    tl.atomic_or(count + place, 1, mask=inside)


@triton.jit
def prefix_sum(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    tl.store(out + row + at, tl.cumsum(tl.load(x + row + at, mask=at < columns, other=0.0), 0), mask=at < columns)


@triton.jit
def sort_rows(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr, BINS: tl.constexpr):
    values = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(values, BINS))


@triton.jit
def best_place(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(out + row, tl.argmax(tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")), 0))


@triton.jit
def gelu(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < size)
    tl.store(out + at, 0.5 * values * (1 + tl.erf(values * 0.70710678)) + tl.sin(values) * tl.log(values), mask=at < size)


@triton.jit
def printing(x, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x + at, mask=at < size))


@triton.jit
def asserting(x, places, out, size, limit, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(places + at, mask=at < size, other=0)
    tl.device_assert(place < limit, "the place is outside")
    tl.store(out + at, tl.load(x + place, mask=at < size), mask=at < size)


_ROW = {"BLOCK": 1024}
_NORM = "x=*fp16 grad=*fp16 grad_x=*fp16 weight=*fp16 partial_weight=*fp32 partial_bias=*fp32 means=*fp32 scales=*fp32 locks=*i32"
CASES = (
    TritonCase("softmax", softmax, "x=*fp16 out=*fp16 stride=i32/16 columns=i32", _ROW),
    TritonCase("softmax-wide", softmax, "x=*fp32 out=*fp32 stride=i32/16 columns=i32", {"BLOCK": 8192}, {"num_warps": 16}),
    TritonCase("softmax-persistent", softmax_persistent, "x=*fp16 out=*fp16 stride=i32/16 rows=i32 columns=i32/16", _ROW),
    TritonCase(
        "norm-forward",
        norm_forward,
        "x=*fp16 out=*fp16 weight=*fp16 bias=*fp16 means=*fp32 scales=*fp32 stride=i32/16 columns=i32 small=fp32",
        _ROW,
    ),
    TritonCase("norm-backward-x", norm_backward_x, f"{_NORM} stride=i32/16 columns=i32/16", {"GROUP": 64, "BLOCK": 1024}),
    TritonCase(
        "norm-backward-weight", norm_backward_weight, "partial=*fp32 out=*fp16 groups=i32 columns=i32/16", {"ROWS": 32, "BLOCK": 128}
    ),
    TritonCase("dropout", dropout, "x=*fp32 out=*fp32 size=i32 share=fp32 seed=i32", _ROW),
    TritonCase("normal-noise", normal_noise, "out=*fp32 size=i32 seed=i32", _ROW),
    TritonCase("sum-atomic", sum_atomic, "x=*fp32 out=*fp32 most=*fp32 size=i32", _ROW),
    TritonCase("scatter-atomic", scatter_atomic, "x=*fp32 places=*i32 out=*fp32 half=*fp16 count=*i32 size=i32", {"BLOCK": 256}),
    TritonCase("prefix-sum", prefix_sum, "x=*fp32 out=*fp32 columns=i32", _ROW),
    TritonCase("sort", sort_rows, "x=*fp32 out=*fp32", {"BLOCK": 256}),
    TritonCase("histogram", histogram, "x=*i32 out=*i32", {"BLOCK": 1024, "BINS": 128}),
    TritonCase("argmax", best_place, "x=*fp32 out=*i32 columns=i32", _ROW),
    TritonCase("gelu", gelu, "x=*fp32 out=*fp32 size=i32", {"BLOCK": 256}),
    TritonCase("print", printing, "x=*fp32 size=i32", {"BLOCK": 128}),
    TritonCase("assert", asserting, "x=*fp32 places=*i32 out=*fp32 size=i32 limit=i32", {"BLOCK": 128}, {"debug": True}),
    *triton_products.CASES,
    *triton_descriptors.CASES,
    *triton_attention.CASES,
)
