"""The table of `pool.waste_plain`, compiled.

A pooled state is the row c_0 <= c_1 <= ... of how many warps stand in the stretches up to each one; its number is the sum of
C(c_g + g, g + 1) (the combinatorial number system). A warp that leaves stretch g lowers c_g by 1 and nothing else, so every slot leads to
a smaller number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sassan.jit.decorators import compiled

Ints = NDArray[np.int64]
WasteTable = NDArray[np.int32]
_NONE = 1 << 30


class CutArrays(NamedTuple):
    """The cut: per stretch its unit and length, per unit its capacity and weight; [weight scale, issue limit]; C(n, k)."""

    unit: Ints
    length: Ints
    capacity: Ints
    weight: Ints
    limits: Ints
    choose: Ints


class Scratch(NamedTuple):
    """Working arrays; `up_to` is the last state that was filled."""

    up_to: Ints
    counts: Ints
    gone: Ints
    most: Ints
    runs: Ints
    inside: Ints
    staying: Ints


def scratch(stretches: int, units: int) -> Scratch:
    """Return empty rows; `up_to` is the state in which all warps are done."""
    return Scratch(*(np.zeros(size, np.int64) for size in (stretches, stretches, stretches, units, units, units, units)))


@compiled
def fill(waste: WasteTable, start: int, stop: int, tables: CutArrays, work: Scratch) -> None:
    """Fill `waste[start:stop]`, which needs all numbers below."""
    for number in range(start, stop):
        _next(work.up_to)
        first = count_in(tables, work)
        due = min(tables.limits[1], work.most.sum())
        work.runs[:] = 0
        best = _NONE
        while next_runs(work.most, work.runs):
            if work.runs.sum() == due:
                best = min(best, _cheapest(waste, number, first, tables, work))
        waste[number] = best


@compiled
def _next(up_to: Ints) -> None:
    index = 0
    while index < len(up_to) - 1 and up_to[index] == up_to[index + 1]:
        up_to[index] = 0
        index += 1
    up_to[index] += 1


@compiled
def count_in(tables: CutArrays, work: Scratch) -> int:
    """Write how many warps stand in each stretch and the most letters of each unit; return the first stretch with a warp."""
    most = work.most
    most[:] = 0
    first = -1
    before = 0
    for index in range(len(work.counts)):
        inside = work.up_to[index] - before
        before = work.up_to[index]
        work.counts[index] = inside
        most[tables.unit[index]] += inside
        if first < 0 and inside > 0:
            first = index
    for unit in range(len(most)):
        most[unit] = min(most[unit], tables.capacity[unit])
    return first


@compiled
def next_runs(most: Ints, runs: Ints) -> bool:
    """Step to the next row of letters that may run per unit, due or not; False after the last."""
    for unit in range(len(most)):
        if runs[unit] < most[unit]:
            runs[unit] += 1
            return True
        runs[unit] = 0
    return False


@compiled
def reset_departures(tables: CutArrays, work: Scratch) -> int:
    """Set the choice in which no warp leaves its stretch, possible or not; return the weight of the slot."""
    weight = 0
    for unit in range(len(work.runs)):
        work.inside[unit] = work.runs[unit]
        work.staying[unit] = 0
        weight += work.runs[unit] * tables.weight[unit]
    for index in range(len(work.counts)):
        work.gone[index] = 0
        if tables.length[index] > 1:
            work.staying[tables.unit[index]] += work.counts[index]
    return weight


@compiled
def _cheapest(waste: WasteTable, number: int, first: int, tables: CutArrays, work: Scratch) -> int:
    """Return the least waste if `work.runs` letters of each unit run: `work.gone` enumerates the warps that may leave."""
    weight = reset_departures(tables, work)
    # A field of a tuple that is read in the inner loop costs a count of references each time.
    counts, gone, inside, staying, up_to = work.counts, work.gone, work.inside, work.staying, work.up_to
    units, length, choose = tables.unit, tables.length, tables.choose
    first_unit = units[first]
    moved, stayed = weight - tables.weight[first_unit], weight - tables.limits[0]
    best = _NONE
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
            best = min(best, (stayed if rest > forced else moved) + waste[number])
    return best


@compiled
def fits(inside: Ints, staying: Ints) -> bool:
    """Say whether enough warps can run without leaving: those in stretches of several letters."""
    for unit in range(len(inside)):  # noqa: SIM110  # a generator does not compile
        if inside[unit] > staying[unit]:
            return False
    return True
