"""Kernels that are built to be bound by one limit each (samples/limits, samples/peak): the estimate names it, below the bound."""

from functools import cache

import pytest

from budget import some
from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.frontend import load, read
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables

SMS = 108
FULL: Shape = (SMS * 4, 1, 1)
LIMITS: list[tuple[str, str, int, Shape]] = [
    ("limits", "issue", 256, (SMS * 2, 1, 1)),
    ("limits", "fma", 256, (SMS * 2, 1, 1)),
    ("peak", "dfma", 256, (SMS, 1, 1)),
    ("peak", "mufu", 256, (SMS, 1, 1)),
    ("peak", "hmma", 256, (SMS, 1, 1)),
    ("limits", "shared", 256, FULL),
    ("limits", "l1", 256, FULL),
    ("limits", "l2", 256, FULL),
    ("limits", "dram", 256, (1 << 16, 1, 1)),
    ("limits", "latency", 128, (SMS, 1, 1)),
    ("limits", "barrier", 128, (SMS, 1, 1)),
]
NAMES = {"dfma": "fp64", "mufu": "xu", "hmma": "tensor"}


@cache
def analyzed(folder: str, name: str, threads: int, grid: Shape, *, contention: bool = True) -> AnalysisResult:
    kernel = next(each for each in read(load(str(SAMPLES / folder / "sm_80" / f"{name}.cubin"))).functions if each.kernel)
    settings = Settings(
        costs=models.model("control", Tables()),
        launch=LaunchConfiguration((threads, 1, 1), grid),
        resources=Resources(sms=SMS),
        gpu=find("A100-PCIE-40GB"),
        contention=contention,
        check=False,
    )
    return analyze(kernel, settings)


def bound_by(folder: str, name: str, threads: int, grid: Shape) -> str:
    result = analyzed(folder, name, threads, grid)
    found = estimated(result).estimate
    assert found is not None
    assert result.grid_bound is not None
    assert found.cycles <= result.grid_bound
    return found.bound_by


@pytest.mark.parametrize(("folder", "name", "threads", "grid"), some(LIMITS), ids=[name for _, name, _, _ in some(LIMITS)])
def test_the_limit_that_a_kernel_is_built_for_is_named(folder: str, name: str, threads: int, grid: Shape):
    assert bound_by(folder, name, threads, grid) == NAMES.get(name, name)


@pytest.mark.parametrize(("folder", "name", "threads", "grid"), some(LIMITS, of=5), ids=[name for _, name, _, _ in some(LIMITS, of=5)])
def test_an_estimate_is_the_same_without_the_bounds_of_many_warps(folder: str, name: str, threads: int, grid: Shape):
    """`sassan estimate` and `rank` leave out what only those bounds need, such as accesses that are followed lane by lane."""
    bounded, alone = (analyzed(folder, name, threads, grid, contention=each) for each in (True, False))
    assert bounded.grid_bound is not None
    assert alone.grid_bound is None
    assert estimated(alone).estimate == estimated(bounded).estimate


@pytest.mark.slow
def test_blocks_that_are_one_too_many_are_a_tail():
    assert bound_by("limits", "fma", 1024, (SMS, 1, 1)) == "fma"
    assert bound_by("limits", "fma", 1024, (SMS + 1, 1, 1)) == "tail"
