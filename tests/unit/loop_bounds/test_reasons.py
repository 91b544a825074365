"""Where no bound of a loop is found, its advice says why, in one line."""

import pytest

from budget import some
from samples import EVERY, explored, names, program
from sassan.ipet.loop_bounds import infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.warpcfg.externals import clobbering


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(EVERY, of=9))
def test_every_loop_has_a_bound_or_a_reason(arch: str):
    silent: list[str] = []
    open_loops = 0
    for name in some([name for name in names(arch) if name != "large_5000"]):
        for function in program(arch, name).functions:
            cfg = explored(function)
            for loop in infer(cfg, clobbering(tables.load(arch).facts, cfg.externals), LaunchConfiguration()):
                open_loops += loop.bound is None
                if loop.bound is None and (not loop.advice or "\n" in loop.advice):
                    silent.append(f"{function.name} 0x{loop.head:04x}")
    assert open_loops > 10
    assert silent == []
