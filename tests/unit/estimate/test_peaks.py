"""Loops at the peak rate of one pipe (samples/peak): estimates are near the time that a published rate needs, and below the bound.

`scripts/bench_peaks` compiles loops of every pipe and type, and holds them to the rates of the same table.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from budget import some
from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.invariants import broken
from sassan.app.options import machine_of_product
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.estimate import launch
from sassan.estimate.demand import Demands
from sassan.estimate.program import SimulatedRun, Sm, WarpProgram
from sassan.estimate.simulate import simulate
from sassan.frontend import load, read
from sassan.frontend.cubin.tools import tools
from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables

PEAKS = tomllib.loads((SAMPLES.parent / "scripts" / "_lib" / "peaks.toml").read_text("utf-8"))
SHAPES = {("sm_75", "hmma"): "hmma_1688"}
"""What the table calls the shape of a sample, where that is not the one of later architectures."""
SHORT = {("sm_90", "dfma")}
"""Loops of eight statements, in which the last warp of a scheduler does not keep a fast pipe busy."""
PREPARED = {("sm_61", "mufu")}
"""Loops in which another instruction of the same pipe prepares the operand."""
TWINS = {"RTX 3080", "H200"}
"""Products whose SMs are those of another one of the table."""
LOOPS = [
    (product, arch, sample, loop)
    for arch, products in PEAKS["products"].items()
    for sample in ("dfma", "dmma", "hmma", "imma", "mufu")
    if (arch, sample) not in PREPARED and (SAMPLES / "peak" / arch / f"{sample}.cubin").is_file()
    for loop in [PEAKS["loop"][SHAPES.get((arch, sample), sample)]]
    if arch in {**loop["rates"], **loop.get("measured", {})}
    for product in products
    if product not in TWINS
]
WARPS, TIMES = 32, 1000 * 8
"""A block of so many warps on each SM, of so many products each."""


@cache
def kernel(arch: str, sample: str) -> Function:
    if not any(int(arch.removeprefix("sm_")) in tool.reads for tool in tools("nvdisasm")):
        pytest.skip(f"no nvdisasm that reads {arch} is installed")
    (found,) = (each for each in read(load(str(SAMPLES / "peak" / arch / f"{sample}.cubin"))).functions if each.kernel)
    return found


@cache
def analyzed(product: str, arch: str, sample: str) -> AnalysisResult:
    gpu = find(product)
    machine = machine_of_product(gpu, "--gpu")
    settings = Settings(
        costs=models.model("control", Tables(machine)),
        machine=machine,
        launch=LaunchConfiguration((32 * WARPS, 1, 1), (gpu.sms, 1, 1)),
        resources=Resources(sms=gpu.sms),
        gpu=gpu,
        check=False,
    )
    return analyze(kernel(arch, sample), settings)


@pytest.mark.parametrize(
    ("product", "arch", "sample", "loop"), some(LOOPS, of=9), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_loop_at_the_peak_is_estimated_near_it(product: str, arch: str, sample: str, loop: Mapping[str, Any]):
    measured = loop.get("measured", {})
    rates = {**loop["rates"], **measured}
    needed = WARPS * TIMES * loop["operations"] / rates.get(product, rates[arch])
    result = analyzed(product, arch, sample)
    found = estimated(result)
    assert found.estimate is not None
    # Code may be faster than what was measured, but not than the peak of a data sheet.
    least, most = 0.9 if arch in measured else 0.98, 1.2 if (arch, sample) in SHORT else 1.1
    assert least <= found.estimate.cycles / needed <= most, loop["source"]
    assert result.grid_bound is not None
    assert found.estimate.cycles <= result.grid_bound


def test_a_clock_that_counts_work_too_often_is_held_to_work_and_idle_time(monkeypatch: pytest.MonkeyPatch):
    """Warps in iterations of different weight: a loop of F2F.F64 on an RTX 3090 was estimated above its bound."""
    result = analyzed("RTX 3090", "sm_86", "dfma")
    good = estimated(result).estimate

    def simulated(program: WarpProgram, sm: Sm) -> SimulatedRun:
        run = simulate(program, sm)
        return replace(run, cycles=1.5 * run.cycles)

    monkeypatch.setattr(launch, "simulate", simulated)
    found = estimated(result).estimate
    assert good is not None
    assert found is not None
    assert good.cycles <= found.cycles <= 1.01 * good.cycles


@pytest.mark.parametrize("sample", some(["hmma", "imma", "mufu"], of=3))
def test_lanes_of_partitions_that_queue_for_the_whole_sm_take_four_times_the_peak(monkeypatch: pytest.MonkeyPatch, sample: str):
    """As estimates once had it: a unit was shared by the SM where any of its pipes is."""

    def pool(self: Demands, opcode: str) -> tuple[str, bool]:
        unit = self.usual.rates.unit(opcode)
        return unit, any(pipe.unit == unit and pipe.scope == "sm" for pipe in self.usual.rates.machine.pipes)

    result = analyzed("RTX 3090", "sm_86", sample)
    good = estimated(result).estimate
    monkeypatch.setattr(Demands, "pool", pool)
    bad = estimated(result)
    assert good is not None
    assert bad.estimate is not None
    assert bad.estimate.cycles == pytest.approx(4 * good.cycles, rel=0.1)
    assert "is above the bound of the launch" in broken(bad)[0]
