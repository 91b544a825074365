"""Products of matrices in Triton, with pointers: plain, persistent, of groups, with numbers of 8 bits, with scales of blocks."""

import triton
import triton.language as tl

from integrations.flagships.triton_cases import TritonCase


@triton.jit
def tile_product(a, b, m, n, k, row, column, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr):
    """Return one tile of the product; sums are of type KIND."""
    rows = (row * M + tl.arange(0, M)) % m
    columns = (column * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), KIND)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + start + inner[None, :], mask=inner[None, :] < k - start, other=0.0)
        right = tl.load(b + (start + inner[:, None]) * n + columns[None, :], mask=inner[:, None] < k - start, other=0.0)
        total = tl.dot(left, right, total, out_dtype=KIND)
    return total


@triton.jit
def store_tile(c, total, m, n, row, column, M: tl.constexpr, N: tl.constexpr):
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, KIND: tl.constexpr):
    # Programs that follow each other share columns of `b`.
    program = tl.program_id(0)
    across, down = tl.cdiv(n, N), tl.cdiv(m, M)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row, column = first + program % (GROUP * across) % height, program % (GROUP * across) // height
    store_tile(c, tile_product(a, b, m, n, k, row, column, M, N, K, KIND), m, n, row, column, M, N)


@triton.jit
def product_persistent(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), across * tl.cdiv(m, M), tl.num_programs(0), flatten=True):
        row, column = tile // across, tile % across
        store_tile(c, tile_product(a, b, m, n, k, row, column, M, N, K, tl.float32), m, n, row, column, M, N)


@triton.jit
def product_split(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PARTS: tl.constexpr):
    """The inner dimension is split among programs, which add to one result."""
    across = tl.cdiv(n, N)
    row, column = tl.program_id(0) // across, tl.program_id(0) % across
    rows, columns = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    inner = tl.program_id(1) * K + tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for _ in range(tl.cdiv(k, K * PARTS)):
        left = tl.load(a + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
        inner += K * PARTS
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n), sem="relaxed")


@triton.jit
def product_grouped(pointers, sizes, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Several products, whose matrices are found through pointers in memory."""
    tile = tl.program_id(0)
    before = 0
    for each in range(count):
        m, n, k = tl.load(sizes + 3 * each), tl.load(sizes + 3 * each + 1), tl.load(sizes + 3 * each + 2)
        across = tl.cdiv(n, N)
        tiles = across * tl.cdiv(m, M)
        a = tl.load(pointers + 3 * each).to(tl.pointer_type(tl.float16))
        b = tl.load(pointers + 3 * each + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(pointers + 3 * each + 2).to(tl.pointer_type(tl.float16))
        while tile >= before and tile < before + tiles:
            row, column = (tile - before) // across, (tile - before) % across
            store_tile(c, tile_product(a, b, m, n, k, row, column, M, N, K, tl.float32), m, n, row, column, M, N)
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def product_scaled(
    a,
    scales_a,
    b,
    scales_b,
    c,
    m,
    n,
    k,
    KIND: tl.constexpr,
    PACKED: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    """Numbers of a block of 32 share a scale; PACKED of them lie in a byte."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    inner, blocks = tl.arange(0, K // PACKED), tl.arange(0, K // 32)
    width = k // PACKED
    total = tl.zeros((M, N), tl.float32)
    for start in range(tl.cdiv(k, K)):
        left = tl.load(a + rows[:, None] * width + start * (K // PACKED) + inner[None, :])
        right = tl.load(b + columns[None, :] * width + start * (K // PACKED) + inner[:, None])
        left_scale = tl.load(scales_a + rows[:, None] * (k // 32) + start * (K // 32) + blocks[None, :])
        right_scale = tl.load(scales_b + columns[:, None] * (k // 32) + start * (K // 32) + blocks[None, :])
        total = tl.dot_scaled(left, left_scale, KIND, right, right_scale, KIND, total)
    store_tile(c, total, m, n, tl.program_id(0), tl.program_id(1), M, N)


_SIZES = "m=i32/16 n=i32/16 k=i32/16"
_TILE = {"M": 128, "N": 128, "K": 64}
_SMALL = {"M": 64, "N": 64, "K": 32}
_DEEP = {"num_warps": 8, "num_stages": 3}
_SCALED = f"a=*u8 scales_a=*u8 b=*u8 scales_b=*u8 c=*fp32 {_SIZES}"


def _product(
    name: str, kind: str, first: int, out: str = "fp32", total: object = tl.float32, tile: dict[str, int] | None = None
) -> TritonCase:
    types = f"a=*{kind} b=*{kind} c=*{out} {_SIZES}"
    return TritonCase(name, product, types, {**(tile or _TILE), "GROUP": 8, "KIND": total}, _DEEP, first=first)


CASES = (
    _product("product-fp16", "fp16", 70, out="fp16"),
    _product("product-bf16", "bf16", 80, out="bf16"),
    _product("product-tf32", "fp32", 80, tile={"M": 64, "N": 64, "K": 32}),
    _product("product-fp32", "fp32", 70, tile={"M": 32, "N": 32, "K": 32}),
    _product("product-fp64", "fp64", 80, out="fp64", total=tl.float64, tile={"M": 32, "N": 32, "K": 32}),
    _product("product-int8", "i8", 75, out="i32", total=tl.int32),
    _product("product-fp8", "fp8e4nv", 89, out="fp16"),
    _product("product-fp8e5", "fp8e5", 89, out="fp16"),
    TritonCase("product-persistent", product_persistent, f"a=*fp16 b=*fp16 c=*fp16 {_SIZES}", _TILE, _DEEP),
    TritonCase("product-fp8-persistent", product_persistent, f"a=*fp8e4nv b=*fp8e4nv c=*fp16 {_SIZES}", _TILE, _DEEP, first=89),
    TritonCase("product-split", product_split, f"a=*fp16 b=*fp16 c=*fp32 {_SIZES}", {**_SMALL, "PARTS": 4}),
    TritonCase("product-grouped", product_grouped, "pointers=*i64 sizes=*i32 count=i32", _SMALL),
    TritonCase(
        "product-mxfp8",
        product_scaled,
        _SCALED.replace("a=*u8 ", "a=*fp8e4nv ", 1).replace("b=*u8 ", "b=*fp8e4nv ", 1),
        {"KIND": "e4m3", "PACKED": 1, **_TILE, "K": 128},
        first=89,
    ),
    TritonCase("product-mxfp4", product_scaled, _SCALED, {"KIND": "e2m1", "PACKED": 2, **_TILE, "K": 128}, first=80),
)
