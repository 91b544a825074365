"""Control instructions on a group of runs that stand at one block: branches, tokens and exits (warp-cfg.md, section 1).

Another generation adds its flow classes here: a convergence barrier is a tag, and the order of sides is `Order`.
"""

import numpy as np

from sassan.errors import SassanError
from sassan.isa.facts import Flow
from sassan.simt.code import RETURN_TAG, Block, Move
from sassan.simt.state import LOST, NUMBER, STOPPED, Next, Order, Session, choose, lanes, pack, unite
from sassan.simt.values import LANES, Moment, Rows, Truth, Words


def leave(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """Return where the group goes after block `number`, whose control instruction the threads `taken` take."""
    block, warps = session.code.blocks[number], session.warps
    active, context = warps.active[at.rows], warps.context[at.rows]
    if block.control is None:
        return unite(block.follow, context, active, Move.FALLTHROUGH)
    match block.control.flow:
        case Flow.BRANCH:
            return _branch(session, block, at, taken)
        case Flow.INDIRECT_BRANCH:
            return _indirect(session, number, at, taken)
        case Flow.POP:
            return _token(session, block, at.rows, taken)
        case Flow.EXIT:
            return _suspend(session, block, at.rows, taken)
        case _:
            return _elsewhere(session, block, at, taken)


def _elsewhere(session: Session, block: Block, at: Moment, taken: Words) -> Next:
    """CAL pushes its return; a trap ends the whole warp."""
    assert block.control is not None
    active, context = session.warps.active[at.rows], session.warps.context[at.rows]
    match block.control.flow:
        case Flow.CALL:
            session.warps.stacks.push(at.rows, block.follow, context, session.code.tags.index(RETURN_TAG), active)
            return unite(block.target, session.contexts.inside(context, block.last), active, Move.CALL)
        case Flow.TRAP:
            goes = unite(block.follow, context, active, Move.FALLTHROUGH)
            goes.block[taken != 0] = STOPPED
            goes.move[taken != 0] = NUMBER[Move.EXIT]
            return goes
        case _:
            raise SassanError("unsupported-flow", f"the machine has no rule for {block.control.flow.value} at {block.last:#x}")


def _branch(session: Session, block: Block, at: Moment, taken: Words) -> Next:
    warps = session.warps
    active, context = warps.active[at.rows], warps.context[at.rows]
    every, none = taken == active, taken == 0
    some = ~(every | none)
    late = some & _late(session, at)
    goes = Next(
        block=choose(every | (some & ~late), block.target, block.follow),
        context=context,
        active=np.where(none, active, np.where(late, active & ~taken, taken)),
        move=choose(some, NUMBER[Move.DIVERGE], choose(every, NUMBER[Move.TAKEN], NUMBER[Move.FALLTHROUGH])),
    )
    index = np.flatnonzero(some)
    if index.size:
        other = choose(late, block.target, block.follow)
        warps.stacks.push(at.rows[index], other[index], context[index], 0, (active & ~goes.active)[index])
    return goes


def _late(session: Session, at: Moment) -> Truth:
    """Return where the not-taken side of a divergent branch runs first."""
    if session.order is Order.RANDOM:
        return np.asarray((session.values.coin(at) & np.uint32(1)) == 1)
    return np.full(len(at.rows), session.order is Order.FALLTHROUGH_FIRST)


def _indirect(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """BRX: one outcome runs; the threads with another target, or that do not take it, wait at the BRX itself and run it again."""
    block, warps = session.code.blocks[number], session.warps
    assert block.control is not None
    active, context = warps.active[at.rows], warps.context[at.rows]
    inputs = tuple(warps.registers[session.slots[register], at.rows] for register in block.control.selector)
    choice = session.values.choose(block.control.key, inputs, len(block.targets), at)
    place = np.where(lanes(taken), np.array(block.targets, dtype=np.int32)[choice], np.int32(block.follow))
    # The order of outcomes is arbitrary: the first active lane, counted from a random one, leads.
    start = (session.values.coin(at) % np.uint32(LANES)).astype(np.intp)
    turn = (np.arange(LANES) - start[:, None]) % LANES
    first = place[np.arange(len(start)), np.where(at.executing, turn, LANES).argmin(axis=1)]
    together = pack(at.executing & (place == first[:, None]))
    split = active != together
    index = at.rows[split]
    if index.size:
        warps.stacks.push(index, number, context[split], 0, (active & ~together)[split])
    alone = choose(taken == 0, NUMBER[Move.FALLTHROUGH], NUMBER[Move.TAKEN])
    return Next(
        block=first,
        context=context,
        active=together,
        move=choose(split, NUMBER[Move.DIVERGE], alone),
    )


def _token(session: Session, block: Block, rows: Rows, taken: Words) -> Next:
    """SYNC, BRK, CONT, RET: leave to the nearest token of the tag; where there is none, the run is lost."""
    above, resumes = session.warps.stacks.nearest(rows, block.tag)
    lost = (above < 0) & (taken != 0)
    session.recorder.left(block.last, resumes[taken != 0], int(lost.sum()))
    kept = ~lost
    session.warps.stacks.remove(rows[kept], above[kept], taken[kept])
    goes = _rest(session, block, rows, taken, kept)
    goes.block[lost] = LOST
    return goes


def _suspend(session: Session, block: Block, rows: Rows, taken: Words) -> Next:
    """EXIT, KIL: leave the whole stack."""
    session.warps.stacks.remove(rows, np.full(len(rows), -1, dtype=np.int32), taken)
    return _rest(session, block, rows, taken, np.ones(len(rows), dtype=np.bool_))


def _rest(session: Session, block: Block, rows: Rows, taken: Words, kept: Truth) -> Next:
    """Return the threads that stay going on after the instruction; where none stays, the top entry resumes or the warp ends."""
    warps = session.warps
    active = warps.active[rows]
    goes = unite(block.follow, warps.context[rows], active & ~taken, Move.FALLTHROUGH)
    goes.tag = np.zeros(len(rows), dtype=np.int32)
    index = np.flatnonzero(kept & (taken == active))
    empty = warps.stacks.depth[rows[index]] == 0
    done, resumed = index[empty], index[~empty]
    goes.block[done] = STOPPED
    goes.move[done] = NUMBER[Move.EXIT]
    if resumed.size:
        goes.block[resumed], goes.context[resumed], goes.tag[resumed], goes.active[resumed] = warps.stacks.pop(rows[resumed])
        tag = goes.tag[resumed]
        back = choose(tag == session.code.tags.index(RETURN_TAG), NUMBER[Move.RETURN], NUMBER[Move.RECONVERGE])
        goes.move[resumed] = choose(goes.block[resumed] == STOPPED, NUMBER[Move.EXIT], choose(tag == 0, NUMBER[Move.REACTIVATE], back))
    return goes
