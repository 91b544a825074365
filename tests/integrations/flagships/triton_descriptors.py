"""Products of matrices in Triton whose tiles are moved by descriptors (TMA where the SM has it), also with specialised warps."""

import triton
import triton.language as tl

from integrations.flagships.triton_cases import TritonCase

# Its name until Triton 3.3.
describe = getattr(tl, "make_tensor_descriptor", None) or tl._experimental_make_tensor_descriptor


@triton.jit
def product_described(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = describe(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = describe(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    out = describe(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        total = tl.dot(left.load([row, start]), right.load([column, start]).T, total)
    out.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def product_described_persistent(
    a,
    b,
    c,
    m,
    n,
    k,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    SPECIAL: tl.constexpr,
    FLAT: tl.constexpr,
):
    left = describe(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = describe(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    out = describe(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    across = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), across * tl.cdiv(m, M), tl.num_programs(0), flatten=FLAT, warp_specialize=SPECIAL):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), tl.float32)
        for start in range(0, k, K):
            total = tl.dot(left.load([row, start]), right.load([column, start]).T, total)
        out.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def product_special(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The loop over the inner dimension is shared out among specialised warps."""
    left = describe(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = describe(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    out = describe(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for inner in tl.range(0, tl.cdiv(k, K), warp_specialize=True):
        total = tl.dot(left.load([row, inner * K]), right.load([column, inner * K]).T, total)
    out.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def reduce_described(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    """Add a tile to memory with a descriptor."""
    source = describe(x, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    target = describe(out, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    tile = source.load([tl.program_id(0) * M, tl.program_id(1) * N])
    target.atomic_add([0, tl.program_id(1) * N], tile)


@triton.jit
def gather_described(x, places, out, m, n, N: tl.constexpr):
    """Rows that an index names, in one transfer."""
    source = describe(x, shape=[m, n], strides=[n, 1], block_shape=[1, N])
    at = tl.arange(0, 32)
    tile = source.gather(tl.load(places + at), tl.program_id(0) * N)
    tl.store(out + at[:, None] * N + tl.arange(0, N)[None, :], tile)


_SIZES = "m=i32/16 n=i32/16 k=i32/16"
_TILE = {"M": 128, "N": 128, "K": 64}
_HALF = f"a=*fp16 b=*fp16 c=*fp16 {_SIZES}"
_FP8 = f"a=*fp8e4nv b=*fp8e4nv c=*fp16 {_SIZES}"
_DEEP = {"num_warps": 8, "num_stages": 3}
CASES = (
    TritonCase("descriptor", product_described, _HALF, _TILE, _DEEP, first=90),
    TritonCase("descriptor-pointers", product_described, _HALF, _TILE, _DEEP, first=75, last=89),
    TritonCase("descriptor-fp8", product_described, _FP8, {**_TILE, "K": 128}, _DEEP, first=90),
    TritonCase("descriptor-persistent", product_described_persistent, _HALF, {**_TILE, "SPECIAL": False, "FLAT": True}, _DEEP, first=90),
    TritonCase(
        "special-persistent", product_described_persistent, _HALF, {**_TILE, "SPECIAL": True, "FLAT": False}, {"num_warps": 4}, first=90
    ),
    TritonCase("special-flat", product_described_persistent, _HALF, {**_TILE, "SPECIAL": True, "FLAT": True}, {"num_warps": 4}, first=90),
    TritonCase("special-fp8", product_described_persistent, _FP8, {**_TILE, "SPECIAL": True, "FLAT": False}, {"num_warps": 8}, first=90),
    TritonCase("special-inner", product_special, _HALF, _TILE, {"num_warps": 4}, first=90),
    TritonCase("descriptor-add", reduce_described, "x=*fp32 out=*fp32 m=i32/16 n=i32/16", {"M": 64, "N": 32}, first=90),
    TritonCase("descriptor-gather", gather_described, "x=*fp16 places=*i32 out=*fp16 m=i32/16 n=i32/16", {"N": 64}, first=100),
)
