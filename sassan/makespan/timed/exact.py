"""The longest makespan by the longest path over `TimedStates`, in the order of the work left, which falls with every slot.

A state is left when all that lead to it have been: its latest slot is then known. States that cannot end later than the longest schedule
known are dropped. Where the search ends early, each schedule is known up to the first of its states that was not left: so the largest
slot of such a state, with the bound of what follows it, bounds the longest makespan.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from sassan.makespan.timed.states import Choice, State, TimedStates

_PORTION = 64
"""States that are left between two checks of the clock."""
_BYTES, _BYTES_OF_WARP = 500, 130
"""Of a state in the search, about."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The longest makespan is at most `upper`; `choices` lead to the longest schedule found, None where none exceeds that known before."""

    upper: int
    choices: tuple[Choice, ...] | None


@dataclass(slots=True)
class _Arrival:
    """The latest slot of a state, and where it comes from."""

    slot: int
    before: State | None
    choice: Choice


def search(states: TimedStates, known: int, memory: int, over: Callable[[], bool]) -> Searched:
    """Search for schedules of more than `known` slots, in `memory` bytes, until `over` says that the time is up."""
    start = states.start
    arrivals = {start: _Arrival(0, None, ())}
    heap = [(-states.work(start), start)]
    ended: State | None = None
    most = memory // (_BYTES + _BYTES_OF_WARP * states.problem.warps)
    left = 0
    while heap:
        if len(arrivals) > most or (left % _PORTION == 0 and over()):
            rest = max(arrivals[state].slot + states.bound(state) for _, state in heap)
            return Searched(max(rest, known), _path(arrivals, ended))
        left += 1
        state = heappop(heap)[1]
        slot = arrivals[state].slot
        if slot + states.bound(state) <= known:
            continue
        for choice in states.choices(state):
            after, slots = states.after(state, choice)
            if not slots:  # all have ended
                known, ended = slot, state
                continue
            arrival = arrivals.get(after)
            if arrival is None:
                arrivals[after] = _Arrival(slot + slots, state, choice)
                heappush(heap, (-states.work(after), after))
            elif slot + slots > arrival.slot:
                arrival.slot, arrival.before, arrival.choice = slot + slots, state, choice
    return Searched(known, _path(arrivals, ended))


def _path(arrivals: dict[State, _Arrival], ended: State | None) -> tuple[Choice, ...] | None:
    if ended is None:
        return None
    choices: list[Choice] = []
    arrival = arrivals[ended]
    while arrival.before is not None:
        choices.append(arrival.choice)
        arrival = arrivals[arrival.before]
    return tuple(reversed(choices))
