"""Which arrivals each wait waits for: phases of barriers, counted in the traces of the warps of a block.

A phase of a barrier in shared memory is over with so many arrivals as it was set up for, and with the data that the copy engine brings
(PTX ISA 8.8, "mbarrier"). Counted from the beginning, a wait needs so many arrivals; which warp they come from does not matter.
Blocks of a cluster are alike: what a warp does at a barrier of another block, the same warp of another block does at its own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from sassan.errors import Gap
from sassan.estimate.roles.barrier_operations import IN_SHARED_MEMORY, BarrierOperation
from sassan.estimate.roles.copies import Boxes, Copied, disagreements, moved_by
from sassan.estimate.roles.traces import BarrierExecution, WarpTrace
from sassan.simt.values import LANES

_COUNT = 0xFFFFF
"""The word that sets up a barrier holds the arrivals of a phase, negated, in 20 bits from bit 1 on."""
_PARITY = 1 << 31
_PARITIES = (0, _PARITY)
_ARRIVALS = (BarrierOperation.ARRIVE, BarrierOperation.EXPECT, BarrierOperation.COPIED, BarrierOperation.COMMIT)


class BarrierAction(IntEnum):
    """What a warp does to a barrier of the simulation: ARRIVE at once, COPY with the end of the access, COMMIT with that of its engine.

    WAIT: until so many have arrived in all. TURN: until the turn of a barrier of warps is full in which the warp has just arrived. How many
    have arrived then, the order of arrivals says: when events are matched, a TURN is a WAIT.
    """

    ARRIVE = 0
    COPY = 1
    COMMIT = 2
    WAIT = 3
    TURN = 4


class BarrierEvent(NamedTuple):
    """An act of a warp at an instruction of its visit; `arrivals`: how many arrive, or how many have to.

    `turn`: how many arrivals fill the barrier of warps that it arrives at; 0 of any other act.
    """

    visit: int
    address: int
    act: BarrierAction
    barrier: int
    arrivals: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class MatchedEvents:
    """The events of each warp, up to its last visit that was reached, and the `visits` of it; `gaps`: waits without an end.

    `copies` are what one execution of each copy moves on average, by its address. `notes` name barriers at which other bytes are announced
    than arrive.
    """

    events: tuple[tuple[BarrierEvent, ...], ...]
    visits: tuple[int, ...]
    barriers: int
    copies: Mapping[int, Copied]
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()


_Key = tuple[str, int]


def matched(traces: Sequence[WarpTrace], boxes: Boxes = MappingProxyType({}), shared: frozenset[int] = frozenset()) -> MatchedEvents:
    """Return what the warps of a block do to the barriers that they meet at; `shared` are copies that other blocks get or count, too."""
    notes = tuple(disagreements(traces, boxes, shared))
    copies = moved_by(traces, boxes)
    traces = [
        replace(trace, executions=tuple(met for met in trace.executions if met.kind is not BarrierOperation.MOVE)) for trace in traces
    ]
    needs = _needs(traces)
    numbers: dict[_Key, int] = {}
    events = [list(_events(trace, needs, len(traces), numbers)) for trace in traces]
    reached, stuck = _reached(events)
    visits = [len(trace.nodes) if at == len(some) else some[at].visit + 1 for trace, some, at in zip(traces, events, reached, strict=True)]
    whole = all(trace.ended for trace in traces)
    names = {number: key for key, number in numbers.items()}
    gaps = tuple(_gap(events[warp][reached[warp]], warp, names) for warp in stuck) if whole else ()
    kept = tuple(tuple(some[:at]) for some, at in zip(events, reached, strict=True))
    return MatchedEvents(kept, tuple(visits), len(numbers), copies, gaps, notes)


def _key(each: BarrierExecution) -> _Key:
    if each.kind in IN_SHARED_MEMORY:
        return "mbarrier", each.barrier
    return ("cluster", 0) if each.kind in {BarrierOperation.CLUSTER_ARRIVE, BarrierOperation.CLUSTER_WAIT} else ("barrier", each.barrier)


def _needs(traces: Sequence[WarpTrace]) -> Mapping[_Key, int]:
    """Return how many arrivals a phase of each barrier in shared memory needs, data included."""
    counts: dict[_Key, int] = {}
    arrivals, copies = Counter[_Key](), Counter[_Key]()
    for each in (some for trace in traces for some in trace.executions if some.kind in IN_SHARED_MEMORY):
        key = _key(each)
        if each.kind is BarrierOperation.BEGIN and each.amount is not None:
            counts[key] = _COUNT + 1 - (each.amount >> 1 & _COUNT)
        elif each.kind in _ARRIVALS:
            arrivals[key] += _threads_arriving(each)
        elif each.kind is BarrierOperation.COPY:
            copies[key] += 1
    return {key: count + round(copies[key] * count / max(1, arrivals[key])) for key, count in counts.items()}


def _threads_arriving(each: BarrierExecution) -> int:
    return 1 if each.kind is BarrierOperation.COMMIT else each.threads


def _events(  # noqa: C901, PLR0912 - one kind each
    trace: WarpTrace, needs: Mapping[_Key, int], warps: int, numbers: dict[_Key, int]
) -> Iterator[BarrierEvent]:
    """Yield the events of one warp; barriers get `numbers` as they come."""
    last = defaultdict[_Key, int](lambda: -1)
    turns, arrived = Counter[_Key](), Counter[_Key]()
    for each in trace.executions:
        key = _key(each)
        number = numbers.setdefault(key, len(numbers))
        place = (each.visit, each.address)
        match each.kind:
            case BarrierOperation.TEST:
                if each.amount in _PARITIES:
                    parity = int(each.amount == _PARITY)
                    last[key] += last[key] % 2 != parity
                elif arrived[key]:
                    # The state that an arrival returned: the phase is that of the arrival, the one behind the last that was waited for.
                    last[key], arrived[key] = last[key] + 1, 0
                if key in needs and last[key] >= 0:
                    yield BarrierEvent(*place, BarrierAction.WAIT, number, (last[key] + 1) * needs[key])
            case BarrierOperation.ARRIVE | BarrierOperation.EXPECT | BarrierOperation.COPIED:
                arrived[key] += 1
                yield BarrierEvent(
                    *place,
                    BarrierAction.COPY if each.kind is BarrierOperation.COPIED else BarrierAction.ARRIVE,
                    number,
                    _threads_arriving(each),
                )
            case BarrierOperation.COMMIT:
                yield BarrierEvent(*place, BarrierAction.COMMIT, number, 1)
            case BarrierOperation.COPY:
                yield BarrierEvent(*place, BarrierAction.COPY, number, 1)
            case BarrierOperation.SYNC | BarrierOperation.CHECK_IN:
                yield BarrierEvent(*place, BarrierAction.ARRIVE, number, 1, warps if each.amount is None else each.amount // LANES)
                if each.kind is BarrierOperation.SYNC:
                    yield BarrierEvent(*place, BarrierAction.TURN, number, 0)
            case BarrierOperation.CLUSTER_ARRIVE:
                turns[key] += 1
                yield BarrierEvent(*place, BarrierAction.ARRIVE, number, 1)
            case BarrierOperation.CLUSTER_WAIT:
                yield BarrierEvent(*place, BarrierAction.WAIT, number, turns[key] * warps)
            case _:
                pass


def _reached(events: Sequence[list[BarrierEvent]]) -> tuple[list[int], tuple[int, ...]]:
    """Return how many of its events each warp comes to, whatever they take, and the warps that do not come to their end.

    Arrivals are only ever added: in which order warps go on does not change where they end. Each TURN that a warp comes to becomes a WAIT:
    who arrives at a full barrier begins its next turn, so that a warp may arrive twice in a turn and not at all in another, and turns of
    one barrier may take different numbers.
    """
    arrived, full, at = Counter[int](), Counter[int](), [0] * len(events)
    moved = True
    while moved:
        moved = False
        for warp, some in enumerate(events):
            while at[warp] < len(some):
                event = some[at[warp]]
                if event.act is BarrierAction.WAIT and arrived[event.barrier] < event.arrivals:
                    break
                if event.act is not BarrierAction.WAIT:
                    arrived[event.barrier] += event.arrivals
                at[warp] += 1
                moved = True
                if event.turn:
                    _take_turn(event, some, at[warp], arrived, full)
    return at, tuple(warp for warp, some in enumerate(events) if at[warp] < len(some))


def _take_turn(event: BarrierEvent, some: list[BarrierEvent], following: int, arrived: Counter[int], full: Counter[int]) -> None:
    """Say for how many arrivals a warp waits that has arrived in a turn of a barrier; `full` are those of the turns before."""
    end = full[event.barrier] + event.turn
    if following < len(some) and some[following].act is BarrierAction.TURN:
        some[following] = some[following]._replace(act=BarrierAction.WAIT, arrivals=end)
    if arrived[event.barrier] >= end:
        full[event.barrier] = end


def _gap(event: BarrierEvent, warp: int, names: Mapping[int, _Key]) -> Gap:
    kind, where = names[event.barrier]
    which = f"the barrier at 0x{where:x} of shared memory" if kind == "mbarrier" else f"{kind} {where}"
    return Gap(
        event.address,
        "unmatched-wait",
        f"warp {warp} waits here for arrival {event.arrivals} at {which}, and no warp of its block makes it",
    )
