"""An analysis with a GPU makes one pass through each package: counted are the calls of what each package is entered by."""

import cProfile
import pstats
from pathlib import Path

import pytest

import sassan
from budget import some
from sassan import frontend, products
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.timing.control import ControlCostModel

PACKAGE = Path(sassan.__file__).parent
SAMPLES = Path(__file__).resolve().parents[3] / "samples"
WARPS = 8
"""Warps of a block."""
PASSES = {
    ("access/accesses.py", "accesses"): 1,
    ("access/traffic.py", "traffic"): 1,
    ("app/sm_level.py", "with_sm_level"): 1,
    ("ipet/flow_facts.py", "bounds_of"): 1,
    ("ipet/loop_bounds/infer.py", "inference"): 1,
    ("ipet/loop_bounds/recheck.py", "check"): 1,
    ("ipet/loop_bounds/whole_run.py", "whole_run"): 2,  # loops and accesses; where that says nothing, the lengths of divergent sides
    ("ipet/sm/barriers.py", "block_barriers"): 1,
    ("ipet/sm/makespan.py", "makespan"): 1,
    ("ipet/wcet.py", "problem"): 1 + WARPS,  # that of any warp, and one for each class
    ("ipet/wcet.py", "wcet"): 1,
    ("timing/control.py", "block_costs"): 1,
    ("values/flow.py", "word_flow"): 1 + WARPS,  # any warp of the launch, and the warps of a block that may be of classes of their own
    ("values/warp_values.py", "with_values"): 1 + WARPS,
    ("warpcfg/compiler_tables.py", "check"): 1,
    ("warpcfg/explore.py", "explore"): 2,  # the graph of the code, in which values are followed, and that of the launch
}


def calls(sample: str) -> dict[tuple[str, str], int]:
    gpu = products.find("A100-SXM4-40GB")
    (function,) = frontend.read(frontend.load(str(SAMPLES / f"{sample}.cuobjdump.sass"))).functions
    launch = LaunchConfiguration((32 * WARPS, 1, 1), (4000, 1, 1))
    settings = Settings(costs=ControlCostModel(), loop_bound=5, launch=launch, gpu=gpu, resources=Resources(32, 0, gpu.sms))
    with cProfile.Profile() as profile:
        assert analyze(function, settings).grid_bound is not None
    known = {(Path(file), name): count for (file, _, name), (count, *_) in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    return {(place, name): known.get((PACKAGE / place, name), 0) for place, name in PASSES}


@pytest.mark.parametrize(
    ("sample", "without"),
    some(
        [
            ("sm_80/barrier_reduce", set[tuple[str, str]]()),
            ("sm_80/saxpy", {("ipet/loop_bounds/recheck.py", "check")}),  # it has no loop
            pytest.param("sm_80/nested_divergent_loops", set[tuple[str, str]](), marks=pytest.mark.slow),
        ],
        of=3,
    ),
)
def test_an_analysis_with_a_gpu_makes_one_pass_through_each_package(sample: str, without: set[tuple[str, str]]):
    counted = calls(sample)
    assert {name: count for name, count in counted.items() if count > PASSES[name]} == {}
    assert {name for name, count in counted.items() if not count} == without
