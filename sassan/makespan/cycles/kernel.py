"""The simulation of warps that share an SM, compiled: cycle by cycle, but cycles in which nothing can issue are skipped."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.jit.decorators import compiled

Ints = npt.NDArray[np.int64]
BARRIERS = 6
DELAY, WAITS, FIRST, FIRST_CLEAR, SECOND, SECOND_CLEAR, DRAINS, ENDS, UNIT, INTERVAL, OWN, PIPELINE, OPENS = range(13)
"""Columns of `CodeArrays.steps`: `code.TimedStep`, with -1 for a barrier that is not set."""
COLUMNS = 13
_NEVER = 1 << 60


class CodeArrays(NamedTuple):
    """The code: a row per instruction, the rows along the path, the places of each unit."""

    steps: Ints
    path: Ints
    places: Ints


class ResidentWarps(NamedTuple):
    """The state of the warps: how far each is, when it is ready, when all that it issued has ended, and what it waits for itself."""

    at: Ints
    ready: Ints
    ends: Ints
    clear: Ints
    own: Ints


@compiled
def _soonest(step: Ints, warp: int, begin: int, warps: ResidentWarps) -> int:
    """Return when a warp is ready for an instruction that it may issue from `begin` on."""
    soonest = max(begin, warps.own[warp, step[UNIT]])
    if step[DRAINS]:
        soonest = max(soonest, warps.ends[warp])
    for barrier in range(BARRIERS):
        if step[WAITS] >> barrier & 1:
            soonest = max(soonest, warps.clear[warp, barrier])
    return int(soonest)


@compiled
def _issue(step: Ints, warp: int, now: int, warps: ResidentWarps) -> None:
    """Take down what an instruction that issues keeps its warp from."""
    warps.own[warp, step[UNIT]] = now + step[OWN]
    warps.ends[warp] = max(warps.ends[warp], now + step[ENDS])
    for column in (FIRST, SECOND):
        if step[column] >= 0:
            warps.clear[warp, step[column]] = max(warps.clear[warp, step[column]], now + step[column + 1])
    warps.at[warp] += 1


@compiled
def _free(taken: Ints, places: int) -> int:
    """Return the place of a unit that is free first."""
    place = 0
    for other in range(places):
        if taken[other] < taken[place]:
            place = other
    return place


@compiled
def _sort(order: Ints, rank: Ints) -> None:
    """Sort warps by rank; few are out of order."""
    for index in range(1, len(order)):
        warp, at = order[index], index
        while at and rank[order[at - 1]] > rank[warp]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = warp


@compiled
def run(rows: CodeArrays, issue: int, block: int, group: Ints, lead: int, issued: Ints) -> int:  # noqa: C901, PLR0913, PLR0917 - one cycle after the other
    """Write the cycle in which each warp issues each instruction of the path (a row per warp); return when everything has ended.

    Of the warps that may issue, those of the lowest `group` are the first; within a group the one that has issued fewest instructions
    times `lead`, then the one of the lowest number.
    """
    steps, path, places = rows
    count, length = issued.shape
    warps = ResidentWarps(
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros((count, BARRIERS), np.int64),
        np.zeros((count, len(places)), np.int64),
    )
    taken = np.zeros((len(places), places.max()), np.int64)
    arrived = np.zeros(count // block + 1, np.int64)
    order, rank = np.arange(count), group * length * count * 2 + np.arange(count)
    pipeline = finish = now = 0
    left = count
    while left:
        _sort(order, rank)
        slots, later = issue, _NEVER
        for warp in order.copy():
            while slots and warps.ready[warp] < _NEVER:
                step = steps[path[warps.at[warp]]]
                place = _free(taken[step[UNIT]], int(places[step[UNIT]]))
                free = max(warps.ready[warp], taken[step[UNIT], place])
                if step[PIPELINE]:
                    free = max(free, pipeline)
                if free > now:
                    later = min(later, free)
                    break
                slots -= 1
                issued[warp, warps.at[warp]] = now
                taken[step[UNIT], place] = now + step[INTERVAL]
                if step[PIPELINE]:
                    pipeline = now + step[PIPELINE]
                _issue(step, int(warp), int(now), warps)
                finish = max(finish, warps.ends[warp])
                rank[warp] += lead * count
                over = warps.at[warp] == length
                left -= over
                warps.ready[warp] = _NEVER
                first, end = warp, warp + 1
                if step[OPENS]:
                    first = warp // block * block
                    end = min(first + block, count)
                    arrived[warp // block] += 1
                    if arrived[warp // block] < end - first:
                        break
                    arrived[warp // block] = 0
                if not over:
                    for mate in range(first, end):
                        warps.ready[mate] = _soonest(steps[path[warps.at[mate]]], mate, now + step[DELAY], warps)
        # Where nothing issued, nothing can before the next unit is free, or the next warp ready.
        now = now + 1 if slots < issue else later
    return int(finish)
