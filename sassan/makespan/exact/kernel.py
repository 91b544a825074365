"""Longest paths over all states of single letters in one table, compiled (numbers of states: `tables`)."""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

from typing import NamedTuple

import numpy as np

from sassan.jit.decorators import compiled, uncounted
from sassan.makespan.exact.tables import StateTables
from sassan.makespan.states_kernel import Array, Picks, first_pick, next_pick, no_picks, zero


class UnitChoices(NamedTuple):
    """The choices of the warps of each unit in a state: choice i of k warps of unit u lowers its number by `fall[u, k, i]`.

    `size[u, k]` counts these choices, `limit[u]` is the most warps of unit u that run.
    """

    fall: Array
    size: Array
    limit: Array
    rest: Array
    """Per unit, the number that the picks of the units behind it lead to."""
    picks: Picks


def unit_choices(capacity: Array, warps: int, most: int) -> UnitChoices:
    """Return empty arrays for the choices of states with so many warps."""
    deepest = int(min(max(capacity), warps)) + 1
    units = len(capacity)
    fall, size = np.zeros((units, deepest, most), np.int64), np.zeros((units, deepest), np.int64)
    return UnitChoices(fall, size, np.zeros(units, np.int64), np.zeros(units, np.int64), no_picks(units))


@compiled
def counts_of(number: int, tables: StateTables, counts: Array) -> None:
    """Write the counts per place of the state with this number."""
    zero(counts)
    for team in range(len(tables.warps) - 1, -1, -1):
        rest = number // tables.stride[team]
        number -= rest * tables.stride[team]
        first = tables.base[team]
        place = tables.base[team + 1] - first - 1
        for index in range(tables.warps[team], 0, -1):
            while tables.table[place, index] > rest:
                place -= 1
            rest -= tables.table[place, index]
            counts[first + place] += 1


@compiled
def next_counts(base: Array, counts: Array) -> None:
    """Change the counts of a state to those of the next number."""
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


@compiled
def unit_limits(unit: Array, capacity: Array, counts: Array, limit: Array) -> int:
    """Write how many warps of each unit run at most; return how many run in all."""
    zero(limit)
    for place in range(len(counts)):
        if unit[place] >= 0:
            limit[unit[place]] += counts[place]
    total = 0
    for of in range(len(limit)):
        limit[of] = min(limit[of], capacity[of])
        total += limit[of]
    return total


@compiled
def choose(base: Array, unit: Array, drop: Array, counts: Array, out: UnitChoices) -> None:
    """Write the choices of each unit, of up to `out.limit` warps."""
    fall, size, limit = out.fall, out.size, out.limit
    for of in range(len(size)):
        zero(size[of])
        size[of, 0] = 1
    for team in range(len(base) - 1):
        below = counts[base[team]]
        for place in range(base[team] + 1, base[team + 1]):
            inside = counts[place]
            if inside == 0:
                continue
            of = unit[place]
            # From the most warps down, so that no choice takes this place twice.
            for total in range(limit[of], 0, -1):
                end = size[of, total]
                for run in range(1, min(inside, total) + 1):
                    step = drop[place, below + run] - drop[place, below]
                    for index in range(size[of, total - run]):
                        fall[of, total, end] = fall[of, total - run, index] + step
                        end += 1
                size[of, total] = end
            below += inside


@uncounted
def longest_next(value: Array, number: int, total: int, out: UnitChoices) -> int:
    """Return the largest value of the states that can follow the one with this number, in a slot of `total` instructions."""
    fall, size, limit, rest, picks = out
    best = 0
    first_pick(total, limit, picks)
    changed = len(limit) - 1
    rest[changed] = number
    while changed < len(limit):
        for of in range(changed, 0, -1):
            rest[of - 1] = rest[of] - fall[of, picks.run[of], picks.choice[of]]
        run = picks.run[0]
        for index in range(size[0, run]):
            best = max(best, int(value[rest[0] - fall[0, run, index]]))
        changed = next_pick(size, limit, picks)
    return best


@compiled
def fill(value: Array, first: int, end: int, tables: StateTables, counts: Array, out: UnitChoices) -> None:
    """Write the longest time from each state with a number in [first, end); `counts` are those of `first`, and then those of `end`."""
    for number in range(first, end):
        total = min(tables.issue, unit_limits(tables.unit, tables.capacity, counts, out.limit))
        if total:
            choose(tables.base, tables.unit, tables.drop, counts, out)
            value[number] = longest_next(value, number, total, out) + 1
        next_counts(tables.base, counts)
