"""Kernels whose blocks are launched in clusters, or wait for each other: what stays known, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ptx
from listing import assemble
from sassan.app.analysis import analyze, warp_graph
from sassan.app.makespan.kernels import Paths, kernel_of
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.ir import CompilerFacts, Function
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.makespan.configuration import MakespanConfiguration
from sassan.timing.control import ControlCostModel
from sassan.timing.rates import ALONE, CLUSTER, Tables
from scheduled import scheduled

LAUNCH = Settings(launch=LaunchConfiguration((64, 1, 1), (100, 1, 1)), resources=Resources(sms=4), partition=True)
NOT_IN_CLUSTERS, IN_CLUSTERS = "blocks are not launched in clusters", "of blocks in clusters, no more are resident"
MEETING = ("UCGABAR_ARV", "UCGABAR_WAIT")


def kernel(*lines: str, cluster: int | None = None) -> Function:
    function = assemble("\n".join(("MOV R0, RZ", *lines, "EXIT")), "sm_90").function
    return replace(function, kernel=True, compiler=CompilerFacts(0x100, registers=10, cluster=cluster))


def gaps(one: AnalysisResult) -> list[tuple[int, str]]:
    return [(gap.address, gap.code) for gap in one.gaps]


def test_blocks_that_wait_for_each_other_have_a_wcet_and_neither_a_makespan_nor_a_grid() -> None:
    found = analyze(kernel(*MEETING, cluster=1), LAUNCH)
    assert found.makespan is not None
    assert found.makespan.partition is not None
    assert found.makespan.grid is not None
    values = (found.makespan.bound.value, found.makespan.partition.value, found.makespan.grid.value, found.makespan.worst_path)
    assert (found.wcet.value, values) == (4, (None, None, None, None))
    assert gaps(found) == [(0x20, "cluster-barrier")]
    assert gaps(analyze(kernel(*MEETING), Settings(warps=8))) == [(0x20, "cluster-barrier")]


@pytest.mark.parametrize("cluster", [0, 4])
def test_in_clusters_the_warps_of_an_sm_have_a_bound_and_a_grid_has_none(cluster: int) -> None:
    alone, found = (analyze(kernel(cluster=one), LAUNCH) for one in (None, cluster))
    assert alone.makespan is not None
    assert found.makespan is not None
    assert alone.makespan.grid is not None
    assert found.makespan.grid is not None
    # 64 warps are resident at most, and without clusters no SM of 4 gets more than 25 of 100 blocks of 2 warps.
    assert [each.makespan.residents.warps for each in (found, alone) if each.makespan is not None] == [64, 50]
    assert (found.makespan.bound.value, alone.makespan.bound.value) == (65, 51)
    assert (found.makespan.grid.value, gaps(found)) == (None, [(0, "cluster-launch")])
    assert (alone.makespan.grid.value is not None, gaps(alone)) == (True, [])


def test_a_grid_that_touches_memory_of_the_host_has_no_bound() -> None:
    found = analyze(kernel(), replace(LAUNCH, launch=replace(LAUNCH.launch, host=True)))
    assert found.makespan is not None
    assert found.makespan.grid is not None
    assert (found.makespan.grid.value, gaps(found)) == (None, [(0, "host-memory")])


def test_where_a_grid_fills_no_sm_only_its_warps_are_bounded_and_how_blocks_are_dispatched_is_said() -> None:
    few = analyze(kernel(), replace(LAUNCH, launch=replace(LAUNCH.launch, grid=(5, 1, 1))))
    many = analyze(kernel(), replace(LAUNCH, launch=replace(LAUNCH.launch, grid=(1000, 1, 1))))
    named = analyze(kernel(), replace(LAUNCH, warps=64, launch=replace(LAUNCH.launch, grid=(5, 1, 1))))
    known = [each.makespan for each in (few, many, named) if each.makespan is not None]
    assert [each.residents.warps for each in known] == [4, 64, 64]
    said = [any("no SM holds two more than another" in text for text in each.bound.assumptions) for each in known]
    assert said == [True, False, False]


def test_no_sm_holds_more_blocks_than_its_part_of_the_grid() -> None:
    few, many = (analyze(kernel(), replace(LAUNCH, launch=replace(LAUNCH.launch, grid=(blocks, 1, 1)))) for blocks in (1, 1000))
    for found, places in ((few, 1), (many, None)):
        assert found.makespan is not None
        grid = found.makespan.residents.grid
        assert grid is not None
        assert grid.occupancy is not None
        assert grid.places == (places or grid.occupancy.blocks)


@pytest.mark.parametrize(("cluster", "said"), [(None, NOT_IN_CLUSTERS), (1, NOT_IN_CLUSTERS), (0, IN_CLUSTERS), (4, IN_CLUSTERS)])
def test_occupancy_says_what_it_takes_for_granted_of_clusters(cluster: int | None, said: str) -> None:
    residency = analyze(kernel(cluster=cluster), LAUNCH).residency
    assert residency is not None
    assert residency.occupancy is not None
    assert {NOT_IN_CLUSTERS, IN_CLUSTERS} & set(residency.occupancy.assumptions) == {said}


@pytest.mark.parametrize("warps", [4, None])
def test_no_schedule_is_sought_where_blocks_on_other_sms_keep_warps_waiting(warps: int | None) -> None:
    found = kernel_of(analyze(kernel(*MEETING), Settings()), MakespanConfiguration(warps=warps, sm="9.0"), Paths.WORST, 1)
    assert (found.instances, found.bound, gaps(found.result)) == ((), None, [(0x20, "cluster-barrier")])


def test_one_warp_alone_awaits_no_other_block() -> None:
    cfg = warp_graph(scheduled("UCGABAR_ARV | 1\nUCGABAR_WAIT | 1\nEXIT | 5", "sm_90"), Settings())
    found = ControlCostModel(Tables(given={"cluster": 100, "branch": 16})).block_costs(cfg)
    assert (CLUSTER in found.assumptions, ALONE in found.assumptions) == (True, False)


@pytest.mark.parametrize("line", ["barrier.cluster.wait.acquire.aligned;", "barrier.cluster.arrive.release;"])
def test_a_barrier_of_a_cluster_in_ptx_is_a_gap_too(line: str) -> None:
    (one,) = ptx.functions(ptx.kernel(line, "ret;", head=ptx.HEAD.replace("sm_61", "sm_90")))
    found = analyze(one, Settings(warps=8))
    assert (found.wcet.value, gaps(found)) == (2, [(0, "cluster-barrier")])
