"""Loops whose counter or bound stands where no register is: samples/loops, each with its launch, the bounds and what ends the others.

A bound is at least the truth, which the source says for the launch; what it exceeds that by is the number that a test keeps.
"""

from typing import NamedTuple

import pytest

from budget import FULL, some
from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.frontend import load, read
from sassan.ipet.loop_bounds import Inferred, inference
from sassan.ipet.loop_bounds.endings import Ending
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.warpcfg import explore


class Case(NamedTuple):
    """A launch of a sample: parameters of four bytes by their offset; of each loop, in order, its bound or what ends it (None: data)."""

    block: int
    grid: int
    parameters: dict[int, int]
    sm_80: tuple[int | str | None, ...]
    sm_120: tuple[int | str | None, ...] = ()


CASES = {
    # The most of any block: ceil(16000 / 128) = 125 iterations.
    "parameters": Case(128, 16, {4 * block: 1000 * (block + 1) for block in range(16)}, (124,), (124,)),
    # 50 iterations, two in each turn; then (100 + 6) / 7 - 1 = 14.
    "spill": Case(128, 1, {8: 100, 12: 50, 16: 64}, (24, 13)),
    # 256 tiles of 16 blocks; 512 / 8 steps, sixteen in each turn.
    "tiles": Case(32, 16, {8: 256, 12: 8, 16: 512}, (15, 3), (15, 3)),
    "halves": Case(128, 16, {24: 1 << 16}, (16,), (16,)),
    "ones": Case(128, 16, {}, (31,), (31,)),
    # At most 10 iterations of any block: the correlation of both ends by the block is not followed.
    "minimum": Case(128, 32, {8: 4096, 12: 128, 16: 256}, (2, 3), (3, 2)),
    # 63 tiles of a block; at most 7 iterations, four in each turn, or all in the rest. Later compilers count them by a counter of its own.
    "magic": Case(128, 16, {8: 1000, 12: 613_566_757, 16: 0, 20: 7}, (62, 0)),
    "lookback": Case(128, 64, {}, (63, Ending.WAIT), (63, Ending.WAIT)),
    "grid_barrier": Case(128, 64, {16: 10}, (9, Ending.WAIT), (9, Ending.WAIT)),
    # 100 iterations, four or sixteen in each turn.
    "turn": Case(128, 8, {8: 100}, (24, 0, Ending.WAIT), (5, 0, Ending.WAIT)),
    "vote": Case(256, 1, {8: 256}, (Ending.VOTE,), (Ending.VOTE,)),
    "drawn_tiles": Case(128, 132, {16: 1000}, (Ending.DRAW,), (Ending.DRAW,)),
    "swap": Case(128, 16, {}, (Ending.SWAP,), (Ending.SWAP,)),
    "chain": Case(64, 1, {}, (Ending.CHAIN,), (Ending.CHAIN,)),
    "listed": Case(128, 16, {}, (Ending.MARK,), (Ending.MARK,)),
    "rows": Case(128, 32, {24: 4096}, (2, None), (None, 2)),
    "shared_count": Case(128, 1, {8: 4000}, (None, None), (None, 2)),
}


def inferred(name: str, arch: str, case: Case) -> tuple[Inferred, ...]:
    """Return what is inferred of the loops of a sample, held to runs."""
    function = kernel(name, arch)
    facts, cfg, where = tables.load(function.arch).facts, explore(function, tables.load(function.arch).facts), layout(function.arch)
    assert where is not None
    settings = tuple(Setting("", where.parameters + offset, value, 4) for offset, value in case.parameters.items())
    launch = LaunchConfiguration((case.block, 1, 1), (case.grid, 1, 1), settings)
    result = inference(cfg, facts, launch).loops
    held = check_bounds(cfg, facts, launch, result)
    assert held.ran or all(loop.bound is None for loop in result)
    assert not held.refuted
    return result


RUNS = some(
    [
        *((name, "sm_80") for name in CASES),
        *((name, "sm_120") for name, case in CASES.items() if case.sm_120 and (FULL or case.sm_120 != case.sm_80)),
    ],
    of=3,
)


@pytest.mark.parametrize(("name", "arch"), RUNS)
def test_a_loop_has_its_bound_or_the_name_of_what_ends_it(name: str, arch: str):
    case = CASES[name]
    found = [loop.bound if loop.bound is not None else loop.ended and loop.ended.ending for loop in inferred(name, arch, case)]
    assert found == list(case.sm_80 if arch == "sm_80" else case.sm_120)


def kernel(name: str, arch: str) -> Function:
    """Return the kernel of a sample."""
    return next(each for each in read(load(str(SAMPLES / "loops" / arch / f"{name}.cubin"))).functions if each.kernel)


@pytest.mark.parametrize(
    ("arch", "parameters", "assumed"), [("sm_80", {8: 1000, 12: 2000}, False), ("sm_80", {8: 1000}, True), ("sm_120", {8: 1000}, True)]
)
def test_an_assertion_ends_the_path(arch: str, parameters: dict[int, int], assumed: bool):
    function = kernel("assertion", arch)
    where = layout(function.arch)
    assert where is not None
    settings = tuple(Setting("", where.parameters + offset, value, 4) for offset, value in parameters.items())
    result = analyze(function, Settings(launch=LaunchConfiguration((128, 1, 1), (1, 1, 1), settings), check=False))
    # 1000 iterations, four in each turn.
    assert result.bounds.of_loop[0] == 249
    assert (result.wcet.gaps, result.wcet.bound) == ((), True)
    # Where both numbers are given, no thread fails the assertion.
    assert ("no assertion fails: __assertfail ends the launch, and is never called" in result.wcet.assumptions) == assumed
