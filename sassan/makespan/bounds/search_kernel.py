"""The search of `search`, compiled: states in the order of waste done + waste still due, each expanded once."""

from typing import NamedTuple

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.bounds.pool_kernel import CutArrays, Ints, Scratch, WasteTable, count_in, fits, next_runs, reset_departures

REFUTED, FOUND, FULL, PAUSED = 0, 1, 2, 3
STATES, NODES, LEVEL = 0, 1, 2
EMPTY = -1


class Guide(NamedTuple):
    """How a state is numbered (`place[c, g]` is C(c + g, g + 1)), and the same for the pooled table whose wastes guide the search.

    `ends[q]` is the stretch of the fine cut with which stretch q of the pooled one ends.
    """

    place: Ints
    ends: Ints
    pooled_place: Ints
    waste: WasteTable


class VisitedStates(NamedTuple):
    """The visited states, by hash, with the least waste through each; the nodes to expand, in a list per level; the three counters."""

    number: Ints
    through: WasteTable
    node: Ints
    after: Ints
    heads: Ints
    counters: Ints


def visited_states(states: int, levels: int) -> VisitedStates:
    """Return empty tables for `states` states (a power of 2, of which three quarters are used) and wastes below `levels`."""
    return VisitedStates(
        np.full(states, EMPTY, np.int64),
        np.zeros(states, np.int32),
        np.zeros(2 * states, np.int64),
        np.zeros(2 * states, np.int64),
        np.full(levels, EMPTY, np.int64),
        np.zeros(3, np.int64),
    )


class SearchArrays(NamedTuple):
    """The data of the search."""

    tables: CutArrays
    work: Scratch
    guide: Guide
    seen: VisitedStates


@compiled
def begin(search: SearchArrays) -> None:
    """Enter the state in which all warps are in the first stretch, whose numbers are the last."""
    waste = search.guide.waste[len(search.guide.waste) - 1]
    if waste < len(search.seen.heads):
        _enter(_number(search.work.up_to, search.guide.place), waste, search.seen)


@compiled
def advance(expansions: int, search: SearchArrays) -> int:
    """Expand at most so many states; return FOUND, REFUTED, FULL (the tables) or PAUSED."""
    visited = search.seen
    for _ in range(expansions):
        while visited.heads[visited.counters[LEVEL]] == EMPTY:
            visited.counters[LEVEL] += 1
            if visited.counters[LEVEL] == len(visited.heads):
                return REFUTED
        level = visited.counters[LEVEL]
        node = visited.heads[level]
        visited.heads[level] = visited.after[node]
        number = int(visited.node[node])
        if number == 0:
            return FOUND
        if visited.through[_slot(number, visited.number)] == level and not _expand(number, level, search):
            return FULL
    return PAUSED


@compiled
def _slot(number: int, numbers: Ints) -> np.int64:
    mask = len(numbers) - 1
    word = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64((word ^ (word >> np.uint64(29))) & np.uint64(mask))
    while numbers[at] != EMPTY and numbers[at] != number:
        at = np.int64((at + 1) & mask)
    return at


@compiled
def _enter(number: int, waste: int, visited: VisitedStates) -> bool:
    """Enter a state with the least waste through it, unless it has as little already; False if the tables are full."""
    at = _slot(number, visited.number)
    if visited.number[at] == EMPTY:
        visited.number[at] = number
        visited.counters[STATES] += 1
    elif visited.through[at] <= waste:
        return True
    visited.through[at] = waste
    node = visited.counters[NODES]
    visited.node[node] = number
    visited.after[node] = visited.heads[waste]
    visited.heads[waste] = node
    visited.counters[NODES] += 1
    return bool(4 * visited.counters[STATES] < 3 * len(visited.number) and visited.counters[NODES] < len(visited.node))


@compiled
def _number(up_to: Ints, place: Ints) -> int:
    number = 0
    for index in range(len(up_to)):
        number += place[up_to[index], index]
    return number


@compiled
def _pooled_number(up_to: Ints, gone: Ints, guide: Guide) -> int:
    """Return the number in the pooled table of the state `up_to` after `gone` have left their stretches."""
    number = 0
    for index in range(len(guide.ends)):
        end = guide.ends[index]
        number += int(guide.pooled_place[up_to[end] - gone[end], index])
    return number


@compiled
def _decode(number: int, place: Ints, up_to: Ints) -> None:
    for index in range(len(up_to) - 1, -1, -1):
        low, high = 0, len(place) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if place[middle, index] <= number:
                low = middle
            else:
                high = middle - 1
        up_to[index] = low
        number -= place[low, index]


@compiled
def _expand(number: int, level: int, search: SearchArrays) -> bool:
    """Enter every state that can follow; False if the tables are full."""
    work = search.work
    _decode(number, search.guide.place, work.up_to)
    first = count_in(search.tables, work)
    work.gone[:] = 0
    done = level - search.guide.waste[_pooled_number(work.up_to, work.gone, search.guide)]
    due = min(search.tables.limits[1], work.most.sum())
    work.runs[:] = 0
    while next_runs(work.most, work.runs):
        if work.runs.sum() == due and not _follow(number, done, first, search):
            return False
    return True


@compiled
def _follow(number: int, done: int, first: int, search: SearchArrays) -> bool:
    """Enter every state that can follow if `work.runs` letters of each unit run: `work.gone` enumerates the warps that may leave."""
    tables, work, guide, visited = search
    weight = reset_departures(tables, work)
    counts, gone, inside, staying, up_to = work.counts, work.gone, work.inside, work.staying, work.up_to
    units, length, choose = tables.unit, tables.length, tables.choose
    first_unit = units[first]
    moved, stayed = done + weight - tables.weight[first_unit], done + weight - tables.limits[0]
    index = 0
    while index < len(counts):
        unit = units[index]
        stays = length[index] > 1
        if gone[index] == counts[index] or inside[unit] == 0:
            for out in range(gone[index]):
                number += choose[up_to[index] - out - 1 + index, index]
            inside[unit] += gone[index]
            staying[unit] += gone[index] * stays
            gone[index] = 0
            index += 1
            continue
        gone[index] += 1
        inside[unit] -= 1
        staying[unit] -= stays
        number -= choose[up_to[index] - gone[index] + index, index]
        index = 0
        if fits(inside, staying):
            rest = counts[first] - gone[first]
            forced = max(0, inside[first_unit] - staying[first_unit] + rest * (length[first] > 1))
            through = (stayed if rest > forced else moved) + guide.waste[_pooled_number(up_to, gone, guide)]
            if through < len(visited.heads) and not _enter(number, through, visited):
                return False
    return True
