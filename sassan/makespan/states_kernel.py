"""What the compiled searches over states share: rows of numbers. Importing this module imports the compiler."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sassan.makespan.jit import compiled

Array = NDArray[Any]


@compiled
def zero(row: Array) -> None:
    """Set a row to 0; a loop compiles several times faster than an assignment to a slice."""
    for one in range(len(row)):
        row[one] = 0


@compiled
def copy(row: Array, source: Array) -> None:
    """Copy a row."""
    for one in range(len(row)):
        row[one] = source[one]


@compiled
def grown(rows: Array, length: int) -> Array:
    """Return the rows with more behind them."""
    more = np.empty((length, rows.shape[1]), np.int64)
    for one in range(len(rows)):
        copy(more[one], rows[one])
    return more


@compiled
def splits(room: Array, total: int) -> Array:
    """Return a row for each way to split `total` instructions over four units with this room."""
    rows = np.zeros((total + 1, 4), np.int64)
    used = 0
    for k0 in range(min(room[0], total) + 1):
        for k1 in range(min(room[1], total - k0) + 1):
            for k2 in range(min(room[2], total - k0 - k1) + 1):
                k3 = total - k0 - k1 - k2
                if k3 > room[3]:
                    continue
                if used == len(rows):
                    rows = grown(rows, 2 * used)
                rows[used, 0], rows[used, 1], rows[used, 2], rows[used, 3] = k0, k1, k2, k3
                used += 1
    return rows[:used]
