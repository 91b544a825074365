"""The numbers of states, and the arrays that the kernels of `exact` read.

A state of a team is the row q_1 <= q_2 <= ... of the segments that each warp has before it; its number is the sum of C(q_i + i - 1, i)
(the combinatorial number system), and several teams make the digits of a mixed radix. Every slot leads to a smaller number: to move the
warps i = b+1 ... b+x from q to q-1 lowers it by `drop[g, b + x] - drop[g, b]`, whatever else moves, with
`drop[g, i] = sum of C(q + j - 2, j - 1) over j <= i = C(q + i - 1, i - 1)`.
"""

from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from sassan.makespan.states import ProblemLayout, State, Team, count_letter_states

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST = 1 << 62
"""Numbers of states are smaller."""


class StateTables(NamedTuple):
    """A layout as arrays. Places are the segments of each team from the end of its string; place 0 of a team: done."""

    base: "Array"
    """Per team the first of its places, and after the last team the number of places."""
    warps: "Array"
    """Per team its warps."""
    stride: "Array"
    """Per team the weight of its digit in the number of a state."""
    unit: "Array"
    """Per place its unit; -1: done."""
    length: "Array"
    """Per place the instructions of its segment; 0: done."""
    drop: "Array"
    """Per place and rank of a warp, see above; the stride of the team is multiplied in."""
    table: "Array"
    """`table[q, i]` is C(q + i - 1, i)."""
    order: "Array"
    """The places with work, those with the longest segments first."""
    capacity: "Array"
    """Per unit."""
    issue: int
    """The issue limit."""
    states: int
    """How many numbers there are: the spreads of the warps over the segments."""


def tables(cut: ProblemLayout) -> StateTables:
    """Return the arrays of a layout whose states have numbers below `MOST`."""
    import numpy as np  # noqa: PLC0415 - start-up

    deepest = max(len(team.segments) for team in cut.teams) + 2
    widest = max(len(team.warps) for team in cut.teams) + 1
    table = np.zeros((deepest, widest), np.int64)
    table[1:, 0] = 1
    for q in range(1, deepest):
        table[q] = np.cumsum(table[q - 1]) if q > 1 else 1
    sizes = [0, *(len(team.segments) + 1 for team in cut.teams)]
    base = np.cumsum(sizes).astype(np.int64)
    unit, length = np.full(base[-1], -1, np.int64), np.zeros(base[-1], np.int64)
    drop = np.zeros((base[-1], widest), np.int64)
    strides = [1]
    for first, team in zip(base.tolist(), cut.teams, strict=False):
        for q, segment in enumerate(reversed(team.segments), 1):
            unit[first + q], length[first + q] = segment.unit, segment.length
            drop[first + q, 1 : len(team.warps) + 1] = strides[-1] * table[q + 1, : len(team.warps)]
        strides.append(strides[-1] * _spreads(team))
    order = np.array(sorted(np.flatnonzero(length).tolist(), key=lambda place: -int(length[place])), np.int64)
    capacity = np.array(cut.capacity, np.int64)
    warps = np.array([len(team.warps) for team in cut.teams], np.int64)
    stride = np.array(strides[:-1], np.int64)
    return StateTables(base, warps, stride, unit, length, drop, table, order, capacity, cut.issue, strides[-1])


def _spreads(team: Team) -> int:
    return count_letter_states([(len(team.warps), len(team.segments))])


def number(cut: ProblemLayout, state: State) -> int:
    """Return the number of the spread of a state over the segments."""
    total, stride, at = 0, 1, 0
    for team in cut.teams:
        inside = [count for count, _ in state[at : at + len(team.segments)]]
        index = len(team.warps) - sum(inside)
        for q, count in enumerate(reversed(inside), 1):
            total += stride * sum(comb(q + i - 1, i) for i in range(index + 1, index + count + 1))
            index += count
        stride *= _spreads(team)
        at += len(team.segments)
    return total


def most_choices(cut: ProblemLayout) -> int:
    """Return a number that the choices of a unit, for a number of warps that run, exceed in no state of single letters."""
    most = 1
    for unit, capacity in enumerate(cut.capacity):
        places = sum(segment.unit == unit for segment in cut.segments)
        warps = sum(len(team.warps) for team in cut.teams if any(segment.unit == unit for segment in team.segments))
        distinct = min(places, warps)
        for run in range(1, min(capacity, warps) + 1):
            most = max(most, min(comb(distinct + run - 1, run), comb(warps, run)))
    return most
