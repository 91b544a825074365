"""Loops of one pipe (peaks.toml), compiled for the architecture of a product: estimates against data sheets, and against bounds."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from _samples import tools

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.options import machine_of_product
from sassan.app.settings import Settings
from sassan.frontend import read
from sassan.frontend.load import content
from sassan.ipet.sm.gpu import memory_of
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import Product, find
from sassan.timing import models
from sassan.timing.rates import Tables

TABLE = Path(__file__).with_name("peaks.toml")
WARPS, TIMES, STATEMENTS, CHAINS = 32, 500, 128, 8
"""A block of so many warps on each SM; each runs so many iterations of so many statements, in so many chains as a rule."""
COPIED = 1 << 28
"""Bytes that the copy reads, and writes: more than any L2 keeps."""
READ = 1 << 20
"""Bytes that every SM reads again and again: less than any L2 keeps, and more than an L1 does."""
COPY, L2 = "copy", "l2"
SHEET, MEASURED = "data sheet", "measured"
_LOOP = """
struct Eight {{ float x[8]; }};
extern "C" __global__ void __launch_bounds__(1024) loop({type} *out, unsigned a, unsigned b) {{
    __shared__ float4 held[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(held + threadIdx.x % 32);
    {type} d[{chains}];
    for (int k = 0; k < {chains}; ++k) d[k] = out[k * 1024 + threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < {times}; ++i)
#pragma unroll
        for (int again = 0; again < {again}; ++again)
#pragma unroll
            for (int k = 0; k < {chains}; ++k) {code}
    if (a == 12345 && b == at) held[threadIdx.x % 32] = float4();
    for (int k = 0; k < {chains}; ++k) out[k * 1024 + threadIdx.x] = d[k];
}}
"""
_FLOAT4 = 16
_READ = """
extern "C" __global__ void __launch_bounds__(1024) read(const float4 *in, float4 *out) {{
    float4 sum = in[threadIdx.x];
    for (int i = 0; i < {times}; ++i)
#pragma unroll
        for (int k = 0; k < {chains}; ++k) {{
            float4 d = __ldcg(in + (i * {chains} + k) % {steps} * 1024 + threadIdx.x);
            sum.x += d.x; sum.y += d.y; sum.z += d.z; sum.w += d.w;
        }}
    out[threadIdx.x] = sum;
}}
"""
_COPY = """
extern "C" __global__ void copy(const float4 *in, float4 *out) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    out[i] = in[i];
}
"""


@dataclass(frozen=True, slots=True)
class Peak:
    """A loop on a product: cycles at the peak, whose that is (`SHEET`, or what was measured instead), the estimate and the bound."""

    loop: str
    product: str
    arch: str
    needed: float
    peak_of: str
    estimate: float | None
    bound: int | None
    why: str = ""

    @property
    def to_peak(self) -> float | None:
        """Return the estimate over the time at the peak."""
        return self.estimate / self.needed if self.estimate is not None else None

    @property
    def to_bound(self) -> float | None:
        """Return the estimate over the bound."""
        return self.estimate / self.bound if self.estimate is not None and self.bound else None


class _Work(NamedTuple):
    """The cycles of a loop on a product at its peak, whose peak that is, and the launch."""

    needed: float
    peak_of: str
    launch: LaunchConfiguration


def peaks(loops: frozenset[str], products: frozenset[str], nvrtc: Path) -> Iterator[Peak]:
    """Yield the row of each loop on each product that the table has a rate for; no names: all."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    for name in (*table["loop"], L2, COPY):
        for arch, several in table["products"].items():
            loop = table["loop"].get(name)
            if (loops and name not in loops) or (loop is not None and not _rates(loop).keys() & {arch, *several}):
                continue
            wanted = [find(product) for product in several if not products or product in products]
            wanted = [gpu for gpu in wanted if name != L2 or gpu.l2_bytes_per_cycle]
            cubin = _compiled(name, loop, arch, nvrtc) if wanted else b""
            for gpu in wanted:
                yield _peak(name, arch, gpu, cubin, _work(name, loop, arch, gpu))


def _rates(loop: Mapping[str, Any]) -> Mapping[str, float]:
    return {**loop.get("rates", {}), **loop.get("measured", {})}


def _compiled(name: str, loop: Mapping[str, Any] | None, arch: str, nvrtc: Path) -> bytes:
    source = _COPY if name == COPY else _READ.format(times=TIMES, chains=CHAINS, steps=READ // (32 * WARPS * _FLOAT4))
    if loop is not None:
        chains = loop.get("chains", CHAINS)
        source = _LOOP.format(type=loop["type"], code=loop["code"], chains=chains, times=TIMES, again=STATEMENTS // chains)
    return tools.Nvrtc(nvrtc).compile(source, "loop.cu", [f"-arch={arch}", "-std=c++17"])[0]


def _work(name: str, loop: Mapping[str, Any] | None, arch: str, gpu: Product) -> _Work:
    if loop is not None:
        rates = _rates(loop)
        needed = WARPS * TIMES * STATEMENTS * loop["operations"] / rates.get(gpu.name, rates.get(arch, 0.0))
        peak_of = MEASURED if arch in loop.get("measured", {}) else SHEET
        return _Work(
            needed,
            peak_of,
            LaunchConfiguration((32 * WARPS, 1, 1), (gpu.sms, 1, 1), (Setting("param_1", -1, 0, 4), Setting("param_2", -1, 1, 4))),
        )
    buffers = Setting("param_0", -1, 1 << 30, 8), Setting("param_1", -1, 1 << 32, 8)
    if name == L2:
        needed = gpu.sms * TIMES * CHAINS * 32 * WARPS * _FLOAT4 / (gpu.l2_bytes_per_cycle or 1)
        return _Work(needed, MEASURED, LaunchConfiguration((32 * WARPS, 1, 1), (gpu.sms, 1, 1), buffers))
    share = f"{MEASURED}: {gpu.dram_efficiency:.0%} of the data sheet"
    return _Work(
        2 * COPIED / float(memory_of(gpu).dram), share, LaunchConfiguration((256, 1, 1), (COPIED // (256 * _FLOAT4), 1, 1), buffers)
    )


def _peak(name: str, arch: str, gpu: Product, cubin: bytes, work: _Work) -> Peak:
    result = _estimated(cubin, gpu, work.launch)
    known = result.estimate
    if known is None:
        return Peak(name, gpu.name, arch, work.needed, work.peak_of, None, None, ", ".join(sorted({gap.code for gap in result.gaps})))
    return Peak(name, gpu.name, arch, work.needed, work.peak_of, known.cycles, result.analysis.grid_bound)


def _estimated(cubin: bytes, gpu: Product, launch: LaunchConfiguration) -> EstimateResult:
    kernel = next(each for each in read(content("loop.cubin", cubin)).functions if each.kernel)
    machine = machine_of_product(gpu, "--gpu")
    settings = Settings(
        costs=models.model("control", Tables(machine)), machine=machine, launch=launch, resources=Resources(sms=gpu.sms), gpu=gpu
    )
    return estimated(analyze(kernel, settings))
