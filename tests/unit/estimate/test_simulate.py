"""The simulation of one SM: the compiled one is the plain one, and its laws."""

from dataclasses import astuple, replace
from random import Random

import numpy as np
import pytest

from budget import FULL, part
from sassan.estimate import plain
from sassan.estimate.program import TICK, RowField, SimulatedRun, Sm, Stall, WarpProgram, drawn
from sassan.estimate.roles.phases import BarrierAction
from sassan.estimate.simulate import simulate
from sassan.estimate.timeline import timeline
from unit.estimate import random_programs

ALONE = Sm(schedulers=1, places=1, block_warps=1, blocks=1, dispatch=1, release=1, backlog=TICK)


def straight(*rows: dict[RowField, int]) -> WarpProgram:
    """Return a program of one node on one unit, visited once: rows with what differs from an instruction of 1 cycle without barriers."""
    usual = {RowField.STALL: 1, RowField.WRITES: -1, RowField.READS: -1, RowField.WRITTEN: 1, RowField.INTERVAL: 1}
    numbers = [[{**usual, **row}.get(column, 0) for column in RowField] for row in rows]
    once = (np.array([each]) for each in (0, 1 << 32, 0))
    paths = np.array([[0, 1, 0, 0]]), np.zeros((0, 5), np.int64)
    return WarpProgram(np.array(numbers, np.int64), np.array([0, len(rows)]), np.array([0]), np.array([1.0]), *once, *paths)


def same(a: SimulatedRun, b: SimulatedRun) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(astuple(a), astuple(b), strict=True))


@pytest.mark.parametrize("seed", range(40 if FULL else 8))
def test_the_compiled_simulation_of_warps_with_paths_of_their_own_is_the_plain_one(seed: int):
    rng = Random(1000 + seed)
    for _ in range(part(50)):
        program, sm = random_programs.pipeline(rng)
        assert same(simulate(program, sm), plain.simulate(program, sm)), (program, sm)


def test_a_wait_takes_as_long_as_what_it_waits_for():
    # One warp copies for 500 cycles; the other one waits for that, and for nothing else.
    program = straight({RowField.WRITTEN: 500}, {}, {})
    starts, nodes = np.array([0, 1, 3]), np.array([0, 1])
    events = np.array([[0, 0, BarrierAction.COPY, 0, 1], [1, 1, BarrierAction.WAIT, 0, 1]])
    paths = np.array([[0, 1, 0, 1], [1, 2, 1, 2]])
    program = replace(program, starts=starts, nodes=nodes, weights=np.ones(2), below=np.full(2, 1 << 32), turns=np.zeros(2, np.int64))
    program = replace(program, paths=paths, events=events, barriers=1)
    run = simulate(program, Sm(schedulers=2, places=1, block_warps=2, blocks=1, dispatch=1, release=1, backlog=0, phase=16))
    assert run.stalls[1, Stall.BARRIER] == 500 + 16 - 1


@pytest.mark.parametrize("seed", range(40 if FULL else 8))
def test_the_compiled_simulation_is_the_plain_one(seed: int):
    rng = Random(seed)
    for _ in range(part(50)):
        program, sm = random_programs.program(rng), random_programs.sm(rng)
        assert same(simulate(program, sm), plain.simulate(program, sm)), (program, sm)


def test_one_run_is_like_another():
    rng = Random(7)
    program, sm = random_programs.program(rng), random_programs.sm(rng)
    assert same(simulate(program, sm), simulate(program, sm))


def test_a_warp_waits_for_its_stalls_and_its_last_result():
    run = simulate(straight({RowField.STALL: 4}, {RowField.STALL: 2, RowField.WRITTEN: 10}), ALONE)
    assert run.cycles == 14
    assert run.stalls[1, Stall.WAIT] == 3


def test_a_consumer_waits_for_its_barrier():
    load = {RowField.WRITES: 0, RowField.WRITTEN: 30, RowField.WHY: int(Stall.LONG_SCOREBOARD), RowField.ASSUMED: 1}
    run = simulate(straight(load, {RowField.WAITS: 1}), ALONE)
    assert run.cycles == 31
    assert run.stalls[1, Stall.LONG_SCOREBOARD] == 29
    assert run.assumed.tolist() == [0, 29]


def test_warps_of_one_scheduler_share_its_unit():
    program = straight({RowField.INTERVAL: 4})
    assert simulate(program, replace(ALONE, block_warps=8)).cycles == 7 * 4 + 1
    assert simulate(program, replace(ALONE, block_warps=8, schedulers=4)).cycles == 4 + 1


def test_bytes_pass_the_queue_of_dram_one_after_the_other():
    load = {RowField.PIPELINE: 1, RowField.DRAM: 10 * TICK, RowField.BEYOND: 5}
    assert simulate(straight(load), replace(ALONE, block_warps=20, backlog=TICK)).cycles == 20 * 10 + 5 + 1


def test_warps_leave_a_block_barrier_when_the_last_one_has_come():
    rows = ({RowField.UNIT: 0}, {RowField.BLOCKS: 1}, {})
    run = simulate(straight(*rows), replace(ALONE, block_warps=4, release=9))
    assert run.stalls[2, Stall.BARRIER] > 4 * 8
    assert run.cycles == 7 + 9 + 4


def test_blocks_follow_each_other_on_a_place():
    run = simulate(straight({RowField.STALL: 10, RowField.WRITTEN: 10}), replace(ALONE, blocks=3, dispatch=5))
    assert list(run.dispatched) == [0, 15, 30]
    assert run.cycles == 40


@pytest.mark.parametrize("seed", range(30))
def test_a_longer_queue_of_dram_takes_no_less_time_on_one_place(seed: int):
    rng = Random(seed)
    program = random_programs.program(rng)
    program = replace(program, weights=np.ones_like(program.weights))
    alone = replace(random_programs.sm(rng), places=1, block_warps=1)
    slower = program.rows.copy()
    slower[:, RowField.DRAM] *= 2
    assert simulate(replace(program, rows=slower), alone).cycles >= simulate(program, alone).cycles


@pytest.mark.parametrize("seed", range(30))
def test_another_block_takes_no_less_time_on_one_place(seed: int):
    rng = Random(seed)
    program = random_programs.program(rng)
    some = replace(random_programs.sm(rng), places=1)
    assert simulate(program, replace(some, blocks=some.blocks + 1)).cycles >= simulate(program, some).cycles


@pytest.mark.parametrize("seed", range(20))
def test_a_timeline_holds_all_work_and_every_warp(seed: int):
    rng = Random(seed)
    program, sm = random_programs.program(rng), random_programs.sm(rng)
    run = simulate(program, sm)
    units = [f"unit {at}" for at in range(len(program.shared))]
    shown = timeline(run, program, units, sm.schedulers)
    lengths = program.starts[program.nodes + 1] - program.starts[program.nodes]
    # The first visit is made by all warps.
    visits = list(enumerate(zip(program.turns.tolist(), program.below.tolist(), strict=True)))
    made = [[not at or drawn(warp, turn) < below for at, (turn, below) in visits] for warp in range(sm.blocks * sm.block_warps)]
    issued = int((np.array(made) * lengths).sum())
    assert run.timeline[:, : sm.schedulers].sum() == issued
    assert run.timeline[:, sm.schedulers : sm.schedulers + len(units)].sum() >= issued
    assert max(shown.warps) <= sm.places * sm.block_warps
    assert shown.warps[-1] == 0
    assert all(0 <= share <= 1 for shares in shown.busy.values() for share in shares)


def test_a_piece_that_is_full_leaves_its_work_to_its_neighbours():
    load = {RowField.PIPELINE: 1, RowField.DRAM: 10 * TICK}
    run = simulate(straight(load), replace(ALONE, block_warps=4, backlog=TICK))
    assert timeline(run, straight(load), ["lsu"], 1).busy["dram"] == (0.0, *(1.0,) * 40)
