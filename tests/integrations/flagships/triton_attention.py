"""Attention in Triton that keeps no matrix of scores: softmax runs along while the keys come."""

import triton
import triton.language as tl

from integrations.flagships.triton_cases import TritonCase
from integrations.flagships.triton_descriptors import describe


@triton.jit
def attention(
    q,
    k,
    v,
    out,
    sums,
    scale,
    length,
    CAUSAL: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    row, inner = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    query = tl.load(q + head + row[:, None] * WIDTH + inner[None, :], mask=row[:, None] < length, other=0.0)
    most = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    values = tl.zeros((ROWS, WIDTH), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * ROWS, length) if CAUSAL else length
    for start in range(0, end, KEYS):
        key = start + tl.arange(0, KEYS)
        keys = tl.load(k + head + key[None, :] * WIDTH + inner[:, None], mask=key[None, :] < length, other=0.0)
        scores = tl.dot(query, keys) * scale
        seen = (key[None, :] < length) & (row[:, None] >= key[None, :]) if CAUSAL else key[None, :] < length
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(powers, 1)
        loaded = tl.load(v + head + key[:, None] * WIDTH + inner[None, :], mask=key[:, None] < length, other=0.0)
        values = tl.dot(powers.to(loaded.dtype), loaded, values * shrink[:, None])
        most = higher
    tl.store(sums + tl.program_id(1) * length + row, most + tl.log2(total), mask=row < length)
    tl.store(
        out + head + row[:, None] * WIDTH + inner[None, :], (values / total[:, None]).to(out.dtype.element_ty), mask=row[:, None] < length
    )


@triton.jit
def attention_described(
    q,
    k,
    v,
    out,
    scale,
    length,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    WIDTH: tl.constexpr,
    SPECIAL: tl.constexpr,
):
    rows = length * tl.num_programs(1)
    queries = describe(q, shape=[rows, WIDTH], strides=[WIDTH, 1], block_shape=[ROWS, WIDTH])
    keys = describe(k, shape=[rows, WIDTH], strides=[WIDTH, 1], block_shape=[KEYS, WIDTH])
    loads = describe(v, shape=[rows, WIDTH], strides=[WIDTH, 1], block_shape=[KEYS, WIDTH])
    result = describe(out, shape=[rows, WIDTH], strides=[WIDTH, 1], block_shape=[ROWS, WIDTH])
    head = tl.program_id(1) * length
    first = head + tl.program_id(0) * ROWS
    query = queries.load([first, 0])
    most = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    values = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in tl.range(0, length, KEYS, warp_specialize=SPECIAL):
        scores = tl.dot(query, keys.load([head + start, 0]).T) * scale
        higher = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(powers, 1)
        values = tl.dot(powers.to(tl.float16), loads.load([head + start, 0]), values * shrink[:, None])
        most = higher
    result.store([first, 0], (values / total[:, None]).to(tl.float16))


_TILE = {"ROWS": 128, "KEYS": 64, "WIDTH": 64}
_POINTERS = "q=*fp16 k=*fp16 v=*fp16 out=*fp16 sums=*fp32 scale=fp32 length=i32/16"
_DESCRIBED = "q=*fp16 k=*fp16 v=*fp16 out=*fp16 scale=fp32 length=i32/16"
_OPTIONS = {"num_warps": 4, "num_stages": 3}
CASES = (
    TritonCase("attention", attention, _POINTERS, {**_TILE, "CAUSAL": False}, _OPTIONS),
    TritonCase("attention-causal", attention, _POINTERS, {**_TILE, "CAUSAL": True}, _OPTIONS),
    TritonCase("attention-descriptor", attention_described, _DESCRIBED, {**_TILE, "SPECIAL": False}, _OPTIONS, first=90),
    TritonCase("attention-special", attention_described, _DESCRIBED, {**_TILE, "SPECIAL": True}, _OPTIONS, first=90),
)
