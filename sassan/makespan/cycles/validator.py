"""The validator of schedules in cycles: the rules of `code`, from the cycles in which instructions issue alone.

It goes along the path once, for all warps at a time, and then looks at what every cycle holds; it shares no code with the simulation.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from sassan.makespan.cycles.code import ResidentCode

Ints = npt.NDArray[np.int64]
_BARRIERS = 6


def refusal(code: ResidentCode, issued: Ints, cycles: int) -> str:
    """Return why these cycles (a row per warp, a column per instruction of the path) are no schedule that ends after `cycles`, or ''."""
    if issued.shape != (code.warps, len(code.path)):
        return "it does not hold each instruction of each warp once"
    ready, last = readiness(code, issued)
    early = np.argwhere(issued < ready)
    if len(early):
        warp, place = early[0]
        return f"warp {warp} issues instruction {place} of its path in cycle {issued[warp, place]}, and is ready in {ready[warp, place]}"
    if cycles != last:
        return f"it ends after {last} cycles, not {cycles}"
    return _contention(code, issued, ready, last)


def readiness(code: ResidentCode, issued: Ints) -> tuple[Ints, int]:
    """Return from which cycle each warp is ready for each instruction, and when everything has ended."""
    ready = np.zeros_like(issued)
    may, ends = np.zeros(code.warps, np.int64), np.zeros(code.warps, np.int64)
    clear = np.zeros((_BARRIERS, code.warps), np.int64)
    occupied = np.zeros((len(code.core.places), code.warps), np.int64)
    for place, number in enumerate(code.path):
        step, now = code.steps[number], issued[:, place]
        waited = [clear[barrier] for barrier in range(_BARRIERS) if step.waits >> barrier & 1]
        ready[:, place] = np.maximum.reduce([may, occupied[step.unit], *waited, *([ends] if step.drains else [])])
        for barrier, after in step.sets:
            clear[barrier] = np.maximum(clear[barrier], now + after)
        occupied[step.unit] = now + step.own
        ends = np.maximum(ends, now + step.ends)
        may = now + step.delay
        if step.opens:
            for first in range(0, code.warps, code.block):
                may[first : first + code.block] = may[first : first + code.block].max()
    return ready, int(ends.max(initial=0))


def _contention(code: ResidentCode, issued: Ints, ready: Ints, last: int) -> str:
    """Return which cycle holds too much, or in which an instruction waits for nothing."""
    places: dict[tuple[int, int, bool], list[int]] = defaultdict(list)
    for place, number in enumerate(code.path):
        step = code.steps[number]
        places[step.unit, step.interval, bool(step.pipeline)].append(place)
    held = np.zeros((len(code.core.places), last + 1), np.int64)
    for (unit, interval, _), columns in places.items():
        _hold(held[unit], issued[:, columns], interval)
    piped = np.zeros(last + 1, np.int64)
    for place, number in enumerate(code.path):
        if code.steps[number].pipeline:
            _hold(piped, issued[:, place], code.steps[number].pipeline)
    units, pipeline = held.cumsum(axis=1)[:, :-1], piped.cumsum()[:-1]
    begun = np.bincount(issued.ravel(), minlength=last + 1)[:last]
    limit = np.array(code.core.places)[:, None]
    if (units > limit).any() or (pipeline > 1).any() or (begun > code.core.issue).any():
        return "a cycle holds more than a unit, the memory pipeline or the issue slots take"
    for (unit, _, is_access), columns in places.items():
        full = (begun == code.core.issue) | (units[unit] == limit[unit]) | ((pipeline == 1) & is_access)
        until = np.concatenate((np.zeros(1, np.int64), full.cumsum()))
        since, now = ready[:, columns], issued[:, columns]
        if (until[now] - until[since] != now - since).any():
            return "a warp that is ready waits in a cycle in which its unit, the memory pipeline and an issue slot are free"
    return ""


def _hold(held: Ints, begins: Ints, cycles: int) -> None:
    """Add what is held for so many cycles from each begin, as steps up and down; what is held behind the end is cut off."""
    np.add.at(held, begins, 1)
    np.add.at(held, np.minimum(begins + cycles, len(held) - 1), -1)
