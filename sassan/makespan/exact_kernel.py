"""Longest paths over all states in one table, compiled: states are numbered so that every slot leads to a smaller number.

A state of a team is the row q_1 <= q_2 <= ... of the segments that each warp has before it; its number is the sum of C(q_i + i - 1, i)
(the combinatorial number system), and several teams make the digits of a mixed radix. To move the warps i = b+1 ... b+x from q to q-1 lowers
the number by `drop[g, b + x] - drop[g, b]`, whatever else moves; `drop[g, i] = C(q + i - 1, i - 1)`.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Values = NDArray[np.uint8] | NDArray[np.uint16]


@numba.njit(cache=True)
def counts_of(number: int, table: Ints, stride: Ints, base: Ints, warps: Ints, counts: Ints) -> None:
    """Write the counts per place of the state with this number; `table[q, i]` is C(q + i - 1, i)."""
    counts[:] = 0
    for team in range(len(warps) - 1, -1, -1):
        rest = number // stride[team]
        number -= rest * stride[team]
        place = base[team + 1] - base[team] - 1
        for index in range(warps[team], 0, -1):
            while table[place, index] > rest:
                place -= 1
            rest -= table[place, index]
            counts[base[team] + place] += 1


@numba.njit(cache=True)
def next_counts(base: Ints, counts: Ints) -> None:
    """Turn the counts of a state into those of the next number."""
    for team in range(len(base) - 1):
        low, high = base[team], base[team + 1]
        first = low
        while counts[first] == 0:
            first += 1
        moved = counts[first]
        counts[first] = 0
        if first + 1 < high:
            counts[low] = moved - 1
            counts[first + 1] += 1
            return
        counts[low] = moved


@numba.njit(cache=True)
def choices(counts: Ints, base: Ints, unit: Ints, drop: Ints, room: Ints, lists: Ints, sizes: Ints) -> None:
    """Write, per unit and number of warps that run, by how much the number of the state falls for each choice of these warps."""
    sizes[:] = 0
    sizes[:, 0] = 1
    lists[:, 0, 0] = 0
    for team in range(len(base) - 1):
        below = counts[base[team]]
        for place in range(base[team] + 1, base[team + 1]):
            here = counts[place]
            if here == 0:
                continue
            of = unit[place]
            for total in range(room[of], 0, -1):
                size = sizes[of, total]
                for run in range(1, min(here, total) + 1):
                    fall = drop[place, below + run] - drop[place, below]
                    for index in range(sizes[of, total - run]):
                        lists[of, total, size] = lists[of, total - run, index] + fall
                        size += 1
                sizes[of, total] = size
            below += here


@numba.njit(cache=True)
def fill(
    value: Values,
    first: int,
    end: int,
    counts: Ints,
    base: Ints,
    unit: Ints,
    capacity: Ints,
    issue: int,
    drop: Ints,
    lists: Ints,
) -> None:
    """Write the longest time from each state of single letters with a number in [first, end); `counts` are those of `first`."""
    units = 4
    room = np.zeros(units, np.int64)
    sizes = np.zeros((units, lists.shape[1]), np.int64)
    places = len(unit)
    for number in range(first, end):
        room[:] = 0
        for place in range(places):
            if unit[place] >= 0:
                room[unit[place]] += counts[place]
        total = 0
        for of in range(units):
            room[of] = min(room[of], capacity[of])
            total += room[of]
        total = min(total, issue)
        if total:
            choices(counts, base, unit, drop, room, lists, sizes)
            value[number] = _best(value, number, total, room, lists, sizes) + 1
        next_counts(base, counts)


@numba.njit(cache=True)
def _best(value: Values, number: int, total: int, room: Ints, lists: Ints, sizes: Ints) -> int:
    best = 0
    for k0 in range(min(room[0], total) + 1):
        for k1 in range(min(room[1], total - k0) + 1):
            for k2 in range(min(room[2], total - k0 - k1) + 1):
                k3 = total - k0 - k1 - k2
                if k3 > room[3]:
                    continue
                for i3 in range(sizes[3, k3]):
                    for i2 in range(sizes[2, k2]):
                        fall = number - lists[3, k3, i3] - lists[2, k2, i2]
                        for i1 in range(sizes[1, k1]):
                            rest = fall - lists[1, k1, i1]
                            for i0 in range(sizes[0, k0]):
                                best = max(best, value[rest - lists[0, k0, i0]])
    return best
