"""Loops whose counters have 64 bits, in the plain forms that ptxas gives them (tests/regressions/foreign/long_loops.cu)."""

import pytest

from budget import some
from samples import SAMPLES
from sassan.frontend import load, read
from sassan.ipet.loop_bounds import infer
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.warpcfg import explore

FOREIGN = SAMPLES.parent / "tests" / "regressions" / "foreign"
MANY = {
    "sm_80": {
        "up": [24999, 0],  # by fours, and no rest
        "down": [0, 6248, 0],
        "down_by_8": [0, 780],
        "strided": [2, 23],
        "strided_by_block": [390],
        "over_grid": [2, 6],
    },
    "sm_120": {
        "up": [6249, 0],
        "down": [6249, 0],
        "down_by_8": [780, 0],
        "strided": [23, 2],
        "strided_by_block": [2, 97],
        "over_grid": [2, 6],
    },
}
"""Back edges for 100,000 elements, 256 threads and 16 blocks."""


@pytest.mark.slow
@pytest.mark.parametrize("arch", MANY)
def test_loops_over_numbers_of_64_bits_have_bounds_that_runs_reach(arch: str):
    expected = dict(some(list(MANY[arch].items()), of=4))
    facts, found = tables.load(arch).facts, dict[str, list[int | None]]()
    for function in read(load(str(FOREIGN / f"long_loops.{arch}.cubin"))).functions:
        if function.name in expected:
            cfg, launch = explore(function, facts), LaunchConfiguration((256, 1, 1), (16, 1, 1), (Setting("param_2", -1, 100_000, 8),))
            bounds = infer(cfg, facts, launch)
            assert check_bounds(cfg, facts, launch, bounds).refuted == ()
            found[function.name] = [one.bound for one in bounds]
    assert found == expected
