"""Branches on a group of runs that stand at one block: who goes where first, and who waits (docs/concepts/warp-machine.md)."""

from dataclasses import dataclass

import numpy as np

from sassan.simt.code import ExecutableBlock, TransitionKind, Unity
from sassan.simt.stack import Ints, Suspended
from sassan.simt.state import NUMBER, Next, Session, SideOrder, choose, lanes, pack, unite
from sassan.simt.trace import AGAIN
from sassan.simt.values import LANES, Moment, Truth, Words


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """Where those go who take a branch: a block, in contexts, and what the step is called when all do."""

    target: Ints | int
    into: Ints
    move: TransitionKind = TransitionKind.TAKEN


def united(session: Session, block: ExecutableBlock, at: Moment, taken: Words) -> Words:
    """Return who takes a branch that the threads of a warp take together."""
    assert block.control is not None
    active = session.warps.active[at.rows]
    match block.control.unity:
        case Unity.EACH:
            return taken
        case Unity.FIRST:
            return np.where((taken & active & (~active + np.uint32(1))) != 0, active, 0).astype(np.uint32)
        case Unity.OPEN:
            heads = (session.values.coin(at) >> np.uint32(7) & np.uint32(1)) == 1
            return np.where(heads & (taken == active), active, 0).astype(np.uint32)


def branch(session: Session, number: int, at: Moment, taken: Words, jump: JumpTarget) -> Next:
    """Return the outcome of a branch: where some take it, one side runs and the other waits."""
    block, warps = session.code.blocks[number], session.warps
    active, context = warps.active[at.rows], warps.context[at.rows]
    every, none = taken == active, taken == 0
    some = ~(every | none)
    late = some & _late(session, at)
    if every.all():
        return unite(jump.target, jump.into, active, jump.move)
    if none.all():
        return unite(block.follow, context, active, TransitionKind.FALLTHROUGH)
    goes = Next(
        block=choose(every | (some & ~late), jump.target, block.follow),
        context=choose(every | (some & ~late), jump.into, context),
        active=np.where(none, active, np.where(late, active & ~taken, taken)),
        move=choose(some, NUMBER[TransitionKind.DIVERGE], choose(every, NUMBER[jump.move], NUMBER[TransitionKind.FALLTHROUGH])),
    )
    index = np.flatnonzero(some)
    if index.size:
        other = choose(late, jump.target, block.follow)
        side = choose(late, jump.into, context)
        entry = Suspended(other[index], side[index], 0, (active & ~goes.active)[index], choose(late, number, -1)[index])
        warps.stacks.push(at.rows[index], entry)
        goes.resumes()
        goes.origin = choose(late, jump.target, -1)
    return goes


def _late(session: Session, at: Moment) -> Truth:
    """Return where the not-taken side of a divergent branch runs first."""
    if session.order is SideOrder.RANDOM:
        return np.asarray((session.values.coin(at) & np.uint32(1)) == 1)
    return np.full(len(at.rows), session.order is SideOrder.FALLTHROUGH_FIRST)


@dataclass(frozen=True, slots=True)
class Places:
    """Where every thread goes: arrays (G, 32) of blocks and contexts, and what the step is called when all go together."""

    block: Ints
    context: Ints
    move: TransitionKind


def branch_or_spread(session: Session, number: int, at: Moment, taken: Words, places: Places) -> Next:
    """Return the outcome of a call or return by register: a branch where all who take it go to one place; else these run in turn."""
    warps = session.warps
    active, who = warps.active[at.rows], lanes(taken)
    leader = (np.arange(len(at.rows)), np.where(who.any(axis=1), who.argmax(axis=1), lanes(active).argmax(axis=1)))
    first, inside = places.block[leader], places.context[leader]
    alike = ((places.block == first[:, None]) & (places.context == inside[:, None]) | ~who).all(axis=1)
    goes = unite(number, warps.context[at.rows], active, TransitionKind.FALLTHROUGH)
    for where, together in ((alike, True), (~alike, False)):
        if where.any():
            part = Moment(at.rows[where], at.time[where], at.executing[where])
            if together:
                goes.put(where, branch(session, number, part, taken[where], JumpTarget(first[where], inside[where], places.move)))
            else:
                apart = Places(places.block[where], places.context[where], places.move)
                goes.put(where, spread(session, number, part, taken[where], apart))
    return goes


def spread(session: Session, number: int, at: Moment, taken: Words, places: Places) -> Next:
    """Return the outcome of a jump by register: one place of (block, context) runs; the other threads wait, and execute it again."""
    warps, place, into = session.warps, places.block, places.context
    active, context = warps.active[at.rows], warps.context[at.rows]
    leader = first_lane(session, at)
    together = pack(at.executing & (place == place[leader][:, None]) & (into == into[leader][:, None]))
    split = active != together
    goes = Next(
        block=place[leader],
        context=into[leader],
        active=together,
        move=choose(split, NUMBER[TransitionKind.DIVERGE], choose(taken == 0, NUMBER[TransitionKind.FALLTHROUGH], NUMBER[places.move])),
    )
    index = at.rows[split]
    if index.size:
        warps.stacks.push(index, Suspended(number, context[split], 0, (active & ~together)[split]))
        goes.resumes()
        goes.tag = choose(split, AGAIN, 0)
    return goes


def first_lane(session: Session, at: Moment) -> tuple[Ints, Ints]:
    """Return (row, lane) of the threads that lead: the order of outcomes is arbitrary, so the first one counted from a random lane."""
    start = (session.values.coin(at) % np.uint32(LANES)).astype(np.intp)
    distance = (np.arange(LANES) - start[:, None]) % LANES
    return np.arange(len(start), dtype=np.int32), np.where(at.executing, distance, LANES).argmin(axis=1).astype(np.int32)


def targets(session: Session, number: int, at: Moment, taken: Words, inside: Ints) -> tuple[Ints, Ints]:
    """Return block and context of every thread after an indirect branch, whose targets are in the contexts `inside`."""
    block, warps = session.code.blocks[number], session.warps
    assert block.control is not None
    inputs = tuple(warps.registers[session.slots[register], at.rows] for register in block.control.selector)
    choice = session.values.choose(block.control.key, inputs, len(block.targets), at)
    who = lanes(taken)
    place = np.where(who, np.array(block.targets, dtype=np.int32)[choice], np.int32(block.follow))
    return place, np.where(who, inside[:, None], warps.context[at.rows][:, None])
