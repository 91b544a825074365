"""Longest paths over sums of work (`states`, cut into runs), compiled.

The states of one spread of the warps over the segments form a block: a box with an axis per occupied segment, whose coordinate is the work
left beyond one instruction per warp, from 0 to (length - 1) * warps. A move of a spread takes a part of its box, shifted, to the box of
another spread, so a row of states is filled with one pass over a row of another block for each move.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from sassan.makespan.exact_kernel import next_counts

Ints = NDArray[np.int64]
Values = NDArray[np.uint8] | NDArray[np.uint16]

_HEAD = 5  # of a partial move: instructions left to choose, and room per unit
_MOVE = 2  # of a move: where its row begins, and whether it stays in its own row


@numba.njit(cache=True)
def offsets(base: Ints, length: Ints, counts: Ints, offset: Ints) -> None:
    """Write where the block of each spread begins, and behind the last one where all end; `counts` are those of spread 0."""
    total = 0
    for number in range(len(offset) - 1):
        offset[number] = total
        size = 1
        for place in range(len(length)):
            if length[place] > 1:
                size *= (length[place] - 1) * counts[place] + 1
        total += size
        next_counts(base, counts)
    offset[-1] = total


@numba.njit(cache=True)
def _grown(rows: Ints, used: int) -> Ints:
    if used < len(rows):
        return rows
    more = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    more[:used] = rows
    return more


@numba.njit(cache=True)
def partial_moves(counts: Ints, axis: Ints, unit: Ints, length: Ints, capacity: Ints, issue: int) -> Ints:
    """Return a row per move: 0, what room is left per unit, then per axis how many warps run and how many of these leave."""
    rows = np.zeros((1, _HEAD + 2 * len(axis)), np.int64)
    for place in axis:
        rows[0, 1 + unit[place]] += counts[place]
    for of in range(len(capacity)):
        rows[0, 1 + of] = min(rows[0, 1 + of], capacity[of])
        rows[0, 0] += rows[0, 1 + of]
    rows[0, 0] = min(rows[0, 0], issue)
    for index in range(len(axis)):
        place = axis[index]
        room = 1 + unit[place]
        more = np.empty((4 * len(rows), rows.shape[1]), np.int64)
        used = 0
        for row in rows:
            for run in range(min(counts[place], min(row[room], row[0])) + 1):
                for leave in range(run if length[place] == 1 else 0, run + 1):
                    more = _grown(more, used)
                    more[used] = row
                    more[used, 0] -= run
                    more[used, room] -= run
                    more[used, _HEAD + 2 * index] = run
                    more[used, _HEAD + 2 * index + 1] = leave
                    used += 1
        rows = more[:used]
    return rows[rows[:, 0] == 0]


@numba.njit(cache=True)
def moves_of(
    number: int, counts: Ints, base: Ints, unit: Ints, length: Ints, axis: Ints, order: Ints, rows: Ints, drop: Ints, offset: Ints
) -> Ints:
    """Return a row per move: where its target begins, whether it stays in its own row, and per axis lowest, highest, stride in the target."""
    axes = len(axis)
    below = np.zeros(len(unit), np.int64)
    for team in range(len(base) - 1):
        total = 0
        for place in range(base[team], base[team + 1]):
            below[place] = total
            total += counts[place]
    moves = np.zeros((len(rows), _MOVE + 3 * axes), np.int64)
    after = np.zeros(len(unit), np.int64)
    came = np.zeros(len(unit), np.int64)
    slope = np.zeros(len(unit), np.int64)
    for index in range(len(rows)):
        after[:] = counts
        came[:] = 0
        target = number
        stays = 1
        for one in range(axes):
            place, run, leave = axis[one], rows[index, _HEAD + 2 * one], rows[index, _HEAD + 2 * one + 1]
            after[place] -= leave
            after[place - 1] += leave
            came[place - 1] = leave
            target -= drop[place, below[place] + leave] - drop[place, below[place]]
            if leave or (run and one):
                stays = 0
        stride = 1
        begin = offset[target]
        for place in order:
            slope[place] = stride
            begin += stride * came[place] * (length[place] - 1)
            stride *= (length[place] - 1) * after[place] + 1
        for one in range(axes):
            place, run, leave = axis[one], rows[index, _HEAD + 2 * one], rows[index, _HEAD + 2 * one + 1]
            longest = length[place] - 1
            begin -= (run - leave) * slope[place]
            moves[index, _MOVE + 3 * one] = run - leave
            moves[index, _MOVE + 3 * one + 1] = min(longest * counts[place], run - leave + longest * (counts[place] - leave))
            moves[index, _MOVE + 3 * one + 2] = slope[place]
        moves[index, 0] = begin
        moves[index, 1] = stays
    return moves


@numba.njit(cache=True)
def _fill_block(value: Values, begin: int, sizes: Ints, moves: Ints) -> None:
    axes = len(sizes)
    at = np.zeros(axes, np.int64)
    width = sizes[0]
    row = np.zeros(width, value.dtype)
    place = begin
    while True:
        row[:] = 0
        own = 0
        for move in moves:
            source = move[0]
            fits = True
            for one in range(1, axes):
                here = at[one]
                if here < move[_MOVE + 3 * one] or here > move[_MOVE + 3 * one + 1]:
                    fits = False
                    break
                source += here * move[_MOVE + 3 * one + 2]
            if not fits:
                continue
            low, high, stride = move[_MOVE], move[_MOVE + 1] + 1, move[_MOVE + 2]
            if move[1]:
                own = low
            elif stride == 1:
                part = value[source + low : source + high]
                goal = row[low:high]
                for index in range(high - low):
                    goal[index] = max(goal[index], part[index])
            else:
                for index in range(low, high):
                    row[index] = max(row[index], value[source + index * stride])
        if own:
            for index in range(width):
                if index >= own:
                    row[index] = max(row[index], value[place + index - own])
                value[place + index] = row[index] + 1
        else:
            for index in range(width):
                value[place + index] = row[index] + 1
        place += width
        one = 1
        while one < axes:
            at[one] += 1
            if at[one] < sizes[one]:
                break
            at[one] = 0
            one += 1
        if one >= axes:
            return


@numba.njit(cache=True)
def fill(
    value: Values,
    first: int,
    end: int,
    counts: Ints,
    base: Ints,
    unit: Ints,
    length: Ints,
    capacity: Ints,
    issue: int,
    drop: Ints,
    order: Ints,
    offset: Ints,
) -> None:
    """Write the longest time from each state of the spreads [first, end); `counts` are those of `first`.

    `order` holds the places with work, the axis of the rows first.
    """
    for number in range(first, end):
        axis = order[counts[order] > 0]
        if len(axis):
            rows = partial_moves(counts, axis, unit, length, capacity, issue)
            moves = moves_of(number, counts, base, unit, length, axis, order, rows, drop, offset)
            sizes = (length[axis] - 1) * counts[axis] + 1
            _fill_block(value, offset[number], sizes, moves)
        next_counts(base, counts)
