"""Warps of a block that execute different code: what all of them take is the sum of what each does."""

from dataclasses import replace
from pathlib import Path

import pytest

from budget import some
from sassan import frontend, products
from sassan.app.analysis import analyze
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.sm_level import with_sm_level
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.occupancy import Resources
from sassan.timing.control import ControlCostModel

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "sm_80"
GPU = products.find("A100-SXM4-40GB")


def bounded(sample: str, block: Shape, grid: Shape) -> AnalysisResult:
    settings = Settings(
        costs=ControlCostModel(),
        loop_bound=8,
        launch=LaunchConfiguration(block, grid),
        gpu=GPU,
        resources=Resources(32, 0, GPU.sms),
        check=False,
    )
    (function,) = frontend.read(frontend.load(str(SAMPLES / f"{sample}.cuobjdump.sass"))).functions
    return analyze(function, settings)


def alike(result: AnalysisResult) -> AnalysisResult:
    """The result, as if any warp could do what any other does."""
    return with_sm_level(replace(result, problem=replace(result.problem, classes=())))


def memory(result: AnalysisResult) -> float:
    assert result.makespan is not None
    assert result.makespan.terms is not None
    return float(result.makespan.terms.memory)


def test_loads_of_a_halo_are_those_of_the_warps_that_make_them():
    result = bounded("stencil2d_halo", (16, 16, 1), (256, 256, 1))
    # Rows 0 and 15 of threads load a further row each: the first of eight warps and the last one.
    assert [each.warps for each in result.problem.classes] == [(0,), (1, 2, 3, 4, 5, 6), (7,)]
    assert memory(result) < 0.75 * memory(alike(result))


@pytest.mark.parametrize(("sample", "block"), [("reduce_shared", (256, 1, 1)), ("barrier_reduce", (512, 1, 1))])
def test_the_steps_of_a_reduction_are_those_of_fewer_and_fewer_warps(sample: str, block: Shape):
    result = bounded(sample, block, (4096, 1, 1))
    assert len(result.problem.classes) >= 2
    assert result.grid_bound is not None
    assert result.grid_bound < (alike(result).grid_bound or 0)


@pytest.mark.parametrize("sample", some(["saxpy", "matmul_tiled"]))
def test_warps_that_all_do_the_same_have_no_systems_of_their_own(sample: str):
    assert bounded(sample, (256, 1, 1), (4096, 1, 1)).problem.classes == ()
