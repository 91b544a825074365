"""What the compiled searches over states share: rows of numbers. Importing this module imports the compiler."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sassan.jit.decorators import compiled

Array = NDArray[Any]


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


@compiled
def splits(limit: Array, total: int) -> Array:
    """Return a row for each split of `total` instructions over five units, at most `limit[u]` on unit u."""
    rows = np.zeros((total + 1, 5), np.int64)
    used = 0
    for k4 in range(min(limit[4], total) + 1):
        for k0 in range(min(limit[0], total - k4) + 1):
            for k1 in range(min(limit[1], total - k4 - k0) + 1):
                for k2 in range(min(limit[2], total - k4 - k0 - k1) + 1):
                    k3 = total - k4 - k0 - k1 - k2
                    if k3 > limit[3]:
                        continue
                    if used == len(rows):
                        rows = grown(rows, 2 * used)
                    rows[used, 0], rows[used, 1], rows[used, 2], rows[used, 3], rows[used, 4] = k0, k1, k2, k3, k4
                    used += 1
    return rows[:used]
