"""What the compiled searches over states share: rows of numbers, and the choices of all units in a slot.

Importing this module imports the compiler.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sassan.jit.decorators import compiled, uncounted_inner

Array = NDArray[Any]


class Picks(NamedTuple):
    """One choice of each unit for a slot: it runs `run[u]` instructions, by choice number `choice[u]` of so many.

    `most[u]` is what the units before u run at most.
    """

    run: Array
    choice: Array
    most: Array


def no_picks(units: int) -> Picks:
    """Return empty arrays for the picks of so many units."""
    return Picks(*np.zeros((3, units), np.int64))


@compiled
def zero(row: Array) -> None:
    """Set a row to 0; a loop compiles several times faster than an assignment to a slice."""
    for index in range(len(row)):
        row[index] = 0


@compiled
def copy(row: Array, source: Array) -> None:
    """Copy a row."""
    for index in range(len(row)):
        row[index] = source[index]


@compiled
def grown(rows: Array, length: int) -> Array:
    """Return a copy of the rows with space for `length` in all."""
    more = np.empty((length, rows.shape[1]), np.int64)
    for index in range(len(rows)):
        copy(more[index], rows[index])
    return more


@uncounted_inner
def _restart(last: int, total: int, picks: Picks) -> None:
    """Pick the first choices of the units up to the last, which run `total`: of each as few instructions as those before it leave."""
    for of in range(last, -1, -1):
        picks.run[of] = max(0, total - picks.most[of])
        picks.choice[of] = 0
        total -= picks.run[of]


@uncounted_inner
def first_pick(total: int, limit: Array, picks: Picks) -> None:
    """Pick a choice of each unit, of which unit u runs up to `limit[u]`, for a slot of `total` instructions."""
    picks.most[0] = 0
    for of in range(1, len(limit)):
        picks.most[of] = picks.most[of - 1] + limit[of - 1]
    _restart(len(limit) - 1, total, picks)


@uncounted_inner
def next_pick(size: Array, limit: Array, picks: Picks) -> int:
    """Pick other choices; return the last unit whose choice has changed, the number of units if all have been picked.

    `size[u, k]` counts the choices of unit u that run k instructions. Those of unit 0 are left to a loop of the caller.
    """
    run, choice = picks.run, picks.choice
    total = run[0]
    for of in range(1, len(limit)):
        if choice[of] + 1 < size[of, run[of]]:
            choice[of] += 1
            _restart(of - 1, total, picks)
            return of
        if total and run[of] < limit[of]:
            run[of] += 1
            choice[of] = 0
            _restart(of - 1, total - 1, picks)
            return of
        total += run[of]
    return len(limit)
