"""Where a group of threads goes after a block, when groups take turns (`free.py`)."""

from dataclasses import dataclass

import numpy as np

from sassan.errors import SassanError
from sassan.isa.facts import Flow
from sassan.simt.code import ExecutableBlock
from sassan.simt.convergence import returns
from sassan.simt.divergence import first_lane, targets, united
from sassan.simt.state import LOST, STOPPED, RunStatus, Session, lanes, pack
from sassan.simt.values import LANES, Moment, Rows, Truth
from simt.free_state import NOBODY, Threads


@dataclass(frozen=True, slots=True)
class Group:
    """Groups of several runs at block `number`; `taken` (G, 32) are the threads that take its control instruction."""

    number: int
    block: ExecutableBlock
    at: Moment
    taken: Truth


def push(session: Session, threads: Threads, block: ExecutableBlock, at: Moment) -> Truth:
    """Start the barriers of a block, and return which runs empty a register of which a barrier has executing threads."""
    bad = np.zeros(len(at.rows), dtype=np.bool_)
    active = session.warps.active[at.rows]
    for tag, target in block.pushes:
        register = session.barriers[tag]
        names = threads.barriers[at.rows, register]
        if target >= 0:
            fresh = threads.new_barrier(at.rows, active)[:, None]
        else:
            live = (threads.members(at.rows, names) & at.executing).any(axis=1)
            session.recorder.fault(block.last, "a barrier is emptied that threads are in", int(live.sum()))
            bad |= live
            fresh = np.full((len(at.rows), 1), NOBODY, dtype=np.int32)
        threads.barriers[at.rows, register] = np.where(at.executing, fresh, names)
    return bad


def move(session: Session, threads: Threads, group: Group) -> Truth:
    """Let the group leave its block, and return which runs are at fault."""
    control, rows = group.block.control, group.at.rows
    bad = np.zeros(len(rows), dtype=np.bool_)
    match control.flow if control is not None else Flow.NONE:
        case Flow.BRANCH | Flow.CALL:
            _branch(session, threads, group)
        case Flow.INDIRECT_BRANCH | Flow.INDIRECT_CALL | Flow.RETURN:
            bad = _jump(session, threads, group)
        case Flow.EXIT:
            _pass(threads, group)
            _exit(session, threads, group, group.taken)
        case Flow.TRAP:
            _pass(threads, group)
            ended = group.taken.any(axis=1)
            threads.place[rows[ended]] = STOPPED
            session.warps.status[rows[ended]] = RunStatus.TRAPPED
        case _:
            bad = _converge(session, threads, group)
    return bad


def _converge(session: Session, threads: Threads, group: Group) -> Truth:
    control, rows = group.block.control, group.at.rows
    _pass(threads, group)
    if control is None:
        return np.zeros(len(rows), dtype=np.bool_)
    match control.flow:
        case Flow.WARP_BARRIER:
            threads.syncs[rows] |= group.taken
            _release_syncs(threads, rows)
        case Flow.NONE:
            _move_barrier(session, threads, group)
        case Flow.BREAK | Flow.POP:
            names = threads.barriers[rows, session.barriers[group.block.tag]]
            if control.flow is Flow.BREAK:
                threads.drop(rows, names, group.taken)
            else:
                waits = group.taken & threads.members(rows, names)
                threads.waits[rows] = np.where(waits, names, threads.waits[rows])
            return _release_barriers(session, threads, group)
        case _:
            raise SassanError("unsupported-flow", f"the machine has no rule for {control.flow.value} at {group.block.last:#x}")
    return np.zeros(len(rows), dtype=np.bool_)


def _pass(threads: Threads, group: Group) -> None:
    """Let all of the group go on behind the block."""
    threads.place[group.at.rows] = np.where(group.at.executing, group.block.follow, threads.place[group.at.rows])


def _branch(session: Session, threads: Threads, group: Group) -> None:
    block, rows = group.block, group.at.rows
    assert block.control is not None
    _pass(threads, group)
    taken = lanes(united(session, block, group.at, pack(group.taken)))
    threads.place[rows] = np.where(taken, block.target, threads.place[rows])
    if block.control.flow is Flow.CALL:
        inside = session.contexts.inside(session.warps.context[rows], block.last)
        threads.context[rows] = np.where(taken, inside[:, None], threads.context[rows])
    some = (taken != group.at.executing).any(axis=1)
    threads.new_group(rows[some], taken[some])


def _jump(session: Session, threads: Threads, group: Group) -> Truth:
    """BRX, calls and returns by register: the threads of one target go there; the others stay, and execute the instruction again."""
    block, rows, at = group.block, group.at.rows, group.at
    assert block.control is not None
    context = session.warps.context[rows]
    taken, gone = group.taken, np.zeros_like(group.taken)
    if block.control.flow is Flow.RETURN:
        if session.called:
            gone = taken & (context == 0)[:, None]
        place, into = returns(session, group.number, at, taken & ~gone)
    else:
        inside = session.contexts.inside(context, block.last) if block.control.flow is Flow.INDIRECT_CALL else context
        place, into = targets(session, group.number, at, pack(taken), inside)
    lost = (at.executing & (place == LOST)).any(axis=1)
    session.recorder.fault(block.last, "the return address is unknown", int(lost.sum()))
    leader = first_lane(session, at)
    together = at.executing & (place == place[leader][:, None]) & (into == into[leader][:, None])
    if block.control.flow is not Flow.INDIRECT_BRANCH:
        # Where all who call or return go to one place, those who do not need no second turn.
        first = (np.arange(len(rows)), np.where(taken.any(axis=1), taken.argmax(axis=1), leader[1]))
        alike = ((place == place[first][:, None]) & (into == into[first][:, None]) | ~taken).all(axis=1, keepdims=True)
        stays = at.executing & ~together & ~alike
    else:
        stays = at.executing & ~together
    threads.place[rows] = np.where(at.executing, np.where(stays, group.number, place), threads.place[rows])
    threads.context[rows] = np.where(at.executing & ~stays, into, threads.context[rows])
    split = (together != at.executing).any(axis=1)
    threads.new_group(rows[split], together[split])
    _exit(session, threads, group, gone)
    return np.asarray(lost)


def _exit(session: Session, threads: Threads, group: Group, who: Truth) -> None:
    rows = group.at.rows[who.any(axis=1)]
    if not rows.size:
        return
    chosen = who[who.any(axis=1)]
    threads.place[rows] = np.where(chosen, STOPPED, threads.place[rows])
    threads.masks[rows] &= ~pack(chosen)[:, None]
    _release_barriers(session, threads, Group(group.number, group.block, Moment(rows, group.at.time, chosen), chosen))
    _release_syncs(threads, rows)


def _move_barrier(session: Session, threads: Threads, group: Group) -> None:
    """BMOV: a data register holds the name of a barrier, counted from 1, or 0 for none."""
    assert group.block.control is not None
    moves, rows, taken = group.block.control.moves, group.at.rows, group.taken
    if moves is None:
        return
    register = session.barriers[session.code.tags.index(moves.tag)]
    names = threads.barriers[rows, register]
    if moves.mask is not None:
        threads.barriers[rows, register] = np.where(taken, NOBODY, names)  # a number names no barrier
        return
    if moves.source is not None:
        source = session.barriers[session.code.tags.index(moves.source)]
        threads.barriers[rows, register] = np.where(taken, threads.barriers[rows, source], names)
        if moves.clear:
            threads.barriers[rows, source] = np.where(taken, NOBODY, threads.barriers[rows, source])
        return
    slot = session.slots[moves.register] if moves.register is not None else -1
    if not moves.save:
        words = session.warps.registers[slot, rows].astype(np.int32) - 1 if slot >= 0 else np.full_like(names, NOBODY)
        known = np.where((words >= 0) & (words < threads.named[rows][:, None]), words, NOBODY)
        threads.barriers[rows, register] = np.where(taken, known, names)
        return
    if slot >= 0:
        old = session.warps.registers[slot, rows]
        session.warps.registers[slot, rows] = np.where(taken, (names + 1).astype(np.uint32), old)
    if moves.clear:
        threads.barriers[rows, register] = np.where(taken, NOBODY, names)


def _release_barriers(session: Session, threads: Threads, group: Group) -> Truth:
    """Let those go on who waited for others that are all there now; return which runs they go on in at several places."""
    rows = group.at.rows
    bad = np.zeros(len(rows), dtype=np.bool_)
    some = (threads.waits[rows] != NOBODY).any(axis=1)
    chosen = rows[some]
    if not chosen.size:
        return bad
    waits = threads.waits[chosen]
    alike = (waits[:, :, None] == waits[:, None, :]) & (waits != NOBODY)[:, :, None]
    there = pack(alike.reshape(-1, LANES)).reshape(-1, LANES)
    missing = threads.masks[chosen[:, None], np.maximum(waits, 0)] & ~there
    done = (waits != NOBODY) & (missing == 0)
    if not done.any():
        return bad
    apart = np.zeros(len(chosen), dtype=np.bool_)
    for where in (threads.place[chosen], threads.context[chosen]):
        apart |= (alike & done[:, :, None] & (where[:, :, None] != where[:, None, :])).any(axis=(1, 2))
    session.recorder.fault(group.block.last, "the token resumes somewhere else", int(apart.sum()))
    row, lane = np.nonzero(done)
    threads.masks[chosen[row], waits[row, lane]] = 0
    threads.regroup(chosen, done, waits)
    threads.waits[chosen] = np.where(done, NOBODY, waits)
    bad[some] = apart
    return bad


def _release_syncs(threads: Threads, rows: Rows) -> None:
    """When every thread of the warp has arrived at a WARPSYNC, all go on, those of one place as one group."""
    alive = threads.place[rows] != STOPPED
    done = (alive & threads.syncs[rows]).any(axis=1) & ~(alive & ~threads.syncs[rows]).any(axis=1)
    chosen = rows[done]
    if not chosen.size:
        return
    places = threads.place[chosen].astype(np.int64) << 16 | threads.context[chosen]
    threads.regroup(chosen, alive[done], places)
    threads.syncs[chosen] = False
