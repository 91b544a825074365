"""Depth-first search for a schedule of at least so many slots, compiled: it finds one, or proves that there is none.

Every state has a bound on the slots that are left: that of the sums of its work (`sums`), replaced by 1 + the largest bound of its
successors as soon as all of these are refuted. A state entered in slot t is refuted if t + its bound falls short of the goal. These bounds
do not depend on the goal, so what is remembered serves all later, smaller ones.

All that a move changes adds up over the warps that move: the number of the state, the number of its spread over the runs, and two words
with a field per run: the warps inside, and the work beyond one instruction each. So the bound of a successor costs a few additions.
"""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

from typing import NamedTuple

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.exact.kernel import counts_of, unit_limits
from sassan.makespan.exact.sums import reference
from sassan.makespan.exact.tables import StateTables
from sassan.makespan.states_kernel import Array, Picks, copy, first_pick, next_pick, zero

REFUTED, FOUND, PAUSED, FULL, DEEP = range(5)
"""How a call ends: `FULL` and `DEEP` need larger arrays of remembered bounds and of open states; all but the first two can continue."""

NUMBER, SPREAD, INSIDE, EXTRA, BOUND = range(5)
"""Columns of the open states; moves change the first four."""
WORDS = 4


class Sums(NamedTuple):
    """The longest paths over the sums, and the mapping from a state of letters to its sums."""

    value: Array
    offset: Array
    fields: Array
    """A row per run, in the order of the axes: shift and mask of its warps, of its extra work, its length - 1, the weight of a letter."""
    full: int
    """What a slot runs at most, in these weights (`sums`)."""
    step: Array
    """`step[word, place]`: what one warp that moves on from this place, a letter, adds to `INSIDE` and `EXTRA`."""
    ahead: Array
    """Per place the first one of those ahead in its run, whose warps go on before those of this place; its own number where any may."""
    drop: Array
    """`drop[0, place, i]` and `drop[1, place, i]`: see `tables`, of the letters, and of the runs where a warp leaves its run."""


class Trail(NamedTuple):
    """The current path of the search, and its remembered bounds."""

    at: Array
    """The slot, how many states are open, how many bounds are remembered."""
    frames: Array
    """Per slot: the number of the state, where its successors begin among the open states, the largest bound of a refuted one."""
    open: Array
    """The stack of states still to be entered, those of later slots on top."""
    keys: Array
    """A hash table of numbers of states; -1: empty. Its length is a power of two."""
    bounds: Array
    """The bounds of `keys`."""


class MoveArrays(NamedTuple):
    """Working arrays: per unit, number of warps and choice, what the choice adds to each of the four words."""

    add: Array
    size: Array
    limit: Array
    words: Array
    """Per unit, the words that the picks of the units behind it lead to."""
    picks: Picks


@compiled
def sums_bound(value: Array, offset: Array, fields: Array, full: int, spread: int, inside: int, extra: int) -> int:
    """Return the bound of the state with these words."""
    index = offset[spread]
    stride = 1
    weight = 0
    for run in range(len(fields)):
        work, warps = (extra >> fields[run, 2]) & fields[run, 3], (inside >> fields[run, 0]) & fields[run, 1]
        index += work * stride
        stride *= fields[run, 4] * warps + 1
        weight += fields[run, 5] * (work + warps)
    less = reference(weight, full)
    return less + int(value.dtype.type(value[index] - less))


@compiled
def slot_of(keys: Array, number: int) -> int:
    """Return the index of a number in the hash table, or the index to enter it at."""
    mask = len(keys) - 1
    at = ((number * 0x9E3779B97F4A7C1) >> 20) & mask
    while keys[at] != -1 and keys[at] != number:
        at = (at + 1) & mask
    return at


@compiled
def _choose(base: Array, unit: Array, counts: Array, sums: Sums, moves: MoveArrays) -> None:
    add, size, limit = moves.add, moves.size, moves.limit
    for of in range(len(size)):
        zero(size[of])
        size[of, 0] = 1
    for team in range(len(base) - 1):
        below = counts[base[team]]
        for place in range(base[team] + 1, base[team + 1]):
            inside, of = counts[place], unit[place]
            may_go = inside > 0
            for other in range(sums.ahead[place], place):
                may_go = may_go and counts[other] == 0
            for total in range(limit[of] if may_go else 0, 0, -1):
                end = size[of, total]
                for run in range(1, min(inside, total) + 1):
                    number = sums.drop[0, place, below + run] - sums.drop[0, place, below]
                    spread = sums.drop[1, place, below + run] - sums.drop[1, place, below]
                    for index in range(size[of, total - run]):
                        add[of, total, end, NUMBER] = add[of, total - run, index, NUMBER] - number
                        add[of, total, end, SPREAD] = add[of, total - run, index, SPREAD] - spread
                        add[of, total, end, INSIDE] = add[of, total - run, index, INSIDE] + run * sums.step[INSIDE, place]
                        add[of, total, end, EXTRA] = add[of, total - run, index, EXTRA] + run * sums.step[EXTRA, place]
                        end += 1
                size[of, total] = end
            below += inside


@compiled
def _open(total: int, state: Array, moves: MoveArrays, trail: Trail) -> bool:
    """Push all successors of a state on the open states; return whether they fit."""
    add, size, limit, words, picks = moves
    top = trail.at[1]
    first_pick(total, limit, picks)
    changed = len(limit) - 1
    copy(words[changed], state)
    while changed < len(limit):
        for of in range(changed, 0, -1):
            for column in range(WORDS):
                words[of - 1, column] = words[of, column] + add[of, picks.run[of], picks.choice[of], column]
        run = picks.run[0]
        if top + size[0, run] > len(trail.open):
            return False
        for index in range(size[0, run]):
            for column in range(WORDS):
                trail.open[top, column] = words[0, column] + add[0, run, index, column]
            top += 1
        changed = next_pick(size, limit, picks)
    trail.at[1] = top
    return True


@compiled
def _keep(least: int, begin: int, sums: Sums, trail: Trail) -> int:
    """Drop the open states from `begin` on with bounds below `least`, the others by bound, largest on top; return the largest dropped."""
    value, offset, fields, full = sums.value, sums.offset, sums.fields, sums.full
    rows, keys, bounds = trail.open, trail.keys, trail.bounds
    dropped, largest = -1, -1
    top = begin
    for index in range(begin, trail.at[1]):
        row = rows[index]
        bound = sums_bound(value, offset, fields, full, row[SPREAD], row[INSIDE], row[EXTRA])
        if bound >= least:
            at = slot_of(keys, row[NUMBER])
            if keys[at] != -1:
                bound = bounds[at]
        if bound < least:
            dropped = max(dropped, bound)
            continue
        largest = max(largest, bound)
        copy(rows[top, :WORDS], row)
        rows[top, BOUND] = bound
        top += 1
    trail.at[1] = top
    for bound in range(least, largest):
        for index in range(begin, top):
            if rows[index, BOUND] == bound:
                _exchange(rows[begin], rows[index])
                begin += 1
    return dropped


@compiled
def _exchange(first: Array, second: Array) -> None:
    for column in range(len(first)):
        first[column], second[column] = second[column], first[column]


@compiled
def _enter(goal: int, state: Array, tables: StateTables, counts: Array, sums: Sums, moves: MoveArrays, trail: Trail) -> bool:
    """Push the successors of the state that was popped; return whether they fit."""
    depth, begin = trail.at[0], trail.at[1]
    counts_of(state[NUMBER], tables, counts)
    total = min(tables.issue, unit_limits(tables.unit, tables.capacity, counts, moves.limit))
    _choose(tables.base, tables.unit, counts, sums, moves)
    if not _open(total, state, moves, trail):
        return False
    trail.frames[depth, 0] = state[NUMBER]
    trail.frames[depth, 1] = begin
    trail.frames[depth, 2] = _keep(goal - depth - 1, begin, sums, trail)
    return True


@compiled
def _remember(trail: Trail) -> int:
    """Enter the bound of the state of this slot, all of whose successors are refuted, and go back a slot; return how that ended."""
    depth = trail.at[0]
    at = slot_of(trail.keys, trail.frames[depth, 0])
    if trail.keys[at] == -1:
        if 4 * trail.at[2] > 3 * len(trail.keys):
            return FULL
        trail.at[2] += 1
        trail.keys[at] = trail.frames[depth, 0]
    bound = trail.frames[depth, 2] + 1
    trail.bounds[at] = bound
    trail.at[0] = depth - 1
    if depth == 0:
        return REFUTED
    trail.frames[depth - 1, 2] = max(trail.frames[depth - 1, 2], bound)
    return PAUSED


@compiled
def dive(goal: int, steps: int, tables: StateTables, sums: Sums, moves: MoveArrays, trail: Trail) -> int:
    """Enter up to `steps` states; return how that ended. A search begins with one open state, slot -1.

    If it found a schedule, the frames up to its last slot hold its states.
    """
    counts = np.zeros(len(tables.unit), np.int64)
    state = np.empty(WORDS, np.int64)
    while steps:
        depth, top = trail.at[0], trail.at[1]
        if depth >= 0 and top == trail.frames[depth, 1]:
            ended = _remember(trail)
            if ended != PAUSED:
                return ended
            continue
        top -= 1
        copy(state, trail.open[top])
        bound = trail.open[top, BOUND]
        at = slot_of(trail.keys, state[NUMBER])
        if trail.keys[at] != -1:
            bound = trail.bounds[at]
        trail.at[1] = top
        if depth + 1 + bound < goal:
            if depth < 0:
                return REFUTED
            trail.frames[depth, 2] = max(trail.frames[depth, 2], bound)
            continue
        trail.at[0] = depth + 1
        if state[NUMBER] == 0:
            trail.frames[depth + 1, 0] = 0
            return FOUND
        if not _enter(goal, state, tables, counts, sums, moves, trail):
            trail.at[0] = depth
            trail.at[1] = top + 1
            copy(trail.open[top, :WORDS], state)
            trail.open[top, BOUND] = bound
            return DEEP
        steps -= 1
    return PAUSED


@compiled
def rehash(keys: Array, bounds: Array, new_keys: Array, new_bounds: Array) -> None:
    """Copy the entries of a hash table to a larger one."""
    for at in range(len(keys)):
        if keys[at] != -1:
            target = slot_of(new_keys, keys[at])
            new_keys[target] = keys[at]
            new_bounds[target] = bounds[at]
