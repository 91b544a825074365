"""A beam over `TimedStates`: of all states of about equal work left, those that can still take longest.

A state's score is its slot and the bound of what follows it. Slots differ in length, since nothing may begin in some: so states are kept by
the number of steps from the start. Of many choices some are drawn at random.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from random import Random

from sassan.makespan.schedule import Schedule
from sassan.makespan.timed.states import Choice, State, TimedStates

_MOST = 24
"""Choices of a state that are all tried."""
_DRAWN = 12
"""Choices that are drawn where there are more."""


@dataclass(frozen=True, slots=True)
class _Kept:
    slot: int
    state: State
    before: "_Kept | None"
    choice: Choice


def beam(states: TimedStates, width: int, seed: int, over: Callable[[], bool]) -> Schedule | None:
    """Return the longest schedule found with `width` states per step; None if the time was up before any had ended."""
    random = Random(seed)  # noqa: S311 - not for secrets
    front = [_Kept(0, states.start, None, ())]
    longest: _Kept | None = None
    while front:
        if over():
            break
        following: dict[State, _Kept] = {}
        for kept in front:
            for choice in _choices(states, kept.state, width, random):
                after, slots = states.after(kept.state, choice)
                if not slots:
                    longest = kept if longest is None or kept.slot > longest.slot else longest
                elif after not in following or following[after].slot < kept.slot + slots:
                    following[after] = _Kept(kept.slot + slots, after, kept, choice)
        front = sorted(following.values(), key=lambda kept: (kept.slot + states.bound(kept.state), random.random()), reverse=True)[:width]
    return None if longest is None else states.schedule(_path(longest))


def _choices(states: TimedStates, state: State, width: int, random: Random) -> list[Choice]:
    if width > 1:
        few = list(islice(states.choices(state), _MOST + 1))
        if len(few) <= _MOST:
            return few
    drawn = {states.drawn(state, random): None for _ in range(_DRAWN if width > 1 else 2)}
    return list(drawn)


def _path(last: _Kept) -> list[Choice]:
    choices: list[Choice] = []
    while last.before is not None:
        choices.append(last.choice)
        last = last.before
    return choices[::-1]
