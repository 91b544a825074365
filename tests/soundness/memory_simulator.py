"""Launches on a small GPU with queues before L2, DRAM and atomic units: what the bound of a grid with the memory of its GPU is held to.

Written apart from `sassan.ipet`. Times are in ticks, `Gpu.ticks` to a cycle of the SMs, so that a sector may take 3/2 cycles. Latencies are
drawn at or below the worst; who goes first is drawn, or is never the block that is followed; nothing is idle that could work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Compute:
    """Keeps one of the units of its kind for `interval` cycles; its result is there after `latency`."""

    unit: int
    interval: int
    latency: int


@dataclass(frozen=True, slots=True)
class Access:
    """Keeps the two stages of the memory pipeline for `lookup` and `transfer` cycles, then moves its sectors; the rest takes `latency`.

    `spare` are pieces of 32 bytes that DRAM gives beside the sectors; `atomics` how many operations it does on each address,
    each of which keeps the unit of its address for `operation` times as long as the cheapest one; `parts` are those of the sectors that
    it stores in part.
    """

    lookup: int
    transfer: int
    sectors: tuple[int, ...]
    latency: int
    spare: int = 0
    writes: bool = False
    atomics: tuple[tuple[int, int], ...] = ()
    operation: int = 1
    parts: tuple[int, ...] = ()

    @property
    def cycles(self) -> int:
        """For how long it keeps the memory pipeline."""
        return max(self.lookup, self.transfer)


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until all but the last `left` of the operations before it have ended, as scoreboards do."""

    left: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """Waits for all warps of the block that have not ended."""


Operation = Compute | Access | Wait | Barrier
Path = tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """The hardware: `units` are how many of each kind an SM has; `sector`, `piece` what 32 bytes of L2 and of DRAM take, in ticks.

    `queued`: a warp goes on while its access waits for the memory pipeline; else it issues none before that is free. `drains`: a barrier
    waits for all that its warp issued. `early`: a block leaves its place when its warps have issued all, else when all has ended.
    `caches`: L2 keeps every sector. `overlaps`: an access is in both stages of the memory pipeline at once; `in_order`: its data come back
    through the second stage in the order of accesses, else whenever they are there. `rounded`: latencies hold what is lost to whole cycles.
    `slices`: how many atomic units L2 has, each for some addresses.
    `most_room`: a block goes to an SM that holds the fewest, else to any with a free place.
    `eager`: what is stored goes to DRAM as soon as that has nothing else to do, else at any time. `dispatch`: cycles from one block to the
    next that is given to any SM.
    """

    sms: int
    places: int
    issue: int
    units: tuple[int, ...]
    ticks: int
    sector: int
    piece: int
    atomic: int
    slices: int = 3
    queued: bool = False
    drains: bool = True
    early: bool = False
    caches: bool = False
    overlaps: bool = True
    in_order: bool = True
    rounded: bool = True
    eager: bool = True
    most_room: bool = True
    dispatch: int = 0


@dataclass(eq=False, slots=True)
class _Block:
    number: int
    warps: list[_Warp] = field(default_factory=list["_Warp"])


@dataclass(eq=False, slots=True)
class _Warp:
    path: Path
    block: _Block
    victim: bool
    place: int = 0
    may_issue: int = 0
    ended: list[bool] = field(default_factory=list[bool])

    @property
    def exited(self) -> bool:
        return self.place == len(self.path)


@dataclass(eq=False, slots=True)
class _Sm:
    units: list[list[int]]
    pipeline: list[int]
    port: _Server
    blocks: list[_Block] = field(default_factory=list[_Block])


class _Server:
    """Serves one job after the other, in any order, and is never idle while one waits."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._waiting: list[tuple[bool, int, Callable[[], None]]] = []
        self._busy = False

    @property
    def waiting(self) -> int:
        """Return how many jobs wait."""
        return len(self._waiting)

    def put(self, ticks: int, done: Callable[[], None], *, victim: bool = False) -> None:
        self._waiting.append((victim, ticks, done))
        if not self._busy:
            self._busy = True
            self._launch.after(0, self._next)

    def _next(self) -> None:
        self._busy = bool(self._waiting)
        if self._busy:
            job = self._launch.choose(self._waiting, lambda waiting: waiting[0])
            self._waiting.remove(job)
            self._launch.after(job[1], lambda: self._serve(job[2]))

    def _serve(self, done: Callable[[], None]) -> None:
        done()
        self._next()


class Launch:
    """One execution of a grid: `paths` are those of the warps of each block, `victim` the block that always goes last, -1 for none.

    `worst`: all latencies are as long as they may be. `hits`: the share of sectors that L2 happens to hold.
    """

    def __init__(  # noqa: PLR0913 - what is drawn of a launch
        self, gpu: Gpu, paths: Sequence[Sequence[Path]], random: Random, *, victim: int = -1, worst: bool = False, hits: float = 0
    ) -> None:
        self.now = 0
        self._gpu, self._random, self._worst, self._hits = gpu, random, worst, hits
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._l2, self._dram = _Server(self), _Server(self)
        self._atomic_units: dict[int, _Server] = {}
        self._fetched: dict[int, list[Callable[[], None]] | None] = {}
        self._dirty: set[int] = set()
        self._sms = [_Sm([[0] * count for count in gpu.units], [0, 0], _Server(self)) for _ in range(gpu.sms)]
        self._waiting = [_Block(number) for number in range(len(paths))]
        for block, every in zip(self._waiting, paths, strict=True):
            block.warps = [_Warp(path, block, block.number == victim) for path in every]
        self._open = Counter[int]()
        self._last = 0
        self._may_dispatch = 0

    def after(self, ticks: int, event: Callable[[], None]) -> None:
        """Let something happen in so many ticks."""
        self._count += 1
        heappush(self._events, (self.now + ticks, self._count, event))

    def choose(self, some: Sequence[T], last: Callable[[T], bool]) -> T:
        """Return any of `some`, one for which `last` holds only where there is no other."""
        return self._random.choice([each for each in some if not last(each)] or some)

    def run(self) -> int:
        """Return after how many cycles all that was issued has ended."""
        while self._unfinished:
            self._happen()
            if self.now % self._gpu.ticks == 0:
                self._dispatch()
                if sum(self._issue(sm) for sm in self._sms):
                    self.after(self._gpu.ticks, _nothing)
                self._happen()
            if not self._events and self._unfinished:
                raise AssertionError("the launch stands still")
            if self._events:
                self.now = self._events[0][0]
        return self._last // self._gpu.ticks

    @property
    def _unfinished(self) -> bool:
        return bool(self._waiting or self._open) or any(sm.blocks for sm in self._sms)

    def _happen(self) -> None:
        while self._events and self._events[0][0] <= self.now:
            heappop(self._events)[2]()

    def _dispatch(self) -> None:
        for sm in self._sms:
            sm.blocks = [block for block in sm.blocks if not self._over(block)]
        while self._waiting and self._may_dispatch <= self.now:
            free = [sm for sm in self._sms if len(sm.blocks) < self._gpu.places]
            if not free:
                return
            fewest = min(len(sm.blocks) for sm in free)
            with_room = [sm for sm in free if len(sm.blocks) == fewest or not self._gpu.most_room]
            # A block that is given out takes its time, then it is there.
            chosen, block = self._random.choice(with_room), self._waiting.pop(0)
            ticks = self._gpu.dispatch * self._gpu.ticks
            for warp in block.warps:
                warp.may_issue = self.now + ticks
            chosen.blocks.append(block)
            if ticks:
                self._may_dispatch = self.now + ticks
                self.after(ticks, _nothing)

    def _over(self, block: _Block) -> bool:
        for warp in block.warps:
            self._pass(warp)
        exited = all(warp.exited and warp.may_issue <= self.now for warp in block.warps)
        return exited and (self._gpu.early or not self._open[block.number])

    def _issue(self, sm: _Sm) -> int:
        """Issue as much as may be in this cycle; return how many instructions."""
        warps = [warp for block in sm.blocks for warp in block.warps]
        for number in range(self._gpu.issue):
            for warp in warps:
                self._pass(warp)
            ready = [warp for warp in warps if self._ready(sm, warp)]
            if not ready:
                return number
            self._start(sm, self.choose(ready, lambda warp: warp.victim))
        return self._gpu.issue

    def _ready(self, sm: _Sm, warp: _Warp) -> bool:
        if warp.exited or warp.may_issue > self.now:
            return False
        match warp.path[warp.place]:
            case Compute(unit):
                return min(sm.units[unit]) <= self.now
            case Access():
                return self._gpu.queued or sm.pipeline[0] <= self.now
            case _:
                return False

    def _pass(self, warp: _Warp) -> None:
        """Let a warp pass what it need not wait for any more."""
        self._pass_waits(warp)
        while not warp.exited and isinstance(warp.path[warp.place], Barrier) and all(self._arrived(other) for other in warp.block.warps):
            for other in warp.block.warps:
                other.place += not other.exited
            self._pass_waits(warp)

    def _arrived(self, warp: _Warp) -> bool:
        self._pass_waits(warp)
        at_barrier = not warp.exited and isinstance(warp.path[warp.place], Barrier)
        return warp.exited or (at_barrier and warp.may_issue <= self.now and (not self._gpu.drains or all(warp.ended)))

    def _pass_waits(self, warp: _Warp) -> None:
        while not warp.exited:
            match warp.path[warp.place]:
                case Wait(left) if all(warp.ended[: max(len(warp.ended) - left, 0)]):
                    warp.place += 1
                case _:
                    return

    def _start(self, sm: _Sm, warp: _Warp) -> None:
        operation, number = warp.path[warp.place], len(warp.ended)
        warp.place += 1
        warp.may_issue = self.now + self._gpu.ticks
        warp.ended.append(False)
        self._open[warp.block.number] += 1

        def end() -> None:
            # Results count from a whole cycle of the SM.
            self.after(-self.now % self._gpu.ticks, lambda: self._end(warp, number))

        if isinstance(operation, Compute):
            units = sm.units[operation.unit]
            units[units.index(min(units))] = self.now + operation.interval * self._gpu.ticks
            self.after(operation.interval * self._gpu.ticks, _nothing)
            latency = operation.latency if self._worst else self._random.randint(1, operation.latency)
            self.after(max(latency, operation.interval) * self._gpu.ticks, end)
        else:
            assert isinstance(operation, Access)
            self._enter(sm, warp, operation, end)

    def _end(self, warp: _Warp, number: int) -> None:
        warp.ended[number] = True
        self._open[warp.block.number] -= 1
        self._open = +self._open
        self._last = max(self._last, self.now)

    def _enter(self, sm: _Sm, warp: _Warp, access: Access, end: Callable[[], None]) -> None:
        """Lead an access through the memory pipeline of its SM."""
        gpu = self._gpu
        lookup, transfer = access.lookup * gpu.ticks, access.transfer * gpu.ticks
        first = max(self.now, sm.pipeline[0])
        sm.pipeline[0] = first + lookup
        if not gpu.in_order:
            beyond = end
            self.after(
                sm.pipeline[0] - self.now, lambda: self._move(warp, access, lambda: sm.port.put(transfer, beyond, victim=warp.victim))
            )
            return
        sm.pipeline[1] = max(max(first if gpu.overlaps else sm.pipeline[0], sm.pipeline[1]) + transfer, sm.pipeline[0])
        self.after(sm.pipeline[1] - self.now, lambda: self._move(warp, access, end))
        self.after(sm.pipeline[0] - self.now, _nothing)

    def _move(self, warp: _Warp, access: Access, end: Callable[[], None]) -> None:
        """Move the sectors of an access through L2 and DRAM, let L2 do its atomic operations, and bring back the result."""
        gpu = self._gpu
        held = (gpu.ticks - 1 if gpu.rounded else 0) + (gpu.sector + gpu.piece if access.sectors else 0)
        latency = access.latency * gpu.ticks - held
        rest = latency if self._worst else self._random.randint(0, latency)
        there, middle = sorted((self._random.randint(0, rest), self._random.randint(0, rest)))
        left = len(access.sectors)

        def one_there() -> None:
            nonlocal left
            left -= 1
            if not left:
                self._operate(warp, access, lambda: self.after(rest - middle, end))

        if not access.sectors:
            self.after(rest, end)

        def served(sector: int) -> None:
            self._look_up(warp, access, sector, lambda: self.after(middle - there, one_there))

        for sector in access.sectors:
            self.after(there, lambda s=sector: self._l2.put(self._gpu.sector, lambda: served(s), victim=warp.victim))

    def _look_up(self, warp: _Warp, access: Access, sector: int, done: Callable[[], None]) -> None:
        """Bring a sector into L2, where it is read and not there; some time later, DRAM takes what is written."""
        reads = not access.writes or bool(access.atomics) or sector in access.parts
        if access.writes and not (self._gpu.caches and sector in self._dirty):
            self._dirty.add(sector)
            late = 0 if self._gpu.eager else self._random.randint(0, 40 * self._gpu.ticks)
            self.after(late, lambda: self._dram.put(self._gpu.piece, _nothing))
        if self._gpu.caches:
            self._fetch_once(warp, sector, done, reads=reads)
            return
        if not reads or self._random.random() < self._hits:
            done()
            return
        self._dram.put(self._gpu.piece, done, victim=warp.victim)
        if sector == access.sectors[0]:
            for _ in range(access.spare):
                self._dram.put(self._gpu.piece, _nothing)

    def _fetch_once(self, warp: _Warp, sector: int, done: Callable[[], None], *, reads: bool) -> None:
        if not reads:
            self._fetched.setdefault(sector, None)
            done()
        elif sector not in self._fetched:
            self._fetched[sector] = [done]
            self._dram.put(self._gpu.piece, lambda: self._hold(sector), victim=warp.victim)
        elif (waiting := self._fetched[sector]) is not None:
            waiting.append(done)
        else:
            done()

    def _hold(self, sector: int) -> None:
        waiting, self._fetched[sector] = self._fetched[sector], None
        for done in waiting or ():
            done()

    def _operate(self, warp: _Warp, access: Access, done: Callable[[], None]) -> None:
        """Let the atomic units of its addresses do the operations of one access together."""
        left = len(access.atomics)
        if not left:
            done()

        def one_done() -> None:
            nonlocal left
            left -= 1
            if not left:
                done()

        for address, count in access.atomics:
            unit = self._atomic_units.setdefault(address % self._gpu.slices, _Server(self))
            unit.put(count * access.operation * self._gpu.atomic * self._gpu.ticks, one_done, victim=warp.victim)


def _nothing() -> None:
    """Only a time at which to look again."""
