"""Every estimate lies between its work at peak rates and the bound of its launch; one that does not is reported with the term to blame."""

from dataclasses import replace
from functools import cache

import pytest

from budget import FULL
from samples import EVERY, SAMPLES, names
from sassan.app.analysis import analyze
from sassan.app.estimating import EstimateResult, estimated
from sassan.app.invariants import broken
from sassan.app.options import machine_of_product
from sassan.app.settings import Settings
from sassan.errors import MissingToolError
from sassan.estimate.demand import Demands
from sassan.frontend import load, read
from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import Setting
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables

PRODUCTS = {
    "sm_52": ("GTX 980", "GTX TITAN X", "M40"),
    "sm_61": ("GTX 1080", "GTX 1080 Ti", "P40"),
    "sm_70": ("V100-SXM2-16GB", "TITAN V", "T4"),
    "sm_75": ("T4", "RTX 2080 Ti", "RTX 2060"),
    "sm_80": ("A100-PCIE-40GB", "RTX 3080", "RTX 4090"),
    "sm_90": ("H100 SXM", "H100 PCIe", "H200"),
    "sm_100": ("B200", "GB200", "B300"),
    "sm_120": ("RTX 5090", "RTX 5080", "RTX 5070 Ti"),
}
"""Three products for the code of each architecture."""
USUAL = [("sm_75", "saxpy"), ("sm_80", "saxpy"), ("sm_80", "matmul_tiled"), ("sm_90", "tensor_mma"), ("sm_120", "reduce_shared")]


def answer(function: Function, product: str) -> EstimateResult:
    gpu = find(product)
    machine = machine_of_product(gpu, "--gpu")
    numbers = () if function.compiler is None else tuple(each for each in function.compiler.parameters if each.size == 4)
    settings = Settings(
        costs=models.model("control", Tables(machine)),
        machine=machine,
        launch=LaunchConfiguration((128, 1, 1), (1000, 1, 1), tuple(Setting(each.name, -1, 96) for each in numbers)),
        resources=Resources(sms=gpu.sms),
        gpu=gpu,
        loop_bound=16,
        check=False,
    )
    return estimated(analyze(function, settings))


def kernels(arch: str, name: str) -> list[Function]:
    try:
        return [each for each in read(load(str(SAMPLES / arch / f"{name}.cubin"))).functions if each.kernel]
    except MissingToolError as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "name"), [(arch, name) for arch in EVERY for name in names(arch)] if FULL else USUAL[::2])
def test_an_estimate_lies_between_its_work_and_its_bound(arch: str, name: str):
    for function in kernels(arch, name):
        for product in PRODUCTS[arch] if FULL else PRODUCTS[arch][1:2]:
            result = answer(function, product)
            assert broken(result) == (), product
            assert FULL or result.estimate is not None
            assert FULL or result.analysis.grid_bound is not None


@cache
def loop(arch: str, product: str) -> EstimateResult:
    (kernel,) = (each for each in read(load(str(SAMPLES / "peak" / arch / "mufu.cubin"))).functions if each.kernel)
    gpu = find(product)
    machine = machine_of_product(gpu, "--gpu")
    costs, launch = models.model("control", Tables(machine)), LaunchConfiguration((1024, 1, 1), (gpu.sms, 1, 1))
    resources = Resources(sms=gpu.sms)
    settings = Settings(costs=costs, machine=machine, launch=launch, resources=resources, gpu=gpu, check=False)
    return estimated(analyze(kernel, settings))


def test_lanes_of_partitions_that_queue_for_the_whole_sm_are_reported(monkeypatch: pytest.MonkeyPatch):
    """As estimates once had it: a unit was shared by the SM where any of its pipes is."""

    def pool(self: Demands, opcode: str) -> tuple[str, bool]:
        unit = self.usual.rates.unit(opcode)
        return unit, any(pipe.unit == unit and pipe.scope == "sm" for pipe in self.usual.rates.machine.pipes)

    result = loop("sm_86", "RTX 3080")
    assert broken(result) == ()
    monkeypatch.setattr(Demands, "pool", pool)
    (text,) = broken(estimated(result.analysis))
    assert "is above the bound of the launch" in text
    assert "xu alone takes" in text


def test_an_estimate_below_its_work_is_reported():
    result = loop("sm_86", "RTX 3080")
    assert result.estimate is not None
    (text,) = broken(replace(result, estimate=replace(result.estimate, shares={**result.estimate.shares, "xu": 1.2})))
    assert "is below its work: xu takes" in text
