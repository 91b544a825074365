"""Loops of one pipe (peaks.toml), compiled for the architecture of a product: estimates against data sheets, and against bounds."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from _samples import tools

from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.options import machine_of_product
from sassan.app.settings import Settings
from sassan.frontend import read
from sassan.frontend.load import content
from sassan.ipet.sm.gpu import memory_of
from sassan.machine.launch import Launch
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import Product, find
from sassan.timing import models
from sassan.timing.rates import Tables

TABLE = Path(__file__).with_name("peaks.toml")
WARPS, TIMES, CHAINS, AGAIN = 32, 500, 8, 16
"""A block of so many warps on each SM; each runs so many iterations of so many statements, one chain after the other, so often."""
COPIED = 1 << 28
"""Bytes that the copy reads, and writes: more than any L2 keeps."""
COPY = "copy"
_LOOP = """
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
_COPY = """
extern "C" __global__ void copy(const float4 *in, float4 *out) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    out[i] = in[i];
}
"""


@dataclass(frozen=True, slots=True)
class Peak:
    """A loop on a product: cycles at the peak of the data sheet, the estimate without the launch overhead, and the bound."""

    loop: str
    product: str
    arch: str
    needed: float
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


def peaks(loops: frozenset[str], products: frozenset[str], nvrtc: Path) -> Iterator[Peak]:
    """Yield the row of each loop on each product that the table has a rate for; no names: all."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    for name in (*table["loop"], COPY):
        for arch, several in table["products"].items():
            loop = table["loop"].get(name)
            if (loops and name not in loops) or (loop is not None and arch not in loop["rates"]):
                continue
            wanted = loop.get("only", {}).get(arch, several) if loop is not None else several
            wanted = [product for product in wanted if not products or product in products]
            cubin = _compiled(loop, arch, nvrtc) if wanted else b""
            for product in wanted:
                yield _peak(name, loop, arch, find(product), cubin)


def _compiled(loop: Mapping[str, str] | None, arch: str, nvrtc: Path) -> bytes:
    source = _COPY if loop is None else _LOOP.format(type=loop["type"], code=loop["code"], chains=CHAINS, times=TIMES, again=AGAIN)
    return tools.Nvrtc(nvrtc).compile(source, "loop.cu", [f"-arch={arch}", "-std=c++17"])[0]


def _peak(name: str, loop: Mapping[str, object] | None, arch: str, gpu: Product, cubin: bytes) -> Peak:
    if loop is None:
        memory = memory_of(gpu)
        needed = 2 * COPIED / float(memory.dram)
        launch = Launch((256, 1, 1), (COPIED // (256 * 16), 1, 1), (Setting("param_0", -1, 1 << 30, 8), Setting("param_1", -1, 1 << 32, 8)))
    else:
        rates, operations = loop["rates"], loop["operations"]
        assert isinstance(rates, dict)
        assert isinstance(operations, int)
        needed = WARPS * TIMES * CHAINS * AGAIN * operations / rates[arch]
        launch = Launch((32 * WARPS, 1, 1), (gpu.sms, 1, 1), (Setting("param_1", -1, 0, 4), Setting("param_2", -1, 1, 4)))
    result = _estimated(cubin, gpu, launch)
    known = result.estimate
    if known is None:
        return Peak(name, gpu.name, arch, needed, None, None, ", ".join(sorted({gap.code for gap in result.gaps})))
    return Peak(name, gpu.name, arch, needed, known.cycles, result.analysis.grid_bound)


def _estimated(cubin: bytes, gpu: Product, launch: Launch) -> EstimateResult:
    kernel = next(each for each in read(content("loop.cubin", cubin)).functions if each.kernel)
    machine = machine_of_product(gpu, "--gpu")
    settings = Settings(
        costs=models.model("control", Tables(machine)), machine=machine, launch=launch, resources=Resources(sms=gpu.sms), gpu=gpu
    )
    return estimated(analyze(kernel, settings))
