"""Longest paths over sums of work (`states`, cut into runs), compiled.

The states of one spread of the warps over the segments form a block: a box with an axis per occupied segment, whose coordinate is the work
left beyond one instruction per warp, from 0 to (length - 1) * warps. A move of a spread takes a part of its box, shifted, to the box of
another spread, so a row of states is filled with one pass over a row of another block for each move.

Of a longest path only the last bits are kept: a byte per state serves makespans of more than 255 slots. A path has as many slots at least
as the unit that takes longest at the start takes alone: with w letters of it left, of which a slot runs u at most, w / u. `reference` is
less by two, a path beyond it is known from its last bits, and the same holds for the states that follow, of whose letters w at most u are
missing. `fill` says how far beyond its reference any path was.
"""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.exact.kernel import next_counts, unit_limits
from sassan.makespan.exact.tables import StateTables
from sassan.makespan.states_kernel import Array, copy, grown, zero

_MOVE = 2  # of a move: where its target begins, and how far it shifts its own row (0: it leads to another row)
_NONE = -(1 << 62)


@compiled
def offsets(tables: StateTables, counts: Array, offset: Array) -> None:
    """Write the offset of the block of each spread, and after the last one the end of all; `counts` are those of spread 0."""
    total = 0
    for number in range(len(offset) - 1):
        offset[number] = total
        size = 1
        for place in tables.order:
            size *= (tables.length[place] - 1) * counts[place] + 1
        total += size
        next_counts(tables.base, counts)
    offset[-1] = total


@compiled
def partial_moves(tables: StateTables, counts: Array, axis: Array) -> Array:
    """Return a row per move: the limits that are left, per unit and in all; per axis how many warps run, and how many of these leave it."""
    units = len(tables.capacity)
    rows = np.zeros((1, units + 1 + 2 * len(axis)), np.int64)
    rows[0, units] = min(tables.issue, unit_limits(tables.unit, tables.capacity, counts, rows[0, :units]))
    kept = 1
    for index in range(len(axis)):
        inside, unit = counts[axis[index]], tables.unit[axis[index]]
        single = tables.length[axis[index]] == 1
        more = np.empty((4 * len(rows), rows.shape[1]), np.int64)
        used = 0
        for before in range(kept):
            row = rows[before]
            for run in range(min(inside, row[unit], row[units]) + 1):
                for leave in range(run if single else 0, run + 1):
                    if used == len(more):
                        more = grown(more, 2 * used)
                    copy(more[used], row)
                    more[used, unit] -= run
                    more[used, units] -= run
                    more[used, units + 1 + 2 * index] = run
                    more[used, units + 2 + 2 * index] = leave
                    used += 1
        rows, kept = more, used
    return rows[:kept]


@compiled
def _below(base: Array, counts: Array) -> Array:
    below = np.zeros(len(counts), np.int64)
    for team in range(len(base) - 1):
        for place in range(base[team] + 1, base[team + 1]):
            below[place] = below[place - 1] + counts[place - 1]
    return below


@compiled
def moves_of(number: int, tables: StateTables, counts: Array, axis: Array, offset: Array) -> Array:
    """Return a row per move of a spread: where its target begins, its shift of its own row, and per axis lowest, highest, slope there."""
    rows = partial_moves(tables, counts, axis)
    units, length = len(tables.capacity), tables.length
    below = _below(tables.base, counts)
    moves = np.zeros((len(rows), _MOVE + 3 * len(axis)), np.int64)
    slope, after, arrived = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    used = 0
    for row in range(len(rows)):
        if rows[row, units]:
            continue  # it runs too few
        runs, leaves = rows[row, units + 1 :: 2], rows[row, units + 2 :: 2]
        copy(after, counts)
        zero(arrived)
        outer = 0
        target = number
        for index in range(len(axis)):
            place, leave = axis[index], leaves[index]
            outer += runs[index] if index else 0
            after[place] -= leave
            after[place - 1] += leave
            arrived[place - 1] = leave
            target -= tables.drop[place, below[place] + leave] - tables.drop[place, below[place]]
        moves[used, 1] = runs[0] if target == number and outer == 0 else 0
        stride = 1
        begin = offset[target]
        for place in tables.order:
            slope[place] = stride
            begin += stride * arrived[place] * (length[place] - 1)
            stride *= (length[place] - 1) * after[place] + 1
        for index in range(len(axis)):
            place, low, longest = axis[index], runs[index] - leaves[index], length[axis[index]] - 1
            begin -= low * slope[place]
            column = _MOVE + 3 * index
            moves[used, column] = low
            moves[used, column + 1] = min(longest * counts[place], low + longest * (counts[place] - leaves[index]))
            moves[used, column + 2] = slope[place]
        moves[used, 0] = begin
        used += 1
    return moves[:used]


@compiled
def reference(weight: int, full: int) -> int:
    """Return a number that is smaller than every path from a state of this weight, in parts of which a slot runs at most `full`."""
    return int(weight // full) - 2


@compiled
def _row_begin(move: Array, at: Array) -> int:
    """Return where the row `at` of a block begins in the target of a move, _NONE if the move cannot be made there."""
    begin: int = move[0]
    for index in range(1, len(at)):
        column = _MOVE + 3 * index
        if at[index] < move[column] or at[index] > move[column + 1]:
            return _NONE
        begin += at[index] * move[column + 2]
    return begin


@compiled
def _raise_row(row: Array, less: Array, value: Array, begin: int, low: int, high: int, slope: int) -> None:
    """Raise each entry of a row, from `low` to `high`, to its counterpart in the target, beyond the reference `less`."""
    goal, off = row[low : high + 1], less[low : high + 1]
    if slope == 1:
        part = value[begin + low : begin + high + 1]
        for index in range(len(goal)):
            goal[index] = max(goal[index], row.dtype.type(part[index] - off[index]))
    else:
        for index in range(len(goal)):
            goal[index] = max(goal[index], row.dtype.type(value[begin + (low + index) * slope] - off[index]))


@compiled
def _write_references(less: Array, at: Array, weights: Array, full: int) -> None:
    """Write the references of the row `at`."""
    weight = weights[len(at)]
    for index in range(1, len(at)):
        weight += weights[index] * at[index]
    for index in range(len(less)):
        less[index] = less.dtype.type(reference(weight + weights[0] * index, full))


@compiled
def _write_row(out: Array, row: Array, less: Array, shift: int) -> int:
    """Write a row from the largest that follows, beyond its references; with a shift, its own entries follow, too."""
    farthest = 0
    for index in range(len(row)):
        if shift and index >= shift:
            row[index] = max(row[index], row.dtype.type(out[index - shift] - less[index]))
        farthest = max(farthest, int(row[index]) + 1)
        out[index] = row.dtype.type(row[index] + less[index] + 1)
    return farthest


@compiled
def _fill_block(value: Array, begin: int, sizes: Array, moves: Array, weights: Array, full: int) -> int:
    """Write a block; `weights` are those of a letter of each axis, and that of the letters that are no coordinate."""
    at = np.zeros(len(sizes), np.int64)
    row, less = np.zeros(sizes[0], value.dtype), np.zeros(sizes[0], value.dtype)
    farthest = 0
    states = 1
    for size in sizes:
        states *= size
    for place in range(begin, begin + states, sizes[0]):
        zero(row)
        _write_references(less, at, weights, full)
        shift = 0
        for index in range(len(moves)):
            move = moves[index]
            source = _row_begin(move, at)
            if source == _NONE:
                continue
            if move[1]:
                # Its target is this row itself: added below, entry by entry.
                shift = move[1]
            else:
                _raise_row(row, less, value, source, move[_MOVE], move[_MOVE + 1], move[_MOVE + 2])
        farthest = max(farthest, _write_row(value[place : place + len(row)], row, less, shift))
        axis = 1
        while axis < len(at) and at[axis] == sizes[axis] - 1:
            at[axis] = 0
            axis += 1
        if axis < len(at):
            at[axis] += 1
    return farthest


@compiled
def fill(value: Array, first: int, end: int, tables: StateTables, counts: Array, offset: Array, weight: Array, full: int) -> int:
    """Write the longest time from each state of the spreads [first, end); return how far the farthest is beyond its reference.

    `counts` are those of `first`, and then those of `end`. `weight` is that of a letter of each unit, `full` what a slot runs at most.
    """
    axis, sizes, weights = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64), np.zeros(len(counts) + 1, np.int64)
    farthest = 0
    for number in range(first, end):
        axes = 0
        least = 0
        for place in tables.order:
            if counts[place]:
                weights[axes] = weight[tables.unit[place]]
                least += weight[tables.unit[place]] * counts[place]
                axis[axes] = place
                sizes[axes] = (tables.length[place] - 1) * counts[place] + 1
                axes += 1
        if axes:
            moves = moves_of(number, tables, counts, axis[:axes], offset)
            weights[axes] = least
            farthest = max(farthest, _fill_block(value, offset[number], sizes[:axes], moves, weights, full))
        next_counts(tables.base, counts)
    return farthest
