"""The bound of kernels whose blocks wait for words that other blocks write: one block after the other."""

from dataclasses import replace
from fractions import Fraction
from math import floor
from random import Random

from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.expectations import expected_iterations
from sassan.app.settings import Settings
from sassan.frontend import load, read
from sassan.ipet.sm.bounds import Optima, block_lifetime, grid_bound, resident_bound
from sassan.ipet.sm.residency import Grid, Residents
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.timing.sleeps import sleeping

(LOOKBACK,) = read(load(str(SAMPLES / "loops" / "sm_80" / "lookback.cubin"))).functions
GIVEN = Settings(
    costs=models.model("control", Tables()),
    launch=LaunchConfiguration((128, 1, 1), (64, 1, 1)),
    resources=Resources(shared=0, sms=108),
    gpu=find("A100-SXM4-40GB"),
    check=False,
)


def test_blocks_that_wait_for_each_other_are_charged_one_after_the_other():
    result = analyze(LOOKBACK, GIVEN)
    # 63 blocks before the last one; two looks more, once a word is there.
    assert (result.wcet.gaps, result.bounds.of_loop) == ((), (63, 2))
    assert result.makespan is not None
    assert result.makespan.grid is not None
    assert result.makespan.optima is not None
    assert result.makespan.terms is not None
    warps, optima = 4, result.makespan.optima
    one = block_lifetime(optima, warps) + optima.stall(warps)
    slower = result.makespan.residents.grid
    assert slower is not None
    assert slower.memory is not None
    parts = result.makespan.terms.chain + result.makespan.terms.sm + result.makespan.terms.drain
    assert parts == 64 * one * slower.memory.slowdown
    assert any("every wait ends" in each for each in result.makespan.grid.assumptions)
    assert not any("warps of different blocks never wait" in each for each in result.makespan.grid.assumptions)


def test_without_the_number_of_blocks_there_is_no_bound():
    result = analyze(LOOKBACK, replace(GIVEN, launch=LaunchConfiguration((128, 1, 1)), warps=4, loop_bound=8))
    assert result.makespan is not None
    assert "waits-for-blocks" in [gap.code for gap in result.makespan.bound.gaps]


def test_an_estimate_expects_a_wait_to_be_over_at_once():
    result = analyze(LOOKBACK, GIVEN)
    assert expected_iterations(result)[0x1E0] == 0


def test_no_line_of_blocks_takes_longer():
    random = Random(1)
    for _ in range(200):
        blocks, places = random.randrange(1, 40), random.randrange(1, 5)
        before, behind = random.randrange(1, 50), random.randrange(1, 50)
        ends, free = [0], [0] * places
        for _ in range(blocks):
            # A block takes the first free place, works, waits until the one before it has ended, and works again.
            free.sort()
            began = free.pop(0) + random.randrange(1, before + 1)
            ends.append(max(began, ends[-1]) + random.randrange(1, behind + 1))
            free.append(ends[-1])
        optima = Optima(Fraction(before + behind), Fraction(0), Fraction(0), barriers=True, line=blocks)
        assert ends[-1] <= grid_bound(optima, Grid(blocks, 1, 1, places))
        assert ends[-1] <= resident_bound(optima, Residents(places))


def test_a_sleep_lasts_twice_what_it_says_at_most():
    kernels = read(load(str(SAMPLES / "loops" / "sm_80" / "turn.cubin"))).functions
    result = analyze(next(each for each in kernels if each.kernel), replace(GIVEN, loop_bound=8))
    assert not [gap for gap in result.wcet.gaps if gap.code == "no-latency"]
    (sleep,) = (each for each in result.function.instructions if each.opcode == "NANOSLEEP")
    # Of a register: a millisecond is the most that it may ask for.
    assert sleeping(sleep) == 2 * 1_000_000 * 3
    assert any("a warp sleeps at most twice as long" in str(each) for each in result.wcet.assumptions)
    assert floor(result.wcet.value or 0) > sleeping(sleep)
