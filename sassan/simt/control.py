"""Control instructions on a group of runs that stand at one block: branches, tokens, calls and exits (docs/concepts/warp-machine.md).

What is new since Volta has a file of its own, `convergence.py`.
"""

import numpy as np

from sassan.errors import SassanError
from sassan.isa.facts import Flow
from sassan.simt import convergence
from sassan.simt.code import RETURN_TAG, ExecutableBlock, TransitionKind
from sassan.simt.divergence import JumpTarget, Places, branch, branch_or_spread, spread, targets, united
from sassan.simt.stack import Ints, Suspended
from sassan.simt.state import LOST, NUMBER, STOPPED, Next, Session, choose, unite
from sassan.simt.values import Moment, Rows, Truth, Words


def leave(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """Return where the group goes after block `number`, whose control instruction the threads `taken` take."""
    block, warps = session.code.blocks[number], session.warps
    active, context = warps.active[at.rows], warps.context[at.rows]
    if block.control is None:
        return unite(block.follow, context, active, TransitionKind.FALLTHROUGH)
    match block.control.flow:
        case Flow.BRANCH:
            return branch(session, number, at, united(session, block, at, taken), JumpTarget(block.target, context))
        case Flow.INDIRECT_BRANCH:
            return spread(session, number, at, taken, Places(*targets(session, number, at, taken, context), TransitionKind.TAKEN))
        case Flow.POP:
            return _token(session, block, at.rows, taken)
        case Flow.EXIT:
            return _suspend(session, block, at.rows, taken)
        case _:
            return _elsewhere(session, number, at, taken)


def _elsewhere(session: Session, number: int, at: Moment, taken: Words) -> Next:
    block, warps = session.code.blocks[number], session.warps
    assert block.control is not None
    active, context = warps.active[at.rows], warps.context[at.rows]
    match block.control.flow:
        case Flow.CALL | Flow.INDIRECT_CALL:
            return _call(session, number, at, taken)
        case Flow.RETURN:
            return _return(session, number, at, taken)
        case Flow.WARP_BARRIER:
            waits, bad = convergence.arrive(session, block, at.rows, taken)
            return _rest(session, block, at.rows, waits, ~bad)
        case Flow.TRAP:
            goes = unite(block.follow, context, active, TransitionKind.FALLTHROUGH)
            goes.block[taken != 0] = STOPPED
            goes.move[taken != 0] = NUMBER[TransitionKind.EXIT]
            return goes
        case Flow.BREAK:
            convergence.leave_barrier(session, block, at.rows, taken)
            return unite(block.follow, context, active, TransitionKind.FALLTHROUGH)
        case Flow.NONE:
            goes = unite(block.follow, context, active, TransitionKind.FALLTHROUGH)
            goes.block[convergence.move_barrier(session, block, at, taken)] = LOST
            return goes
        case _:
            raise SassanError("unsupported-flow", f"the machine has no rule for {block.control.flow.value} at {block.last:#x}")


def _call(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """CAL pushes its return; since Volta, a call is a branch into another context."""
    block, warps = session.code.blocks[number], session.warps
    assert block.control is not None
    active, context = warps.active[at.rows], warps.context[at.rows]
    inside = session.contexts.inside(context, block.last)
    if block.control.flow is Flow.INDIRECT_CALL:
        return branch_or_spread(session, number, at, taken, Places(*targets(session, number, at, taken, inside), TransitionKind.CALL))
    if block.tag:
        warps.stacks.push(at.rows, Suspended(block.follow, context, session.code.tags.index(RETURN_TAG), active))
        return unite(block.target, inside, active, TransitionKind.CALL)
    return branch(session, number, at, taken, JumpTarget(block.target, inside, TransitionKind.CALL))


def _return(session: Session, number: int, at: Moment, taken: Words) -> Next:
    """RET through a register; out of a call from nowhere, it ends its threads."""
    if not session.called:
        return convergence.go_back(session, number, at, taken)
    outside = (session.warps.context[at.rows] == 0) & (taken != 0)
    goes = unite(0, session.warps.context[at.rows], session.warps.active[at.rows], TransitionKind.FALLTHROUGH)
    for where, done in ((outside, True), (~outside, False)):
        if where.any():
            part = Moment(at.rows[where], at.time[where], at.executing[where])
            block = session.code.blocks[number]
            into = _suspend(session, block, part.rows, taken[where]) if done else convergence.go_back(session, number, part, taken[where])
            goes.put(where, into)
    return goes


def _token(session: Session, block: ExecutableBlock, rows: Rows, taken: Words) -> Next:
    """SYNC, BRK, CONT, RET, BSYNC: leave to the nearest token of the tag."""
    if session.barriers[block.tag] >= 0:
        leaves, above, bad = convergence.synchronize(session, block, rows, taken)
        kept = ~bad
    else:
        leaves = taken
        above, resumes = session.warps.stacks.nearest(rows, block.tag)
        kept = (above >= 0) | (taken == 0)
        session.recorder.fault(block.last, "there is no token", int((~kept).sum()))
        session.recorder.left(block.last, resumes[taken != 0])
    moving = kept & (leaves != 0)
    session.warps.stacks.remove(rows[moving], above[moving], leaves[moving])
    return _rest(session, block, rows, leaves, kept)


def _suspend(session: Session, block: ExecutableBlock, rows: Rows, taken: Words) -> Next:
    """EXIT, KIL: leave the whole stack."""
    session.warps.stacks.remove(rows, np.full(len(rows), -1, dtype=np.int32), taken)
    session.warps.barriers[rows] &= ~taken[:, None]
    session.warps.gone[rows] |= taken
    return _rest(session, block, rows, taken, np.ones(len(rows), dtype=np.bool_))


def _rest(session: Session, block: ExecutableBlock, rows: Rows, taken: Words, kept: Truth) -> Next:
    """Return the threads that stay going on after the instruction; where none stays, the top entry resumes or the warp ends.

    Runs that are not `kept` met a fault.
    """
    warps = session.warps
    active = warps.active[rows]
    goes = unite(block.follow, warps.context[rows], active & ~taken, TransitionKind.FALLTHROUGH)
    goes.resumes()
    index = np.flatnonzero(kept & (taken == active))
    empty = warps.stacks.depth[rows[index]] == 0
    done, resumed = index[empty], index[~empty]
    goes.block[done] = STOPPED
    goes.move[done] = NUMBER[TransitionKind.EXIT]
    if resumed.size:
        convergence.release(session, rows[resumed])
        entry = warps.stacks.pop(rows[resumed])
        goes.block[resumed], goes.context[resumed], goes.tag[resumed], goes.origin[resumed], goes.active[resumed] = entry
        tag = goes.tag[resumed]
        back = choose(tag == session.code.tags.index(RETURN_TAG), NUMBER[TransitionKind.RETURN], NUMBER[TransitionKind.RECONVERGE])
        goes.move[resumed] = choose(
            goes.block[resumed] == STOPPED, NUMBER[TransitionKind.EXIT], choose(tag == 0, NUMBER[TransitionKind.REACTIVATE], back)
        )
        lost = _complete_barriers(session, block, rows[resumed], tag, goes.active[resumed])
        kept = kept.copy()
        kept[resumed[lost]] = False
    goes.block[~kept] = LOST
    return goes


def _complete_barriers(session: Session, block: ExecutableBlock, rows: Rows, tag: Ints, mask: Words) -> Truth:
    """Free the barriers that all have reached, and return which runs resume others than the register says."""
    register = np.array(session.barriers, dtype=np.int32)[tag]
    where = np.flatnonzero(register >= 0)
    held = session.warps.barriers[rows[where], register[where]]
    bad = np.zeros(len(rows), dtype=np.bool_)
    bad[where] = held != mask[where]
    session.recorder.fault(block.last, "register and token disagree on the threads that resume", int(bad.sum()))
    session.warps.barriers[rows[where], register[where]] = held & ~mask[where]
    return bad
