"""Longest paths over all states of single letters in one table, compiled (numbers of states: `tables`)."""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

from typing import NamedTuple

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.exact.tables import UNITS, StateTables
from sassan.makespan.states_kernel import Array, zero


class UnitChoices(NamedTuple):
    """The choices of the warps of each unit in a state: choice i of k warps of unit u lowers its number by `fall[u, k, i]`.

    `size[u, k]` counts these choices, `limit[u]` is the most warps of unit u that run.
    """

    fall: Array
    size: Array
    limit: Array


def unit_choices(capacity: Array, warps: int, most: int) -> UnitChoices:
    """Return empty arrays for the choices of states with so many warps."""
    deepest = int(min(max(capacity), warps)) + 1
    return UnitChoices(np.zeros((UNITS, deepest, most), np.int64), np.zeros((UNITS, deepest), np.int64), np.zeros(UNITS, np.int64))


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
    fall, size, limit = out
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


@compiled
def longest_next(value: Array, number: int, total: int, out: UnitChoices) -> int:  # noqa: C901 - one loop per unit
    """Return the largest value of the states that can follow the one with this number, in a slot of `total` instructions."""
    fall, size, limit = out
    best = 0
    for k4 in range(min(limit[4], total) + 1):
        for i4 in range(size[4, k4]):
            start = number - fall[4, k4, i4]
            left = total - k4
            for k0 in range(min(limit[0], left) + 1):
                for k1 in range(min(limit[1], left - k0) + 1):
                    for k2 in range(min(limit[2], left - k0 - k1) + 1):
                        k3 = left - k0 - k1 - k2
                        if k3 > limit[3]:
                            continue
                        for i3 in range(size[3, k3]):
                            for i2 in range(size[2, k2]):
                                for i1 in range(size[1, k1]):
                                    rest = start - fall[3, k3, i3] - fall[2, k2, i2] - fall[1, k1, i1]
                                    for i0 in range(size[0, k0]):
                                        best = max(best, int(value[rest - fall[0, k0, i0]]))
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
