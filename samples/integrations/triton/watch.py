"""Bounds of every kernel that a program compiles, as it runs (extra `triton`); run it on a machine with a GPU and torch."""

import torch
import triton
import triton.language as tl

from sassan.integrations import triton as sassan_triton


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


with sassan_triton.watching(then=print) as seen:
    x = torch.rand(100_000, device="cuda")
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 1024),)](x, x, out, x.numel(), BLOCK=1024)

for name, error in seen.refused:
    print(f"{name} was refused: {error.message}")
