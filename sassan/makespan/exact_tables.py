"""The numbers of states, and the arrays that the kernels of `exact` read."""

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from sassan.makespan.states import Layout, State, count_letter_states

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tables:
    """A layout as arrays; places are the segments of each team from the end of its string, place 0 of a team: done."""

    base: "Ints"
    """Per team the first of its places, and behind the last team the number of places."""
    warps: "Ints"
    """Per team its warps."""
    stride: "Ints"
    """Per team the weight of its digit in the number of a state."""
    unit: "Ints"
    """Per place its unit; -1: done."""
    length: "Ints"
    """Per place the instructions of its segment; 0: done."""
    drop: "Ints"
    """See `exact_kernel`, with the stride of the team multiplied in."""
    table: "Ints"
    """`table[q, i]` is C(q + i - 1, i)."""
    capacity: "Ints"
    """Per unit, always four of them."""
    issue: int
    states: int
    """How many numbers there are: the spreads of the warps over the segments."""


UNITS = 4


def tables(cut: Layout) -> Tables:
    """Return the arrays of a layout whose states have numbers below 2^62."""
    import numpy as np  # noqa: PLC0415 - start-up

    sizes = [len(team.segments) + 1 for team in cut.teams]
    warps = [len(team.warps) for team in cut.teams]
    base = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    table = np.array([[comb(q + i - 1, i) if i else 1 for i in range(max(warps) + 1)] for q in range(max(sizes))], dtype=np.int64)
    table[0, 0] = 0
    unit = np.full(base[-1], -1, np.int64)
    length = np.zeros(base[-1], np.int64)
    drop = np.zeros((base[-1], max(warps) + 1), np.int64)
    stride = 1
    strides: list[int] = []
    for number, team in enumerate(cut.teams):
        strides.append(stride)
        for q, segment in enumerate(reversed(team.segments), 1):
            place = int(base[number]) + q
            unit[place], length[place] = segment.unit, segment.length
            drop[place, 1 : warps[number] + 1] = [stride * comb(q + i - 1, i - 1) for i in range(1, warps[number] + 1)]
        stride *= comb(warps[number] + len(team.segments), warps[number])
    capacity = np.zeros(UNITS, np.int64)
    capacity[: len(cut.capacity)] = cut.capacity
    return Tables(base, np.array(warps, np.int64), np.array(strides, np.int64), unit, length, drop, table, capacity, cut.issue, stride)


def number(cut: Layout, state: State) -> int:
    """Return the number of the spread of a state over the segments."""
    total, stride, at = 0, 1, 0
    for team in cut.teams:
        warps, segments = len(team.warps), len(team.segments)
        inside = [count for count, _ in state[at : at + segments]]
        index = warps - sum(inside)
        for q, count in enumerate(reversed(inside), 1):
            for i in range(index + 1, index + count + 1):
                total += stride * comb(q + i - 1, i)
            index += count
        stride *= count_letter_states([(warps, segments)])
        at += segments
    return total


def most_choices(cut: Layout) -> int:
    """Return a number of choices that no unit exceeds in any state of single letters."""
    most = 1
    for unit, capacity in enumerate(cut.capacity):
        places = sum(segment.unit == unit for segment in cut.segments)
        warps = sum(len(team.warps) for team in cut.teams if any(segment.unit == unit for segment in team.segments))
        distinct = min(places, warps)
        for run in range(1, min(capacity, warps) + 1):
            most = max(most, min(comb(distinct + run - 1, run), comb(warps, run)))
    return most
