"""One warp on one scheduler, issue by issue: what `control` bounds.

Written apart from `sassan.timing.control*`: control codes are decoded here, a barrier is a counter that goes up when an instruction sets it
and down when that has ended, a unit is busy for a while after each issue, and nothing is known of residuals. The tables say how long things
may take; how long each takes is drawn anew. Sides of a divergence share barriers and units, and take turns at random.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from sassan.ir import Instruction
from sassan.timing.rates import Rates

WORST, ANY, EXTREME = "worst", "any", "extreme"
DRAWS = (WORST, ANY, EXTREME)
"""How times are drawn: all as long as they may be; anything up to that; the longest or 1."""


@dataclass(frozen=True)
class Step:
    """An instruction: its code, and how long things may take at most."""

    stall: int
    write: int
    read: int
    mask: int
    counted: tuple[tuple[int, int], ...]
    unit: str
    interval: int
    ends: int
    reads: int
    blocks: bool
    drains: bool


def step(one: Instruction, rates: Rates) -> Step:
    code = one.control
    kind = rates.kind(one.opcode)
    return Step(
        stall=code & 0xF,
        write=code >> 5 & 7,
        read=code >> 8 & 7,
        mask=code >> 11 & 63,
        counted=tuple(counted(one.text)),
        unit=rates.unit(one.opcode),
        interval=rates.interval(one.opcode),
        ends=rates.cycles(one.opcode),
        reads=rates.reading(one.opcode),
        blocks=kind.blocks,
        drains=kind.drains,
    )


def counted(text: str) -> Iterable[tuple[int, int]]:
    """From the words of `DEPBAR.LE SB0, 0x2, {4,3}`: barrier 0 down to 2, the others to 0."""
    if "DEPBAR" not in text or "LDGDEPBAR" in text:
        return
    if found := re.search(r"SB(\d), 0x(\d+)", text):
        yield int(found[1]), int(found[2], 16)
    if found := re.search(r"\{([\d,]+)\}", text):
        for digit in found[1].split(","):
            yield int(digit), 0


class Scheduler:
    """What the sides of a warp share; `together`: a stall of 0 issues two instructions in one cycle.

    `drains`: a block barrier and a fence wait for all earlier instructions and their units. Nobody says that they do. `queues`: an
    instruction whose unit is busy issues all the same, and begins when the unit takes it.
    """

    def __init__(self, random: Random, draw: str, *, together: bool, drains: bool, queues: bool = False) -> None:
        self.now = 0
        self._queues = queues
        self.ended = 0
        self._drains = drains
        self._random = random
        self._draw = draw
        self._together = together
        self._counters = [0] * 6
        self._busy: dict[str, int] = {}
        self._events: list[tuple[int, int]] = []

    def drawn(self, longest: int, least: int = 1) -> int:
        if self._draw == WORST or longest <= least:
            return longest
        return self._random.randint(least, longest) if self._draw == ANY else self._random.choice((least, longest))

    def ready(self, one: Step) -> bool:
        while self._events and self._events[0][0] <= self.now:
            _, barrier = heappop(self._events)
            if barrier >= 0:
                self._counters[barrier] -= 1
        if any(self._counters[barrier] for barrier in range(6) if one.mask >> barrier & 1):
            return False
        if any(self._counters[barrier] > most for barrier, most in one.counted):
            return False
        return (self._queues or self._busy.get(one.unit, 0) <= self.now) and not (one.drains and self._drains and self._events)

    def issue(self, one: Step) -> int:
        """Issue now; return when the next instruction of the side may issue."""
        begin = max(self.now, self._busy.get(one.unit, 0))
        end = begin + self.drawn(one.ends)
        self.ended = max(self.ended, end)
        heappush(self._events, (end, -1))
        if one.write < 6:
            self._counters[one.write] += 1
            heappush(self._events, (end, one.write))
        if one.read < 6:
            self._counters[one.read] += 1
            heappush(self._events, (begin + self.drawn(one.reads), one.read))
        self._busy[one.unit] = begin + self.drawn(one.interval)
        heappush(self._events, (self._busy[one.unit], -1))
        stall = one.stall if self._together else max(one.stall, 1)
        return begin + self.drawn(max(stall, one.ends), stall) if one.blocks else self.now + stall

    def wait(self, *times: int) -> None:
        """Let time pass to the next moment at which something may change."""
        later = [at for at in (*times, *self._busy.values(), *(self._events[0][:1] if self._events else ())) if at > self.now]
        self.now = min(later)

    @property
    def rest(self) -> int:
        """When all that was issued has ended, and every unit is free."""
        return max((at for at, _ in self._events), default=0)


def in_order(machine: Scheduler, block: Sequence[Step], enter: int) -> int:
    """Run a block that may be entered at `enter`; return when the next one may be."""
    for one in block:
        machine.now = max(machine.now, enter)
        while not machine.ready(one):
            machine.wait()
        enter = machine.issue(one)
    return enter


def in_turns(machine: Scheduler, sides: Sequence[Sequence[Step]], enter: int, random: Random) -> int:
    """Run sides that take turns at random, one instruction per cycle, never idle while one is ready; return when all may go on."""
    places = [0] * len(sides)
    may = [enter] * len(sides)
    machine.now = max(machine.now, enter)
    while left := [side for side, steps in enumerate(sides) if places[side] < len(steps)]:
        ready = [side for side in left if may[side] <= machine.now and machine.ready(sides[side][places[side]])]
        if not ready:
            machine.wait(*(may[side] for side in left))
            continue
        side = random.choice(ready)
        may[side] = machine.issue(sides[side][places[side]])
        places[side] += 1
        machine.now += 1
    return max(may)
