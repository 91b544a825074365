"""Loops at the peak rate of one pipe (samples/peak): estimates are near the time that the published rate needs, and below the bound."""

from fractions import Fraction

import pytest

from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.options import machine_of_product
from sassan.app.settings import Settings
from sassan.frontend import load, read
from sassan.frontend.cubin.tools import tools
from sassan.machine.launch import Launch
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from unit.ipet.sm.test_peak_rates import PEAKS

PRODUCTS = {"sm_80": "A100-PCIE-40GB", "sm_86": "RTX 3080", "sm_89": "RTX 4090", "sm_120": "RTX 5090"}
LOOPS = [row for row in PEAKS if row[0] in PRODUCTS]
"""Units of these have lanes of partitions and lanes of the SM: what needs the ones does not wait for the others."""
WARPS, TIMES = 32, 1000 * 8
"""A block of so many warps on each SM, of so many products each."""


@pytest.mark.parametrize(("arch", "loop", "operations", "rate", "source"), LOOPS, ids=[f"{loop} {arch}" for arch, loop, *_ in LOOPS])
def test_a_loop_at_the_peak_is_estimated_near_it(arch: str, loop: str, operations: int, rate: int, source: str):
    number = int(arch.removeprefix("sm_"))
    if not any(number in tool.reads for tool in tools("nvdisasm")):
        pytest.skip(f"no nvdisasm that reads {arch} is installed")
    needed = Fraction(WARPS * TIMES * operations, rate)
    kernel = next(each for each in read(load(str(SAMPLES / "peak" / arch / f"{loop}.cubin"))).functions if each.kernel)
    gpu = find(PRODUCTS[arch])
    machine = machine_of_product(gpu, "--gpu")
    settings = Settings(
        costs=models.model("control", Tables(machine)),
        machine=machine,
        launch=Launch((32 * WARPS, 1, 1), (gpu.sms, 1, 1)),
        resources=Resources(sms=gpu.sms),
        gpu=gpu,
    )
    result = analyze(kernel, settings)
    found = estimated(result).estimate
    assert found is not None
    assert 0.98 <= found.cycles / needed <= 1.1, source
    assert result.grid_bound is not None
    assert found.cycles <= result.grid_bound
