"""Convergence barriers on a group of runs that stand at one block: what came with Volta (docs/concepts/warp-machine.md).

A barrier is a token of the one stack, and the barrier registers are kept beside it: where the two disagree about the executing threads,
the stack is not what the hardware does, and the run is a fault.
"""

import numpy as np

from sassan.simt.code import RELEASED_TAG, SIDE, WARPSYNC_TAG, BarrierMove, ExecutableBlock, TransitionKind
from sassan.simt.divergence import Places, branch_or_spread
from sassan.simt.stack import Ints, Suspended
from sassan.simt.state import LOST, Next, Session, SideOrder, lanes, unite
from sassan.simt.values import LANES, Moment, Rows, Truth, Words


def clear(session: Session, block: ExecutableBlock, rows: Rows, tag: int, active: Words) -> Truth:
    """BMOV.32.CLEAR RZ: empty the register, and return which runs may not, because an executing thread still is in it."""
    barriers, number = session.warps.barriers, session.barriers[tag]
    live = (barriers[rows, number] & active) != 0
    session.recorder.fault(block.last, "a barrier is emptied that threads are in", int(live.sum()))
    barriers[rows, number] = 0
    return np.asarray(live)


def synchronize(session: Session, block: ExecutableBlock, rows: Rows, taken: Words) -> tuple[Words, Ints, Truth]:
    """BSYNC: return the threads that leave, the level of their token, and which runs are at fault.

    Who is in the nearest token of the barrier leaves to it; the others pass.
    """
    warps = session.warps
    level, _ = warps.stacks.nearest(rows, block.tag)
    present = level >= 0
    resumes, context, mask = warps.stacks.at(rows, np.maximum(level, 0))
    mask = np.where(present, mask, 0).astype(np.uint32)
    leaves = taken & mask
    register = warps.barriers[rows, session.barriers[block.tag]]
    elsewhere = (leaves != 0) & ((resumes != block.follow) | (context != warps.context[rows]))
    differs = ((register ^ mask) & taken) != 0
    partial = (leaves != 0) & (register != mask)
    session.recorder.fault(block.last, "the token resumes somewhere else", int(elsewhere.sum()))
    session.recorder.fault(block.last, "register and token disagree on the threads that are here", int((differs & ~elsewhere).sum()))
    session.recorder.fault(
        block.last, "register and token disagree on the threads to wait for", int((partial & ~differs & ~elsewhere).sum())
    )
    session.recorder.left(block.last, resumes[leaves != 0])
    return leaves, level, elsewhere | differs | partial


def leave_barrier(session: Session, block: ExecutableBlock, rows: Rows, taken: Words) -> None:
    """BREAK: take threads out of the nearest token of the barrier, and out of the register."""
    warps = session.warps
    warps.barriers[rows, session.barriers[block.tag]] &= ~taken
    level, _ = warps.stacks.nearest(rows, block.tag)
    present = level >= 0
    warps.stacks.thin(rows[present], level[present], taken[present])


def move_barrier(session: Session, block: ExecutableBlock, at: Moment, taken: Words) -> Truth:
    """BMOV between a barrier register and a data register; return which runs restore what the executing threads disagree on."""
    assert block.control is not None
    assert block.control.moves is not None
    moves, warps = block.control.moves, session.warps
    number = session.barriers[session.code.tags.index(moves.tag)]
    rows, who = at.rows[taken != 0], lanes(taken[taken != 0])
    slot = session.slots[moves.register] if moves.register is not None else -1
    bad = np.zeros(len(at.rows), dtype=np.bool_)
    if moves.save:
        if slot >= 0:
            old = warps.registers[slot, rows]
            warps.registers[slot, rows] = np.where(who, warps.barriers[rows, number][:, None], old)
        if moves.clear:
            warps.barriers[rows, number] = 0
        return bad
    if moves.source is not None or moves.mask is not None:
        _write(session, moves, number, rows)
        return bad
    words = warps.registers[slot, rows] if slot >= 0 else np.zeros((len(rows), LANES), dtype=np.uint32)
    first = words[np.arange(len(rows)), who.argmax(axis=1)]
    differ = ((words != first[:, None]) & who).any(axis=1)
    warps.barriers[rows, number] = first & ~warps.gone[rows]
    session.recorder.fault(block.last, "threads restore different barriers", int(differ.sum()))
    bad[taken != 0] = differ
    return bad


def _write(session: Session, moves: BarrierMove, number: int, rows: Rows) -> None:
    """Write a number, or what another barrier register holds, to barrier register `number`."""
    barriers = session.warps.barriers
    if moves.source is None:
        assert moves.mask is not None
        barriers[rows, number] = np.uint32(moves.mask & 0xFFFFFFFF)
        return
    source = session.barriers[session.code.tags.index(moves.source)]
    barriers[rows, number] = barriers[rows, source]
    if moves.clear:
        barriers[rows, source] = 0


def arrive(session: Session, block: ExecutableBlock, rows: Rows, taken: Words) -> tuple[Words, Truth]:
    """WARPSYNC of all threads: return the threads that are suspended, and which runs are at fault.

    They wait beneath the pending sides, in an entry above the nearest enclosing token, which later arrivals at the same instruction join.
    Where no side is pending, all have arrived, and those at this instruction go on first.
    """
    warps, code = session.warps, session.code
    some, context = taken != 0, warps.context[rows]
    warpsync = code.tags.index(WARPSYNC_TAG)
    blocks, contexts, tags = warps.stacks.entries(rows)
    levels = np.arange(len(tags))[:, None]
    waits = np.isin(tags, [code.tags.index(tag) for tag in (SIDE, RELEASED_TAG)])
    token = np.where((tags >= 0) & ~waits & (tags != warpsync), levels, -1).max(axis=0, initial=-1)
    unreachable = some & (waits & (levels < token)).any(axis=0)
    session.recorder.fault(block.last, "sides wait below the token that encloses a WARPSYNC", int(unreachable.sum()))
    others = (tags == warpsync) & (levels > token)
    same = others & (blocks == block.follow) & (contexts == context)
    entry = np.where(same, levels, -1).max(axis=0, initial=-1)
    complete = some & ~unreachable & (taken == warps.active[rows]) & ~(waits & (levels > token)).any(axis=0)
    joins, last = some & ~unreachable & (entry >= 0), complete & (entry < 0)
    opens = some & ~unreachable & ~last & (entry < 0)
    warps.stacks.widen(rows[joins], entry[joins], taken[joins])
    warps.stacks.insert(rows[opens], (token + 1)[opens], Suspended(block.follow, context[opens], warpsync, taken[opens]))
    for where in (last, complete & joins):
        _release_above(session, rows[where], token[where])
    first = complete & joins
    warps.stacks.raise_to_top(rows[first], entry[first].astype(np.int32))
    return np.where(last, 0, taken).astype(np.uint32), unreachable


def release(session: Session, rows: Rows) -> None:
    """Where no side is left above a WARPSYNC that resumes, all have arrived, at whichever: no thread joins any of them any more.

    They resume in any order.
    """
    code, stacks = session.code, session.warps.stacks
    if WARPSYNC_TAG not in code.tags or not rows.size:
        return
    warpsync = code.tags.index(WARPSYNC_TAG)
    _, _, tags = stacks.entries(rows)
    levels = np.arange(len(tags))[:, None]
    top = stacks.depth[rows] - 1
    ready = tags[top, np.arange(len(rows))] == warpsync
    if not ready.any():
        return
    # Above the nearest token there are only those that wait.
    bottom = np.where((tags != warpsync) & (levels <= top), levels, -1).max(axis=0, initial=-1)[ready]
    chosen = rows[ready]
    _release_above(session, chosen, bottom)
    if session.order is SideOrder.RANDOM:
        word = session.values.coin(Moment(chosen, session.warps.time[chosen], lanes(session.warps.active[chosen]))) >> np.uint32(9)
        top = stacks.depth[chosen] - 1
        stacks.raise_to_top(chosen, top - (word % (top - bottom).astype(np.uint32)).astype(np.int32))


def _release_above(session: Session, rows: Rows, bottom: Rows) -> None:
    """All that wait above these levels are at WARPSYNCs that are complete."""
    if rows.size:
        session.warps.stacks.rename(rows, bottom.astype(np.int32), session.code.tags.index(RELEASED_TAG))


def go_back(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """RET through a register."""
    warps, block = session.warps, session.code.blocks[number]
    active, context = warps.active[at.rows], warps.context[at.rows]
    place, into = returns(session, number, at, lanes(taken))
    lost = (at.executing & (place == LOST)).any(axis=1)
    session.recorder.fault(block.last, "the return address is unknown", int(lost.sum()))
    goes = unite(LOST, context, active, TransitionKind.FALLTHROUGH)
    known = ~lost
    if known.any():
        part = Moment(at.rows[known], at.time[known], at.executing[known])
        goes.put(known, branch_or_spread(session, number, part, taken[known], Places(place[known], into[known], TransitionKind.RETURN)))
    return goes


def returns(session: Session, number: int, at: Moment, taken: Truth) -> tuple[Ints, Ints]:
    """Return block and context of every thread after a RET; the block is LOST where nothing called from before the address."""
    block, warps = session.code.blocks[number], session.warps
    assert block.control is not None
    context = warps.context[at.rows]
    addresses = warps.registers[session.slots[block.control.selector[0]], at.rows] + np.uint32(block.control.base & 0xFFFFFFFF)
    place = np.full(addresses.shape, block.follow, dtype=np.int32)
    into = np.broadcast_to(context[:, None], addresses.shape).copy()
    for caller in np.unique(context):
        here = (context[:, None] == caller) & taken
        for address in np.unique(addresses[here]).tolist():
            back = session.contexts.after(int(caller), address, session.sites)
            where = here & (addresses == np.uint32(address))
            place[where] = session.starts[address] if back >= 0 else LOST
            into[where] = back if back >= 0 else caller
    return place, into
