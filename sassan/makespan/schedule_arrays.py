"""The validator of long schedules: the rules of `schedule.check_plain`, for all slots at once.

Count per unit U and slot t the instructions that run there, ran[U, t]. A warp is ready for its instruction i from the slot after that of
i - 1 (from slot 0 for the first) up to that of i, so ready[U, t] is what became ready up to t less what ran before t. In every slot,
ran[U, t] <= sigma_U, and sum_U ran[U, t] = min(sigma, sum_U min(ready[U, t], sigma_U)).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sassan.alphabet import UNITS
from sassan.makespan.problem import Problem, runs_of
from sassan.strings.kernel_string import KernelString

Array = NDArray[np.signedinteger[Any]]
_LETTERS = tuple(sorted(UNITS))


def refusal(problem: Problem, rows: Sequence[Sequence[int]]) -> str:
    """Return why these slots, a row per warp, are not a schedule of the problem; '' if they are."""
    if [string.length for string in problem.strings] != [len(row) for row in rows]:
        return "it does not hold each instruction of each warp once"
    slots: list[Array] = []
    for warp, row in enumerate(rows):
        ascending = _ascending(row)
        if ascending is None:
            return f"warp {warp} does not run its instructions in order, one per slot"
        slots.append(ascending)
    # A slot in which nothing runs is refused, and there is one if there are more slots than instructions: later slots need no check.
    size = min(sum(len(row) for row in slots), max((int(row[-1]) + 1 for row in slots if len(row)), default=0))
    ran = np.zeros((len(_LETTERS), size + 1), np.int32)
    became_ready = np.zeros((len(_LETTERS), size + 1), np.int32)
    for units, row_slots in zip(_units(problem.strings), slots, strict=True):
        last = np.minimum(row_slots, size)
        # No slot occurs twice in a row, except the last, which is not checked.
        ran[units, last] += 1
        became_ready[units, np.minimum(np.concatenate(([0], last[:-1] + 1)), size)[: len(units)]] += 1
    return _first_violation(problem, ran[:, :size], became_ready[:, :size])


def _ascending(row: Sequence[int]) -> Array | None:
    try:
        slots = np.array(row, np.int64)
    except OverflowError:
        return None
    ordered = not len(slots) or (slots[0] >= 0 and bool((np.diff(slots) > 0).all()))
    return slots if ordered else None


def _units(strings: Sequence[KernelString]) -> Iterator[Array]:
    """Yield, per warp, the numbers of its letters; warps mostly share one string, which is then expanded once."""
    expanded: dict[int, Array] = {}
    for string in strings:
        if id(string) not in expanded:
            runs = list(runs_of(string))
            letters = np.array([_LETTERS.index(run.letter) for run in runs], np.int8)
            expanded[id(string)] = np.repeat(letters, [run.count for run in runs])
        yield expanded[id(string)]


def _first_violation(problem: Problem, ran: Array, became_ready: Array) -> str:
    sigma = [int(problem.capacity.get(letter, 0)) for letter in _LETTERS]
    due = np.zeros(ran.shape[1], np.int64)
    for run, arrivals, most in zip(ran, became_ready, sigma, strict=True):
        due += np.minimum(np.cumsum(arrivals) - np.cumsum(run) + run, most)
    if problem.issue is not None:
        np.minimum(due, problem.issue, out=due)
    total = ran.sum(axis=0)
    over = ran > np.array(sigma)[:, None]
    wrong = np.flatnonzero(over.any(axis=0) | (total != due))
    if not len(wrong):
        return ""
    slot = int(wrong[0])
    for letter, run, above in zip(_LETTERS, ran[:, slot], over[:, slot], strict=True):
        if above:
            return f"slot {slot + 1} runs {run} {letter}, more than the capacity of the unit"
    return f"slot {slot + 1} runs {total[slot]} instructions where work conservation demands {due[slot]}"
