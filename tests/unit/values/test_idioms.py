"""Branches of `warp_roles` on what all lanes of a warp share: uniform once the launch is given, unless the lane decides."""

import pytest

from budget import some
from samples import EVERY, explored, program
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.values import with_values
from sassan.warpcfg import explore

LINE, ROWS, ODD = (256, 1, 1), (32, 8, 1), (48, 3, 1)


def function(arch: str, name: str) -> Function:
    return next(each for each in program(arch, "warp_roles").functions if each.name == name)


def launch(arch: str, block: tuple[int, int, int], n: int = 64) -> LaunchConfiguration:
    """Return a launch with a value for the second parameter of the kernels."""
    where = layout(arch)
    assert where is not None
    return LaunchConfiguration(block, (4, 1, 1), (Setting("", where.parameters + 8, n, 4),))


def dividing(kernel: Function, given: LaunchConfiguration) -> set[int]:
    """Return the addresses of branches and the like on whose condition threads of a warp need not agree."""
    facts_of = tables.load(kernel.arch).facts
    values = with_values(explored(kernel), facts_of, given, lambda facts: explore(kernel, facts))
    assert values is not None
    return {
        instruction.address
        for index in range(len(values.cfg.nodes))
        for instruction, point in values.along(index)
        if values.facts[instruction.address].condition & ~point.agreed
    }


def diverging(kernel: Function, given: LaunchConfiguration | None = None) -> int:
    """Return the number of edges on which a side waits."""
    facts_of = tables.load(kernel.arch).facts
    cfg = explored(kernel)
    values = None if given is None else with_values(cfg, facts_of, given, lambda facts: explore(kernel, facts))
    return sum(edge.kind.value == "diverge" for edge in (cfg if values is None else values.cfg).edges)


@pytest.mark.parametrize("arch", some(EVERY, of=4))
@pytest.mark.parametrize(
    ("name", "block"), [("first_row", ROWS), ("warp_number", LINE), ("warp_first", LINE), ("linear_warp", ROWS), ("aligned_tail", LINE)]
)
def test_what_lanes_share_divides_no_warp(arch: str, name: str, block: tuple[int, int, int]):
    kernel = function(arch, name)
    assert dividing(kernel, launch(arch, block)) == set()
    assert diverging(kernel, launch(arch, block)) == 0
    assert dividing(kernel, LaunchConfiguration()) != set()
    # With rows of 48 threads, the number of a thread in its block still says which warp it is in.
    assert (dividing(kernel, LaunchConfiguration(ODD)) == set()) == (name == "linear_warp")


@pytest.mark.parametrize("arch", EVERY)
def test_what_the_lane_decides_divides_a_warp(arch: str):
    kernel = function(arch, "lane_roles")
    assert dividing(kernel, launch(arch, LINE)) == dividing(kernel, LaunchConfiguration()) != set()
    assert diverging(kernel, launch(arch, LINE)) == diverging(kernel) > 0


@pytest.mark.parametrize("arch", EVERY)
def test_a_tail_within_a_warp_divides_it(arch: str):
    assert dividing(function(arch, "aligned_tail"), launch(arch, LINE, n=65)) != set()
