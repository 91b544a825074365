"""What recorded data decide, held to warps that are run: random programs, and the samples with their recordings."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from budget import part, some
from sassan.app.analysis import analyze
from sassan.app.launches import kernel_of, settings_of
from sassan.app.recorded_memory import with_contents
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import Gap
from sassan.frontend import load, read
from sassan.ipet.loop_bounds.seen_accesses import AccessCounter
from sassan.launches import read as read_launches
from sassan.simt.certain import Certainty
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot
from sassan.simt.values import Moment, Words
from sassan.timing.control import ControlCostModel
from soundness.recorded_campaign import hold_recorded, observe

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples" / "recorded"
NAMED = {
    "grouped": {"unbounded-loop"},  # it stores through pointers of a table, and so perhaps to the table
    "level": {"unbounded-loop"},  # it stores to places that memory names, and so perhaps to the graph
    "sort_recursive": {"unbounded-loop", "recursion"},
    "scan_look_back": {"unbounded-loop", "no-latency"},
}
"""The gaps of the kernels that have no bound."""


def test_no_random_program_does_more_than_its_run_said():
    tally = hold_recorded(0, part(48, of=3))
    assert tally.findings == []
    assert min(tally.reached["loops"], tally.reached["blocks"], tally.reached["accesses"]) > 5


def test_lanes_that_wait_on_the_other_side_of_a_branch_do_not_leave_a_loop_by_the_exit_of_this_one():
    # A campaign drew it: of 32 lanes, those that were elsewhere ended with an exit that no lane took, and 20 were said to load.
    assert hold_recorded(12005069, 12005070).findings == []


def test_a_run_that_takes_lanes_to_be_together_too_soon_is_noticed(monkeypatch: pytest.MonkeyPatch):
    plain = AccessCounter.result
    monkeypatch.setattr(AccessCounter, "result", lambda self, _: plain(self, ()))
    assert any("access" in finding for finding in hold_recorded(1, 2).findings)


def test_a_run_that_takes_all_paths_to_be_certain_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Certainty, "settled", property(lambda _: True))
    assert any("block" in finding for finding in hold_recorded(1, 2).findings)


@cache
def analyzed(name: str, *, without_data_of: str = "") -> dict[str, AnalysisResult]:
    """Return the analyses of the recorded kernels of a sample, or that of one of them without the recorded data."""
    functions = [(name, function) for function in read(load(str(SAMPLES / f"{name}.cubin"))).functions]
    recording = with_contents(functions, read_launches(str(SAMPLES / f"{name}.toml")))
    out: dict[str, AnalysisResult] = {}
    for launch in recording.launches:
        place = kernel_of(functions, launch)
        assert not isinstance(place, Gap)
        function = functions[place][1]
        settings = settings_of(Settings(costs=ControlCostModel()), function, launch)
        if without_data_of in {"", launch.kernel}:
            out[launch.kernel] = analyze(function, settings_without_contents(settings) if without_data_of else settings)
    return out


def settings_without_contents(settings: Settings) -> Settings:
    return replace(settings, launch=replace(settings.launch, contents=None))


class Together(Integers):
    """Values of warps that never diverge where a choice is open: `BRA.DIV` falls through where all lanes are there."""

    def coin(self, at: Moment) -> Words:
        return np.zeros(len(at.rows), np.uint32)


@pytest.mark.parametrize("name", some(sorted((path.stem for path in SAMPLES.glob("*.cubin")), reverse=True), of=3))
def test_bounds_of_recorded_samples_hold_for_warps_that_run(name: str):
    for kernel, result in analyzed(name).items():
        assert {gap.code for gap in result.wcet.gaps} == NAMED.get(kernel, set()), kernel
        if result.wcet.value is None:
            continue
        block, grid = result.settings.launch.block, result.settings.launch.grid
        assert block is not None
        assert grid is not None
        blocks = [(x, y, 0) for x in range(grid[0]) for y in range(grid[1])]
        spots = [Spot(place, warp) for place in blocks for warp in range(-(-block[0] // 32))]
        observed = observe(result.cfg, result.settings.launch, (), spots, 1, values=Together)
        for loop, bound in zip(observed.loops.most, result.bounds.of_loop, strict=True):
            assert bound is None or loop.max() <= bound, kernel
        by_address = {each.address: number for number, each in enumerate(observed.code.blocks)}
        costs = {node.start: cost for node, cost in zip(result.cfg.nodes, result.problem.costs, strict=True)}
        cycles = sum(cost * observed.executed[by_address[start]] for start, cost in costs.items())
        assert np.max(cycles) <= result.wcet.value, kernel


@pytest.mark.parametrize("kernel", some(["csr_vector", "csr_scalar"]))
def test_data_shorten_the_bounds_of_sparse_products(kernel: str):
    assert analyzed("sparse")[kernel].wcet.value is not None
    assert analyzed("sparse", without_data_of=kernel)[kernel].wcet.value is None
