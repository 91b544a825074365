"""Random programs of the simulation."""

from random import Random

import numpy as np

from sassan.estimate.policy import Policy
from sassan.estimate.program import TICK, Column, Numbers, Program, Sm, Stall


def program(rng: Random) -> Program:
    """Return a program of one to three nodes on two units; where a warp meets barriers of its block, all of its path does."""
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    rows = np.array([_row(rng) for _ in range(sum(sizes))], np.int64)
    starts = np.array([sum(sizes[:end]) for end in range(len(sizes) + 1)], np.int64)
    visits = [rng.randrange(len(sizes)) for _ in range(rng.randint(1, 4))]
    weights = [rng.choice((1.0, 2.5, 0.25)) for _ in visits]
    below = [rng.choice((0, 1 << 30, 3 << 30, 1 << 32, 1 << 32)) for _ in visits]
    turns = [rng.randrange(3) for _ in visits]
    return Program(rows, starts, _words(visits), np.array(weights), *map(_words, ([0, 1], below, turns)))


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
    row = [0] * len(Column)
    row[Column.STALL] = rng.randint(1, 6)
    row[Column.WAITS] = rng.choice((0, 0, 1, 2, 3))
    row[Column.WRITES], row[Column.READS] = rng.choice((-1, 0)), rng.choice((-1, -1, 1))
    row[Column.WRITTEN], row[Column.READ] = rng.randint(1, 40), rng.randint(1, 10)
    row[Column.UNIT], row[Column.INTERVAL] = rng.randrange(2), rng.randint(1, 4)
    if rng.random() < 0.4:
        row[Column.PIPELINE] = rng.randint(1, 4 * TICK)
        row[Column.L2], row[Column.DRAM] = rng.choice((0, rng.randint(1, 300))), rng.choice((0, rng.randint(1, 600)))
        row[Column.BEYOND] = rng.randint(0, 60)
    row[Column.BLOCKS], row[Column.DRAINS], row[Column.BRANCHES] = (int(rng.random() < 0.1) for _ in range(3))
    row[Column.WHY] = rng.choice((Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD))
    row[Column.ASSUMED] = rng.randrange(2)
    return row
