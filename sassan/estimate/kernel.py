"""The simulation of `plain.py`, event by event and compiled: a scheduler is looked at when one of its warps may issue.

Importing this module imports the compiler. All compiled functions are in this one file: numba's disk cache recompiles a function only when
its own file changes.
"""

from typing import NamedTuple

from sassan.estimate.policy import Policy
from sassan.estimate.program import BINS, GOLDEN, LAST_WORD, ODD, TICK, Figures, Numbers, RowField, Stall
from sassan.estimate.roles.phases import BarrierAction
from sassan.isa.control import BARRIERS
from sassan.jit.decorators import uncounted, uncounted_inner

_STALL, _WAITS, _WRITES, _WRITTEN = int(RowField.STALL), int(RowField.WAITS), int(RowField.WRITES), int(RowField.WRITTEN)
_READS, _READ, _UNIT, _INTERVAL = int(RowField.READS), int(RowField.READ), int(RowField.UNIT), int(RowField.INTERVAL)
_PIPELINE, _BEYOND, _BLOCKS, _DRAINS = int(RowField.PIPELINE), int(RowField.BEYOND), int(RowField.BLOCKS), int(RowField.DRAINS)
_BRANCHES, _WHY, _ASSUMED = int(RowField.BRANCHES), int(RowField.WHY), int(RowField.ASSUMED)
_SELECTED, _WAIT, _RESOLVING, _BARRIER = int(Stall.SELECTED), int(Stall.WAIT), int(Stall.BRANCH_RESOLVING), int(Stall.BARRIER)
_MEMBAR, _MATH, _MIO, _NOT = int(Stall.MEMBAR), int(Stall.MATH_PIPE_THROTTLE), int(Stall.MIO_THROTTLE), int(Stall.NOT_SELECTED)
_OLDEST, _ROUND_ROBIN = (list(Policy).index(each) for each in (Policy.OLDEST, Policy.ROUND_ROBIN))
_NEVER = 1 << 62
_ENDED, _RUNS, _ARRIVED, _AWAITS = 0, 1, 2, 3
_QUEUED, _GROUPS, _LEFT = int(RowField.QUEUED), int(RowField.GROUPS), int(RowField.LEFT)
_COPY, _COMMIT, _WAIT_FOR = int(BarrierAction.COPY), int(BarrierAction.COMMIT), int(BarrierAction.WAIT)
_VISIT, _ROW, _ACT, _AT, _COUNT = range(5)
"""Columns of events."""
_FIRST, _BEHIND, _EVENTS, _NO_EVENT = range(4)
"""Columns of paths."""
GROUPS = 8
"""Groups of products whose ends are known: wgmma.wait_group leaves at most 7 on their way (PTX ISA 8.8)."""
_BEGUN, _ACTIVE, _NOW, FINISH, WIDTH = range(5)
"""Places in `SmState.counters`: blocks begun, warps that run, the cycle of the last issue, the end of accesses, `SimulatedRun.width`."""
_CLOCK, _RESIDENT, _TAIL = range(3)
"""Places in `SmState.totals`: those of `program.SimulatedRun`, weighted."""
QUEUES = 3
"""The memory pipeline, L2, DRAM: their columns stand side by side."""


class ProgramArrays(NamedTuple):
    """A `program.WarpProgram`."""

    rows: Numbers
    starts: Numbers
    nodes: Numbers
    weights: Figures
    shared: Numbers
    below: Numbers
    turns: Numbers
    paths: Numbers
    events: Numbers


class SmParameters(NamedTuple):
    """A `program.Sm`; `policy`: its place in the list of them."""

    schedulers: int
    places: int
    block_warps: int
    blocks: int
    dispatch: int
    release: int
    backlog: int
    policy: int
    phase: int


class WarpArrays(NamedTuple):
    """Per warp: its state, visit, row, when it may issue, when it last did, when its accesses end, its age; when barriers are clear.

    `event`: its next one. `earliest`: until when events keep it; `needed`: the event that it waits at.
    `grouped`: its groups of products; `engine`: the end of what engines have of it; `groups`: the ends of the last groups.
    """

    state: Numbers
    visit: Numbers
    at: Numbers
    ready: Numbers
    issued: Numbers
    ends: Numbers
    age: Numbers
    clear: Numbers
    why: Numbers
    doubt: Numbers
    event: Numbers
    earliest: Numbers
    needed: Numbers
    grouped: Numbers
    engine: Numbers
    groups: Numbers


class SmState(NamedTuple):
    """What the warps share: units and queues, per scheduler when it is looked at and which warp it took, per place its block; results.

    `counts` and `open_from` (places, barriers): how many have arrived at barriers of a block, and when the last of them does.
    """

    free: Numbers
    queues: Numbers
    look: Numbers
    last: Numbers
    live: Numbers
    arrived: Numbers
    over: Numbers
    counters: Numbers
    totals: Figures
    dispatched: Figures
    stalls: Figures
    assumed: Figures
    timeline: Numbers
    counts: Numbers
    open_from: Numbers


class Simulation(NamedTuple):
    """All that a simulation needs."""

    code: ProgramArrays
    shape: SmParameters
    warps: WarpArrays
    state: SmState


@uncounted_inner
def _unit_free(sim: Simulation, w: int) -> int:
    """Return until when its unit keeps a warp back."""
    if sim.code.rows[sim.warps.at[w], _QUEUED]:
        return int(sim.warps.ready[w])
    unit = sim.code.rows[sim.warps.at[w], _UNIT]
    free = sim.state.free[sim.shape.schedulers if sim.code.shared[unit] else w % sim.shape.schedulers, unit]
    return int(max(sim.warps.ready[w], free))


@uncounted_inner
def _full(sim: Simulation, w: int) -> int:
    """Return until when the memory pipeline keeps a warp back."""
    return (sim.state.queues[0] - sim.shape.backlog) // TICK if sim.code.rows[sim.warps.at[w], _PIPELINE] > 0 else 0


@uncounted_inner
def _before(sim: Simulation, last: int, w: int, other: int) -> bool:
    """Say whether a scheduler takes warp `w` rather than another."""
    if sim.shape.policy == _ROUND_ROBIN:
        size = len(sim.warps.state)
        return (w - last - 1) % size < (other - last - 1) % size
    older = sim.warps.age[w] < sim.warps.age[other]
    return older if sim.shape.policy == _OLDEST else w == last or (other != last and older)


@uncounted_inner
def _choose(sim: Simulation, s: int) -> int:
    """Return the warp that a scheduler takes now; -1 for none, and it is looked at again when one may be ready."""
    now, chosen, soonest = sim.state.look[s], -1, _NEVER
    for w in range(s, len(sim.warps.state), sim.shape.schedulers):
        if sim.warps.state[w] != _RUNS or sim.warps.ready[w] >= soonest:
            continue
        may = max(_unit_free(sim, w), _full(sim, w))
        if may > now:
            soonest = min(soonest, may)
        elif chosen < 0 or _before(sim, sim.state.last[s], w, chosen):
            chosen = w
    if chosen < 0:
        sim.state.look[s] = soonest
    return chosen


@uncounted_inner
def _note(sim: Simulation, cycle: int, column: int, amount: int) -> None:
    """Add to a column of the timeline; where it is full, two of its pieces become one."""
    timeline, counters = sim.state.timeline, sim.state.counters
    while cycle >= BINS * counters[WIDTH]:
        counters[WIDTH] *= 2
        for at in range(timeline.shape[1]):
            for piece in range(BINS // 2):
                timeline[piece, at] = timeline[2 * piece, at] + timeline[2 * piece + 1, at]
            for piece in range(BINS // 2, BINS):
                timeline[piece, at] = 0
    timeline[cycle // counters[WIDTH], column] += amount


@uncounted_inner
def _access(sim: Simulation, row: int, now: int) -> tuple[int, int]:
    """Return for how long an access waits for the memory pipeline, and for how long for all queues and what is behind them."""
    if sim.code.rows[row, _PIPELINE] == 0:
        return 0, 0
    moved, taken = now * TICK, 0
    for queue in range(QUEUES):
        work = sim.code.rows[row, _PIPELINE + queue]
        if work > 0:
            moved = max(sim.state.queues[queue], moved) + work
            sim.state.queues[queue] = moved
            _note(sim, moved // TICK, sim.shape.schedulers + len(sim.code.shared) + queue, work)
        if queue == 0:
            taken = moved // TICK - now
    return taken, moved // TICK - now + sim.code.rows[row, _BEYOND]


@uncounted_inner
def _set(sim: Simulation, w: int, row: int, barrier: int, clear: int) -> None:
    """Set a barrier of a warp until a cycle."""
    if barrier >= 0 and clear > sim.warps.clear[w, barrier]:
        sim.warps.clear[w, barrier], sim.warps.why[w, barrier], sim.warps.doubt[w, barrier] = (
            clear,
            sim.code.rows[row, _WHY],
            sim.code.rows[row, _ASSUMED],
        )


@uncounted_inner
def _account(sim: Simulation, w: int, now: int) -> None:
    """Count the time since the last issue, and why this warp did not issue before."""
    row, weight, counters, totals = sim.warps.at[w], sim.code.weights[sim.warps.visit[w]], sim.state.counters, sim.state.totals
    step = (now - counters[_NOW]) * weight
    totals[_CLOCK] += step
    totals[_RESIDENT] += step * counters[_ACTIVE]
    if counters[_BEGUN] == sim.shape.blocks:
        totals[_TAIL] += step * (len(sim.warps.state) - counters[_ACTIVE]) / sim.shape.block_warps
    counters[_NOW] = now
    unit = _unit_free(sim, w)
    sim.state.stalls[row, _MATH] += (unit - sim.warps.ready[w]) * weight
    queued = max(unit, min(now, _full(sim, w)))
    sim.state.stalls[row, _MIO] += (queued - unit) * weight
    sim.state.stalls[row, _NOT] += (now - queued) * weight
    sim.state.stalls[row, _SELECTED] += weight


@uncounted_inner
def _issue(sim: Simulation, w: int, now: int) -> None:
    """Issue the next instruction of a warp."""
    _account(sim, w, now)
    row, s = sim.warps.at[w], w % sim.shape.schedulers
    unit = sim.code.rows[row, _UNIT]
    sim.state.last[s], sim.state.look[s] = w, now + 1
    lanes = sim.shape.schedulers if sim.code.shared[unit] else s
    begins = max(now, sim.state.free[lanes, unit])
    sim.state.free[lanes, unit] = begins + sim.code.rows[row, _INTERVAL]
    _note(sim, now, s, 1)
    _note(sim, now, sim.shape.schedulers + unit, sim.code.rows[row, _INTERVAL])
    taken, late = _access(sim, row, now)
    end = begins + sim.code.rows[row, _WRITTEN] + late
    if sim.code.rows[row, _QUEUED]:
        sim.warps.engine[w] = max(sim.warps.engine[w], end)
    sim.state.counters[FINISH] = max(sim.state.counters[FINISH], end)
    sim.warps.ends[w] = max(sim.warps.ends[w], end)
    _set(sim, w, row, sim.code.rows[row, _WRITES], end)
    _set(sim, w, row, sim.code.rows[row, _READS], now + sim.code.rows[row, _READ] + taken)
    if sim.code.rows[row, _GROUPS]:
        sim.warps.groups[w, sim.warps.grouped[w] % GROUPS] = end
        sim.warps.grouped[w] += 1
    if 0 < sim.code.rows[row, _LEFT] <= sim.warps.grouped[w]:
        last = sim.warps.grouped[w] - sim.code.rows[row, _LEFT]
        sim.warps.earliest[w] = max(sim.warps.earliest[w], sim.warps.groups[w, last % GROUPS])
    waits = _meet(sim, w, row, now, end)
    _step(sim, w, now, waits)


@uncounted_inner
def _meet(sim: Simulation, w: int, row: int, now: int, end: int) -> bool:
    """Do what a warp does at barriers of its block with an instruction, and return whether it waits there."""
    path = sim.code.paths[w % sim.shape.block_warps % len(sim.code.paths)]
    place = w // sim.shape.block_warps
    while sim.warps.event[w] < path[_NO_EVENT]:
        event = sim.code.events[sim.warps.event[w]]
        if event[_VISIT] > sim.warps.visit[w] or (event[_VISIT] == sim.warps.visit[w] and event[_ROW] > row):
            return False
        sim.warps.event[w] += 1
        at = event[_AT]
        if event[_ACT] == _WAIT_FOR:
            if sim.state.counts[place, at] < event[_COUNT]:
                sim.warps.needed[w] = sim.warps.event[w] - 1
                return True
            sim.warps.earliest[w] = max(sim.warps.earliest[w], sim.state.open_from[place, at] + sim.shape.phase)
            continue
        comes = now + 1
        if event[_ACT] == _COPY:
            comes = max(end, sim.warps.ends[w])
        elif event[_ACT] == _COMMIT:
            comes = max(comes, sim.warps.engine[w])
        sim.state.counts[place, at] += event[_COUNT]
        sim.state.open_from[place, at] = max(sim.state.open_from[place, at], comes)
        _awake(sim, place)
    return False


@uncounted_inner
def _awake(sim: Simulation, place: int) -> None:
    """Let the warps of a block go on for which enough others have arrived."""
    for w in range(place * sim.shape.block_warps, (place + 1) * sim.shape.block_warps):
        if sim.warps.state[w] != _AWAITS:
            continue
        event = sim.code.events[sim.warps.needed[w]]
        if sim.state.counts[place, event[_AT]] >= event[_COUNT]:
            opened = sim.state.open_from[place, event[_AT]] + sim.shape.phase
            sim.warps.state[w] = _RUNS
            kept = sim.warps.ready[w]
            go = max(kept, opened)
            sim.state.stalls[event[_ROW], _BARRIER] += (go - kept) * sim.code.weights[sim.warps.visit[w]]
            _arm(sim, w, go)
            sim.state.look[w % sim.shape.schedulers] = min(sim.state.look[w % sim.shape.schedulers], sim.warps.ready[w])


@uncounted_inner
def _step(sim: Simulation, w: int, now: int, waits: bool) -> None:
    """Go on to the next instruction of a warp, or end it."""
    row, weight, place = sim.warps.at[w], float(sim.code.weights[sim.warps.visit[w]]), w // sim.shape.block_warps
    after = now + sim.code.rows[row, _STALL]
    sim.warps.issued[w] = now
    sim.warps.at[w] += 1
    if sim.warps.at[w] == sim.code.starts[sim.code.nodes[sim.warps.visit[w]] + 1]:
        sim.warps.visit[w] = _next(sim, w)
        if sim.warps.visit[w] == sim.code.paths[w % sim.shape.block_warps % len(sim.code.paths), _BEHIND]:
            _end(sim, w, after, now, weight)
            _open(sim, place, row, now)
            return
        sim.warps.at[w] = sim.code.starts[sim.code.nodes[sim.warps.visit[w]]]
    weight = sim.code.weights[sim.warps.visit[w]]
    sim.state.stalls[sim.warps.at[w], _RESOLVING if sim.code.rows[row, _BRANCHES] else _WAIT] += (after - now - 1) * weight
    if sim.code.rows[row, _BLOCKS]:
        sim.warps.state[w] = _ARRIVED
        sim.state.arrived[place] += 1
        _open(sim, place, row, now)
    elif waits:
        sim.warps.state[w], sim.warps.ready[w] = _AWAITS, after
    else:
        earliest = sim.warps.earliest[w]
        if earliest > after:
            sim.state.stalls[row, _BARRIER] += (earliest - after) * weight
        _arm(sim, w, max(after, earliest))


@uncounted_inner
def _next(sim: Simulation, w: int) -> int:
    """Return the next visit that a warp makes (`program.drawn`)."""
    visit, behind = sim.warps.visit[w] + 1, sim.code.paths[w % sim.shape.block_warps % len(sim.code.paths), _BEHIND]
    while visit < behind:
        if (sim.warps.age[w] * GOLDEN + sim.code.turns[visit] * ODD) & LAST_WORD < sim.code.below[visit]:
            break
        visit += 1
    return int(visit)


@uncounted_inner
def _end(sim: Simulation, w: int, after: int, now: int, weight: float) -> None:
    """End a warp, and its block with the last one."""
    place = w // sim.shape.block_warps
    sim.warps.state[w] = _ENDED
    sim.state.counters[_ACTIVE] -= 1
    sim.state.live[place] -= 1
    _note(sim, now, sim.state.timeline.shape[1] - 1, -1)
    sim.state.over[place] = max(sim.state.over[place], after)
    for barrier in range(BARRIERS):
        sim.state.over[place] = max(sim.state.over[place], sim.warps.clear[w, barrier])
    sim.state.counters[FINISH] = max(sim.state.counters[FINISH], sim.state.over[place])
    if sim.state.live[place] == 0 and sim.state.counters[_BEGUN] < sim.shape.blocks:
        start = sim.state.over[place] + sim.shape.dispatch
        _begin(sim, place, start, sim.state.totals[_CLOCK] + (start - now) * weight)


@uncounted_inner
def _begin(sim: Simulation, place: int, start: int, clock: float) -> None:
    """Begin the next block on a place."""
    begun, size = sim.state.counters[_BEGUN], sim.shape.block_warps
    sim.state.dispatched[begun] = clock
    sim.state.live[place], sim.state.arrived[place], sim.state.over[place] = size, 0, 0
    for barrier in range(sim.state.counts.shape[1]):
        sim.state.counts[place, barrier], sim.state.open_from[place, barrier] = 0, 0
    for w in range(place * size, (place + 1) * size):
        path = sim.code.paths[(w - place * size) % len(sim.code.paths)]
        sim.warps.state[w], sim.warps.visit[w], sim.warps.ends[w] = _RUNS, path[_FIRST], 0
        sim.warps.at[w] = sim.code.starts[sim.code.nodes[path[_FIRST]]]
        sim.warps.event[w], sim.warps.earliest[w], sim.warps.grouped[w], sim.warps.engine[w] = path[_EVENTS], 0, 0, 0
        sim.warps.age[w], sim.warps.ready[w] = begun * size + w - place * size, start
        for barrier in range(BARRIERS):
            sim.warps.clear[w, barrier] = 0
        sim.state.look[w % sim.shape.schedulers] = min(sim.state.look[w % sim.shape.schedulers], start)
    sim.state.counters[_BEGUN] += 1
    sim.state.counters[_ACTIVE] += size
    _note(sim, start, sim.state.timeline.shape[1] - 1, size)


@uncounted_inner
def _open(sim: Simulation, place: int, row: int, now: int) -> None:
    """Let the warps of a block go on where all that run have arrived."""
    if sim.state.arrived[place] == 0 or sim.state.arrived[place] < sim.state.live[place]:
        return
    sim.state.arrived[place] = 0
    for w in range(place * sim.shape.block_warps, (place + 1) * sim.shape.block_warps):
        if sim.warps.state[w] == _ARRIVED:
            sim.warps.state[w] = _RUNS
            kept = sim.warps.issued[w] + sim.code.rows[row, _STALL]
            go = max(kept, now + sim.shape.release)
            sim.state.stalls[sim.warps.at[w], _BARRIER] += (go - kept) * sim.code.weights[sim.warps.visit[w]]
            _arm(sim, w, go)
            sim.state.look[w % sim.shape.schedulers] = min(sim.state.look[w % sim.shape.schedulers], sim.warps.ready[w])


@uncounted_inner
def _arm(sim: Simulation, w: int, base: int) -> None:
    """Set when a warp may issue: from `base` on, when the barriers that it waits for are clear."""
    row, until, why, assumed = sim.warps.at[w], base, -1, 0
    for barrier in range(BARRIERS):
        if sim.code.rows[row, _WAITS] >> barrier & 1 and sim.warps.clear[w, barrier] > until:
            until, why, assumed = sim.warps.clear[w, barrier], sim.warps.why[w, barrier], sim.warps.doubt[w, barrier]
    if sim.code.rows[row, _DRAINS] and sim.warps.ends[w] > until:
        until, why, assumed = sim.warps.ends[w], _MEMBAR, 0
    sim.warps.ready[w] = until
    if why >= 0:
        waited = (until - base) * sim.code.weights[sim.warps.visit[w]]
        sim.state.stalls[row, why] += waited
        sim.state.assumed[row] += waited * assumed


@uncounted
def run(sim: Simulation) -> bool:
    """Run the blocks of an SM from a state of zeros; return False where warps wait for each other for ever."""
    state, shape = sim.state, sim.shape
    state.counters[WIDTH] = 1
    for s in range(shape.schedulers):
        state.last[s] = -1
    for place in range(min(shape.places, shape.blocks)):
        _begin(sim, place, 0, 0.0)
    while state.counters[_ACTIVE] > 0:
        s = 0
        for other in range(1, shape.schedulers):
            if state.look[other] < state.look[s]:
                s = other
        now = state.look[s]
        if now == _NEVER:
            return False
        w = _choose(sim, s)
        if w >= 0:
            _issue(sim, w, now)
    state.totals[_CLOCK] += state.counters[FINISH] - state.counters[_NOW]
    return True
