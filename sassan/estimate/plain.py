"""The simulation of one SM in its plainest form, cycle by cycle: what the compiled one is held to.

In every cycle each scheduler issues one instruction of one of its warps, which it takes by its policy. A warp may issue when the stall of
its last instruction has passed, the barriers that it waits for are clear, its unit is free, and the memory pipeline takes an access. An
access passes the queues of the pipeline, of L2 and of DRAM, and then takes its latency.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.errors import SelfCheckError
from sassan.estimate.policy import Policy
from sassan.estimate.program import BINS, TICK, RowField, SimulatedRun, Sm, Stall, WarpProgram, drawn
from sassan.estimate.roles.phases import BarrierAction
from sassan.isa.control import BARRIERS

_LONGEST = 10_000_000
"""Cycles after which warps are taken to wait for each other for ever."""


@dataclass(slots=True)
class _Warp:
    """A place for a warp: `visit` and `row` are where it is, `ready` when it may issue, as far as that depends on the warp alone."""

    place: int
    scheduler: int
    number: int
    age: int = 0
    visit: int = 0
    row: int = 0
    ready: int = 0
    issued: int = 0
    ends: int = 0
    runs: bool = False
    waits: bool = False
    clear: list[tuple[int, int, int]] = field(default_factory=lambda: [(0, 0, 0)] * BARRIERS)
    """Of each barrier: when it is clear, the stall of who waits for it, and whether that time is assumed."""
    event: int = 0
    earliest: int = 0
    """Until when events keep it."""
    wait: tuple[int, int, int] | None = None
    """The row of the event that it waits at, its barrier, and for how many arrivals."""
    engine: int = 0
    groups: list[int] = field(default_factory=list[int])
    """The ends of its groups of products."""


class _Simulation:
    """The state of an SM."""

    def __init__(self, program: WarpProgram, sm: Sm) -> None:
        """Start with empty places."""
        self.program, self.sm = program, sm
        self.warps = [_Warp(w // sm.block_warps, w % sm.schedulers, w) for w in range(sm.places * sm.block_warps)]
        self.free: dict[tuple[int, int], int] = {}
        self.queues = {RowField.PIPELINE: 0, RowField.L2: 0, RowField.DRAM: 0}
        self.last = [-1] * sm.schedulers
        self.over = [0] * sm.places
        self.counts: list[dict[int, int]] = [{} for _ in range(sm.places)]
        self.open_from: list[dict[int, int]] = [{} for _ in range(sm.places)]
        self.begun = self.active = self.now = self.finish = 0
        self.clock = self.resident = self.tail = 0.0
        self.assumed = np.zeros(len(program.rows))
        self.dispatched = np.zeros(sm.blocks)
        self.notes: list[tuple[int, int, int]] = []
        self.stalls = np.zeros((len(program.rows), len(Stall)))

    def run(self) -> SimulatedRun:
        """Run all blocks."""
        for place in range(min(self.sm.places, self.sm.blocks)):
            self.begin(place, 0, 0.0)
        cycle = 0
        while self.active:
            for scheduler in range(self.sm.schedulers):
                warp = self.choose(scheduler, cycle)
                if warp is not None:
                    self.issue(warp, cycle)
            cycle += 1
            if cycle > _LONGEST:
                raise SelfCheckError("deadlock", "the simulated warps wait for each other")
        clock = self.clock + (self.finish - self.now)
        return SimulatedRun(clock, self.finish, self.dispatched, self.stalls, self.resident, self.tail, self.assumed, *self.timeline())

    def timeline(self) -> tuple[npt.NDArray[np.int64], int]:
        """Return the timeline, and the cycles of each of its pieces."""
        width = 1
        while max(cycle for cycle, _, _ in self.notes) >= BINS * width:
            width *= 2
        out = np.zeros((BINS, self.sm.schedulers + len(self.program.shared) + len(self.queues) + 1), np.int64)
        for cycle, column, amount in self.notes:
            out[cycle // width, column] += amount
        return out, width

    def of(self, place: int) -> list[_Warp]:
        """Return the warps of a place."""
        return [warp for warp in self.warps if warp.place == place]

    def begin(self, place: int, start: int, clock: float) -> None:
        """Begin the next block on a place."""
        self.dispatched[self.begun] = clock
        self.over[place], self.counts[place], self.open_from[place] = 0, {}, {}
        for index, warp in enumerate(self.of(place)):
            warp.visit, _, warp.event, _ = self.path(warp)
            warp.runs, warp.waits, warp.ends, warp.ready = True, False, 0, start
            warp.earliest, warp.wait, warp.engine, warp.groups = 0, None, 0, []
            warp.row, warp.age = int(self.program.starts[self.program.nodes[warp.visit]]), self.begun * self.sm.block_warps + index
            warp.clear = [(0, 0, 0)] * BARRIERS
        self.begun += 1
        self.active += self.sm.block_warps
        self.notes.append((start, -1, self.sm.block_warps))

    def path(self, warp: _Warp) -> list[int]:
        """Return the first visit of a warp, the one behind its last, and the same of its events."""
        return [int(each) for each in self.program.paths[warp.number % self.sm.block_warps % len(self.program.paths)]]

    def unit(self, warp: _Warp) -> tuple[int, int]:
        """Return the unit of the next instruction of a warp: that of all schedulers, or of its own."""
        unit = self.row(warp)[RowField.UNIT]
        return (-1 if self.program.shared[unit] else warp.scheduler), unit

    def row(self, warp: _Warp) -> list[int]:
        """Return the next instruction of a warp."""
        return [int(value) for value in self.program.rows[warp.row]]

    def weight(self, warp: _Warp) -> float:
        """Return what a cycle of a warp counts."""
        return float(self.program.weights[warp.visit])

    def free_at(self, warp: _Warp) -> tuple[int, int]:
        """Return until when its unit, and until when the memory pipeline keeps a warp back."""
        unit = 0 if self.row(warp)[RowField.QUEUED] else self.free.get(self.unit(warp), 0)
        full = (self.queues[RowField.PIPELINE] - self.sm.backlog) // TICK if self.row(warp)[RowField.PIPELINE] else 0
        return max(warp.ready, unit), full

    def choose(self, scheduler: int, cycle: int) -> _Warp | None:
        """Return the warp that a scheduler takes."""
        able = [warp for warp in self.warps if warp.scheduler == scheduler and warp.runs and not warp.waits and not warp.wait]
        able = [warp for warp in able if max(self.free_at(warp)) <= cycle]
        last = self.last[scheduler]
        if self.sm.policy is Policy.ROUND_ROBIN:
            return min(able, key=lambda warp: (warp.number - last - 1) % len(self.warps), default=None)
        stays = self.sm.policy is Policy.GREEDY
        return min(able, key=lambda warp: (not stays or warp.number != last, warp.age), default=None)

    def issue(self, warp: _Warp, cycle: int) -> None:
        """Issue the next instruction of a warp."""
        row, at, weight = self.row(warp), warp.row, self.weight(warp)
        step = (cycle - self.now) * weight
        self.clock += step
        self.resident += step * self.active
        if self.begun == self.sm.blocks:
            self.tail += step * (len(self.warps) - self.active) / self.sm.block_warps
        self.now = cycle
        unit, full = self.free_at(warp)
        self.stalls[at, Stall.MATH_PIPE_THROTTLE] += (unit - warp.ready) * weight
        queued = max(unit, min(cycle, full))
        self.stalls[at, Stall.MIO_THROTTLE] += (queued - unit) * weight
        self.stalls[at, Stall.NOT_SELECTED] += (cycle - queued) * weight
        self.stalls[at, Stall.SELECTED] += weight
        self.last[warp.scheduler] = warp.number
        begins = max(cycle, self.free.get(self.unit(warp), 0))
        self.free[self.unit(warp)] = begins + row[RowField.INTERVAL]
        self.notes += [(cycle, warp.scheduler, 1), (cycle, self.sm.schedulers + row[RowField.UNIT], row[RowField.INTERVAL])]
        taken, late = self.access(row, cycle)
        end, read = begins + row[RowField.WRITTEN] + late, cycle + row[RowField.READ] + taken
        self.finish, warp.ends = max(self.finish, end), max(warp.ends, end)
        for barrier, clear in ((row[RowField.WRITES], end), (row[RowField.READS], read)):
            if barrier >= 0 and clear > warp.clear[barrier][0]:
                warp.clear[barrier] = clear, row[RowField.WHY], row[RowField.ASSUMED]
        if row[RowField.QUEUED]:
            warp.engine = max(warp.engine, end)
        if row[RowField.GROUPS]:
            warp.groups.append(end)
        if 0 < row[RowField.LEFT] <= len(warp.groups):
            warp.earliest = max(warp.earliest, warp.groups[-row[RowField.LEFT]])
        self.meet(warp, at, cycle, end)
        self.step(warp, row, cycle, weight)

    def meet(self, warp: _Warp, at: int, cycle: int, end: int) -> None:
        """Do what a warp does at barriers of its block with an instruction."""
        counts, open_from = self.counts[warp.place], self.open_from[warp.place]
        while warp.event < self.path(warp)[3]:
            visit, row, act, barrier, count = (int(each) for each in self.program.events[warp.event])
            if (visit, row) > (warp.visit, at):
                return
            warp.event += 1
            if act == BarrierAction.WAIT:
                if counts.get(barrier, 0) < count:
                    warp.wait = row, barrier, count
                    return
                warp.earliest = max(warp.earliest, open_from[barrier] + self.sm.phase)
                continue
            comes = {BarrierAction.COPY: max(end, warp.ends), BarrierAction.COMMIT: max(cycle + 1, warp.engine)}.get(
                BarrierAction(act), cycle + 1
            )
            counts[barrier] = counts.get(barrier, 0) + count
            open_from[barrier] = max(open_from.get(barrier, 0), comes)
            self.awake(warp.place)

    def awake(self, place: int) -> None:
        """Let the warps of a block go on for which enough others have arrived."""
        for warp in self.of(place):
            if warp.wait is None or not warp.runs:
                continue
            row, barrier, count = warp.wait
            if self.counts[place].get(barrier, 0) >= count:
                go = max(warp.ready, self.open_from[place][barrier] + self.sm.phase)
                self.stalls[row, Stall.BARRIER] += (go - warp.ready) * self.weight(warp)
                warp.wait = None
                self.arm(warp, go)

    def access(self, row: list[int], cycle: int) -> tuple[int, int]:
        """Return for how long an access waits for the memory pipeline, and for how long for all queues and what is behind them."""
        if not row[RowField.PIPELINE]:
            return 0, 0
        moved, taken = cycle * TICK, 0
        for number, queue in enumerate(self.queues):
            if row[queue]:
                moved = self.queues[queue] = max(self.queues[queue], moved) + row[queue]
                self.notes.append((moved // TICK, self.sm.schedulers + len(self.program.shared) + number, row[queue]))
            if queue is RowField.PIPELINE:
                taken = moved // TICK - cycle
        return taken, moved // TICK - cycle + row[RowField.BEYOND]

    def step(self, warp: _Warp, row: list[int], cycle: int, weight: float) -> None:
        """Go on to the next instruction of a warp, or end it."""
        nodes, starts, at = self.program.nodes, self.program.starts, warp.row
        warp.issued, after = cycle, cycle + row[RowField.STALL]
        warp.row += 1
        if warp.row == starts[nodes[warp.visit] + 1]:
            warp.visit = self.next(warp)
            if warp.visit == self.path(warp)[1]:
                self.end(warp, after, cycle, weight)
                self.open(warp.place, row, cycle)
                return
            warp.row = int(starts[nodes[warp.visit]])
        why = Stall.BRANCH_RESOLVING if row[RowField.BRANCHES] else Stall.WAIT
        self.stalls[warp.row, why] += (after - cycle - 1) * self.weight(warp)
        if row[RowField.BLOCKS]:
            warp.waits = True
            self.open(warp.place, row, cycle)
        elif warp.wait is not None:
            warp.ready = after
        else:
            self.stalls[at, Stall.BARRIER] += max(0, warp.earliest - after) * weight
            self.arm(warp, max(after, warp.earliest))

    def next(self, warp: _Warp) -> int:
        """Return the next visit that a warp makes."""
        behind = self.path(warp)[1]
        visits = range(warp.visit + 1, behind)
        made = (visit for visit in visits if drawn(warp.age, int(self.program.turns[visit])) < self.program.below[visit])
        return next(made, behind)

    def end(self, warp: _Warp, after: int, cycle: int, weight: float) -> None:
        """End a warp, and its block with the last one."""
        place = warp.place
        warp.runs = False
        self.active -= 1
        self.notes.append((cycle, -1, -1))
        over = self.over[place] = max(self.over[place], after, *(clear for clear, _, _ in warp.clear))
        self.finish = max(self.finish, over)
        if not any(each.runs for each in self.of(place)) and self.begun < self.sm.blocks:
            start = over + self.sm.dispatch
            self.begin(place, start, self.clock + (start - cycle) * weight)

    def open(self, place: int, row: list[int], cycle: int) -> None:
        """Let the warps of a block go on where all that run have arrived."""
        running = [warp for warp in self.of(place) if warp.runs]
        if not all(warp.waits for warp in running):
            return
        for warp in running:
            warp.waits = False
            kept = warp.issued + row[RowField.STALL]
            go = max(kept, cycle + self.sm.release)
            self.stalls[warp.row, Stall.BARRIER] += (go - kept) * self.weight(warp)
            self.arm(warp, go)

    def arm(self, warp: _Warp, base: int) -> None:
        """Set when a warp may issue: from `base` on, when the barriers that it waits for are clear."""
        row, until, why, assumed = self.row(warp), base, -1, 0
        for barrier, (clear, reason, doubtful) in enumerate(warp.clear):
            if row[RowField.WAITS] >> barrier & 1 and clear > until:
                until, why, assumed = clear, reason, doubtful
        if row[RowField.DRAINS] and warp.ends > until:
            until, why, assumed = warp.ends, Stall.MEMBAR, 0
        warp.ready = until
        if why >= 0:
            waited = (until - base) * self.weight(warp)
            self.stalls[warp.row, why] += waited
            self.assumed[warp.row] += waited * assumed


def simulate(program: WarpProgram, sm: Sm) -> SimulatedRun:
    """Return how the blocks of an SM run.

    Raises SelfCheckError where warps wait for each other for ever.
    """
    return _Simulation(program, sm).run()
