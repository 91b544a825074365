"""The three compiled searches of `exact`, in portions between checks of the clock: over letters, over sums, and for a goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sassan.makespan.engine import Budget
from sassan.makespan.exact import dive, kernel, sums
from sassan.makespan.exact.dive import EXTRA, INSIDE, WORDS, MoveArrays, Sums, Trail
from sassan.makespan.exact.tables import StateTables, most_choices, number, tables
from sassan.makespan.states import ProblemLayout, State, over, start, successors
from sassan.makespan.states_kernel import Array, no_picks

_PORTION = 200_000
"""States of letters between two checks of the clock."""
_PORTION_OF_SUMS = 4_000_000
_PORTION_OF_DIVE = 20_000


class End(IntEnum):
    """How a search for a goal ends; `FULL`: the memory for remembered bounds is used up, `DEEP`: that for open states."""

    REFUTED = dive.REFUTED
    FOUND = dive.FOUND
    PAUSED = dive.PAUSED
    FULL = dive.FULL
    DEEP = dive.DEEP


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The longest paths over the sums of the runs."""

    cut: ProblemLayout
    tables: StateTables
    offset: Array
    value: Array

    @property
    def upper(self) -> int:
        """Return the bound of the start."""
        weight, full = _weights(self.cut)
        less = sums.reference(sum(len(team.warps) * s.length * int(weight[s.unit]) for team in self.cut.teams for s in team.segments), full)
        return less + (int(self.value[-1]) - less) % (int(np.iinfo(self.value.dtype).max) + 1)


def letters_path(cut: ProblemLayout, budget: Budget) -> list[State] | None:
    """Return the states of a longest path over single letters; None if the time was up."""
    table = tables(cut)
    for kind in (np.uint8, np.uint16, np.uint32):
        value = np.zeros(table.states, kind)
        counts = _first_counts(table)
        choices = kernel.unit_choices(table.capacity, cut.warps, most_choices(cut))
        for first in range(0, table.states, _PORTION):
            if over(budget):
                return None
            end = min(first + _PORTION, table.states)
            kernel.fill(value, first, end, table, counts, choices)
            if value[first:end].max() == np.iinfo(kind).max:
                break
        else:
            return _walk(cut, value)
    return None


def _first_counts(table: StateTables) -> Array:
    counts = np.zeros(len(table.unit), np.int64)
    counts[table.base[:-1]] = table.warps
    return counts


def _walk(cut: ProblemLayout, value: Array) -> list[State]:
    states = [start(cut)]
    while left := int(value[number(cut, states[-1])]):
        states.append(next(after for after in successors(cut, states[-1]) if value[number(cut, after)] == left - 1))
    return states


def relaxed(cut: ProblemLayout, states: int, budget: Budget) -> Relaxed | None:
    """Return the longest paths over so many sums; None if the time was up, or the memory is too small."""
    table = tables(cut)
    offset = np.zeros(table.states + 1, np.int64)
    sums.offsets(table, _first_counts(table), offset)
    weight, full = _weights(cut)
    for kind in (np.uint8, np.uint16, np.uint32):
        if states * np.dtype(kind).itemsize > budget.memory:
            return None
        value = np.zeros(states, kind)
        counts = _first_counts(table)
        first = 0
        while first < table.states:
            if over(budget):
                return None
            end = max(first + 1, int(np.searchsorted(offset, offset[first] + _PORTION_OF_SUMS)) - 1)
            if sums.fill(value, first, end, table, counts, offset, weight, full) >= np.iinfo(kind).max:
                break
            first = end
        else:
            return Relaxed(cut, table, offset, value)
    return None


def _weights(cut: ProblemLayout) -> tuple[Array, int]:
    """Return the weight of a letter of each unit, and what a slot runs of it at most: a letter of the unit that takes longest weighs 1."""
    fits = [min(most, cut.issue) for most in cut.capacity]
    work = np.zeros(len(fits))
    for team in cut.teams:
        for segment in team.segments:
            work[segment.unit] += len(team.warps) * segment.length / fits[segment.unit]
    busiest = int(np.argmax(work))
    weight = np.zeros(len(fits), np.int64)
    weight[busiest] = 1
    return weight, fits[busiest]


class Dive:
    """A depth-first search for schedules of at least so many slots; bounds learned for one goal serve the next, smaller one."""

    def __init__(self, cut: ProblemLayout, bound: Relaxed, memory: int) -> None:
        """Search the states of this layout of letters, with this bound, in so many bytes."""
        self._cut = cut
        self._tables = tables(cut)
        self._memory = memory
        self._sums, self._root = _sums(self._tables, bound)
        most = most_choices(cut)
        deepest = min(max(cut.capacity), cut.warps) + 1
        units = len(cut.capacity)
        self._moves = MoveArrays(
            np.zeros((units, deepest, most, WORDS), np.int64),
            np.zeros((units, deepest), np.int64),
            np.zeros(units, np.int64),
            np.zeros((units, WORDS), np.int64),
            no_picks(units),
        )
        self._trail = Trail(
            np.zeros(3, np.int64),
            np.zeros((bound.upper + 2, 3), np.int64),
            np.zeros((1 << 12, WORDS + 1), np.int64),
            np.full(1 << 12, -1, np.int64),
            np.zeros(1 << 12, np.uint32),
        )
        self._upper = bound.upper
        # No step: this only compiles, so that the time is not counted as search.
        dive.dive(0, 0, self._tables, self._sums, self._moves, self._trail)

    def reach(self, goal: int, budget: Budget) -> tuple[End, list[State]]:
        """Return how the search for `goal` slots ended, and the states of the schedule if one was found."""
        self._trail.at[:2] = -1, 1
        self._trail.open[0] = (*self._root, self._upper)
        while not over(budget):
            ended = End(dive.dive(goal, _PORTION_OF_DIVE, self._tables, self._sums, self._moves, self._trail))
            if ended is End.REFUTED:
                return ended, []
            if ended is End.FOUND:
                numbers = self._trail.frames[: self._trail.at[0] + 1, 0]
                return ended, [self._state(int(number)) for number in numbers]
            if ended is not End.PAUSED and not self._grow(keys=ended is End.FULL):
                return ended, []
        return End.PAUSED, []

    def _grow(self, *, keys: bool) -> bool:
        trail = self._trail
        if keys:
            if 3 * (trail.keys.nbytes + trail.bounds.nbytes) > self._memory:  # the old table and one of twice its size
                return False
            keys_grown, bounds_grown = np.full(2 * len(trail.keys), -1, np.int64), np.zeros(2 * len(trail.keys), np.uint32)
            dive.rehash(trail.keys, trail.bounds, keys_grown, bounds_grown)
            self._trail = trail._replace(keys=keys_grown, bounds=bounds_grown)
        else:
            if 4 * trail.open.nbytes > self._memory:
                return False
            self._trail = trail._replace(open=np.concatenate((trail.open, np.zeros_like(trail.open))))
        return True

    def _state(self, index: int) -> State:
        counts = np.zeros(len(self._tables.unit), np.int64)
        kernel.counts_of(index, self._tables, counts)
        return tuple(
            (int(count), int(count))
            for low, high in zip(self._tables.base[:-1], self._tables.base[1:], strict=True)
            for count in counts[low + 1 : high][::-1]
        )


def packable(cut: ProblemLayout) -> bool:
    """Say whether the words of `dive` hold the sums of a layout."""
    widths = [(len(team.warps), len(team.warps) * (segment.length - 1)) for team in cut.teams for segment in team.segments]
    return all(sum(bits) < 63 for bits in zip(*((inside.bit_length(), extra.bit_length()) for inside, extra in widths), strict=True))  # noqa: PLR2004


def _fields(runs: StateTables, weight: Array) -> Array:
    """Return `Sums.fields`, with the weight of a letter of each unit."""
    fields = np.zeros((len(runs.order), 6), np.int64)
    low = [0, 0]
    for row, place in zip(fields, runs.order.tolist(), strict=True):
        warps = int(runs.warps[np.searchsorted(runs.base, place, side="right") - 1])
        longest = int(runs.length[place]) - 1
        inside, extra = warps.bit_length(), (warps * longest).bit_length()
        row[:] = low[0], (1 << inside) - 1, low[1], (1 << extra) - 1, longest, weight[runs.unit[place]]
        low = [low[0] + inside, low[1] + extra]
    return fields


def _ahead(letters: StateTables, runs: ProblemLayout) -> Array:
    """Return `Sums.ahead`: in a run of which one letter runs per slot, all but the last letter are run by the warp that is furthest."""
    ahead = np.arange(len(letters.unit))
    for team, base in zip(runs.teams, letters.base.tolist(), strict=False):
        place = base + 1
        for segment in reversed(team.segments):
            if min(runs.capacity[segment.unit], runs.issue) == 1:
                ahead[place + 1 : place + segment.length] = place + 1
            place += segment.length
    return ahead


def _sums(letters: StateTables, bound: Relaxed) -> tuple[Sums, Sequence[int]]:
    """Return the words of the moves of letters over their runs, and the words of the start."""
    runs = bound.tables
    weight, full = _weights(bound.cut)
    fields = _fields(runs, weight)
    shifts = {place: (int(row[0]), int(row[2])) for place, row in zip(runs.order.tolist(), fields, strict=True)}
    step = np.zeros((WORDS, len(letters.unit)), np.int64)
    drop = np.zeros((2, *letters.drop.shape), np.int64)
    drop[0] = letters.drop
    root = [letters.states - 1, runs.states - 1, 0, 0]
    for team, warps in enumerate(runs.warps.tolist()):
        place = int(letters.base[team]) + 1
        first, end = int(runs.base[team]) + 1, int(runs.base[team + 1])
        for run in range(first, end):
            drop[1, place] = runs.drop[run]
            step[INSIDE, place] = -1 << shifts[run][0]
            if run > first:
                step[INSIDE, place] += 1 << shifts[run - 1][0]
                step[EXTRA, place] += (int(runs.length[run - 1]) - 1) << shifts[run - 1][1]
            step[EXTRA, place + 1 : place + int(runs.length[run])] = -1 << shifts[run][1]
            place += int(runs.length[run])
        root[INSIDE] += warps << shifts[end - 1][0]
        root[EXTRA] += warps * (int(runs.length[end - 1]) - 1) << shifts[end - 1][1]
    return Sums(bound.value, bound.offset, fields, full, step, _ahead(letters, bound.cut), drop), root
