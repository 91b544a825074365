"""The bound of a Triton kernel on two architectures; no GPU is needed (extra `triton`)."""

import triton
import triton.language as tl

import sassan
from sassan.integrations import triton as sassan_triton


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total, 0))


TYPES = {"x": "*fp32", "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"}

for arch in ("sm_80", "sm_100"):
    compiled = sassan_triton.compile_for(row_sum, TYPES, {"BLOCK": 256}, arch=arch, options={"num_warps": 4})
    # 1024 columns: 4 turns of 256. Triton's argument `columns` is the third parameter of the cubin.
    bounded = sassan_triton.analyze(compiled, launch=sassan.Launch(grid=100, parameters={"param_2": 1024}))
    source = bounded.loops[0].source if bounded.loops else "no loop"
    print(arch, "WCET", bounded.wcet, "loop", source, "full SM", bounded.warps, "warps", bounded.makespan)
    for gap in bounded.gaps:
        print(f"  0x{gap.address:04x} {gap.code}: {gap.message}")
