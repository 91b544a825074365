"""Random programs of the simulation."""

from dataclasses import replace
from random import Random

import numpy as np

from sassan.estimate.policy import Policy
from sassan.estimate.program import TICK, Numbers, RowField, Sm, Stall, WarpProgram
from sassan.estimate.roles.phases import BarrierAction


def program(rng: Random) -> WarpProgram:
    """Return a program of one to three nodes on two units; where a warp meets barriers of its block, all of its path does."""
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    rows = np.array([_row(rng) for _ in range(sum(sizes))], np.int64)
    starts = np.array([sum(sizes[:end]) for end in range(len(sizes) + 1)], np.int64)
    visits = [rng.randrange(len(sizes)) for _ in range(rng.randint(1, 4))]
    weights = [rng.choice((1.0, 2.5, 0.25)) for _ in visits]
    below = [rng.choice((0, 1 << 30, 3 << 30, 1 << 32, 1 << 32)) for _ in visits]
    turns = [rng.randrange(3) for _ in visits]
    return WarpProgram(rows, starts, _words(visits), np.array(weights), *map(_words, ([0, 1], below, turns)), *_together(len(visits)))


def _together(visits: int) -> tuple[Numbers, Numbers]:
    """Return the one path of all warps, and no events."""
    return np.array([[0, visits, 0, 0]], np.int64), np.zeros((0, 5), np.int64)


def pipeline(rng: Random) -> tuple[WarpProgram, Sm]:
    """Return a program in which a warp fills stages, and others empty them, by copies, products and barriers; and its SM."""
    stages, turns, readers = rng.randint(1, 3), rng.randint(1, 6), rng.randint(1, 3)
    rows = np.array([_row(rng) for _ in range(6)], np.int64)
    rows[:, RowField.BLOCKS] = 0
    rows[:, RowField.QUEUED] = [int(rng.random() < 0.3) for _ in range(6)]
    rows[:, RowField.GROUPS], rows[:, RowField.LEFT] = [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, rng.randrange(3), 0]
    starts, nodes, paths, events = [0, 2, 4, 6], list[int](), list[tuple[int, int, int, int]](), list[tuple[int, int, int, int, int]]()
    for warp in range(1 + readers):
        first, first_event = len(nodes), len(events)
        for turn in range(turns):
            full, empty = turn % stages, stages + turn % stages
            visit = len(nodes)
            if warp == 0:
                nodes.append(0)
                if turn >= stages:
                    events.append((visit, 0, BarrierAction.WAIT, empty, turn // stages * readers))
                events.append((visit, 1, rng.choice((BarrierAction.COPY, BarrierAction.COMMIT, BarrierAction.ARRIVE)), full, 1))
            else:
                nodes += [1, 2]
                events += [(visit, 2, BarrierAction.WAIT, full, turn // stages + 1), (visit + 1, 5, BarrierAction.ARRIVE, empty, 1)]
        paths.append((first, len(nodes), first_event, len(events)))
    count = len(nodes)
    once = np.ones(count), _words([0, 1]), _words([1 << 32] * count), _words([0] * count)
    program = WarpProgram(rows, _words(starts), _words(nodes), *once, np.array(paths, np.int64), np.array(events, np.int64), 2 * stages)
    return program, replace(sm(rng), block_warps=1 + readers, phase=rng.choice((0, 7)))


def _words(numbers: list[int]) -> Numbers:
    return np.array(numbers, np.int64)


def sm(rng: Random) -> Sm:
    """Return an SM that any of the programs may run on."""
    return Sm(
        schedulers=rng.choice((1, 2, 4)),
        places=rng.randint(1, 3),
        block_warps=rng.randint(1, 3),
        blocks=rng.randint(1, 7),
        dispatch=rng.choice((1, 5)),
        release=rng.choice((1, 4)),
        backlog=rng.choice((0, 8)) * TICK,
        policy=rng.choice(tuple(Policy)),
    )


def _row(rng: Random) -> list[int]:
    row = [0] * len(RowField)
    row[RowField.STALL] = rng.randint(1, 6)
    row[RowField.WAITS] = rng.choice((0, 0, 1, 2, 3))
    row[RowField.WRITES], row[RowField.READS] = rng.choice((-1, 0)), rng.choice((-1, -1, 1))
    row[RowField.WRITTEN], row[RowField.READ] = rng.randint(1, 40), rng.randint(1, 10)
    row[RowField.UNIT], row[RowField.INTERVAL] = rng.randrange(2), rng.randint(1, 4)
    if rng.random() < 0.4:
        row[RowField.PIPELINE] = rng.randint(1, 4 * TICK)
        row[RowField.L2], row[RowField.DRAM] = rng.choice((0, rng.randint(1, 300))), rng.choice((0, rng.randint(1, 600)))
        row[RowField.BEYOND] = rng.randint(0, 60)
    row[RowField.BLOCKS], row[RowField.DRAINS], row[RowField.BRANCHES] = (int(rng.random() < 0.1) for _ in range(3))
    row[RowField.WHY] = rng.choice((Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD))
    row[RowField.ASSUMED] = rng.randrange(2)
    return row
