"""Convergence barriers (Volta and later): BSYNC, BREAK, and the barrier of the whole warp; BSSY is a push (warp-cfg.md, section 1)."""

from collections.abc import Iterator

from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE
from sassan.domains.warp import Warp
from sassan.ir import Instruction
from sassan.isa.facts import Facts
from sassan.warpcfg.blocks import Block, Break, conditional, disagree
from sassan.warpcfg.graph import Context, Point
from sassan.warpcfg.steps import MEET, RELEASED, WARP, Ground, Step

ALL_LIVE = -2
"""The address of the entry that stands for all live threads."""


def start(ground: Ground) -> Warp:
    """Return the state of a warp that begins: at the bottom of the stack, an entry for all of its threads.

    They never wait there; it keeps what all live threads agree on, for the barriers where they meet.
    """
    return ground.domain.push(ground.domain.start(0), ground.points.name(Point((), ALL_LIVE, WARP)))


def sync(ground: Ground, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
    """BSYNC: threads of the nearest token leave to it, the others pass; under a guard, only where it holds."""
    domain, tag = ground.domain, ground.points.of(facts.tag)
    members = domain.members(warp, tag)
    guarded = conditional(one, facts)
    learned = facts.guard if facts.guard_alone else 0
    for number in bits(domain.nearest(warp, tag)):
        if ground.points[number].address != one.following:
            ground.report(one, "misplaced-token", f"{one.opcode} does not stand before the target 0x{ground.points[number].address:04x}")
    if members.all:
        outcomes, _ = domain.leave(domain.narrow(warp, tag, members, inside=True), tag)
        for outcome in outcomes:
            yield ground.resume(outcome)
    if members.none and not guarded:
        yield from ground.go_on(context, one, domain.narrow(warp, tag, members, inside=False))
    elif guarded:
        yield from ground.go_on(context, one, warp, 0 if members.none else learned)
    if members.some or (guarded and members.all and disagree(facts, warp.active)):
        stay, _ = domain.leave_some(domain.holding(warp, tag), tag, 0 if members.some else learned)
        if stay is not None:
            yield from ground.go_on(context, one, stay if guarded else domain.narrow(stay, tag, members, inside=False))


def meet(ground: Ground, context: Context, one: Instruction, facts: Facts, warp: Warp) -> Iterator[Step]:
    """WARPSYNC of the whole warp: threads wait for all live ones; those who wait at one instruction go on as one set."""
    if conditional(one, facts):
        ground.report(one, "unsupported-flow", f"{one.opcode} under a condition is not modelled")
    if one.following not in ground.blocks.at:
        yield from ground.go_on(context, one, warp)
        return
    domain, points = ground.domain, ground.points
    here = points.name(Point(context, one.following, MEET))
    sides, whole = points.of("") | points.of(RELEASED), points.name(Point((), ALL_LIVE, WARP))
    at_once, resumed = domain.gather(warp, here, whole, sides=sides, others=points.of(MEET))
    if at_once is not None:
        yield from ground.go_on(context, one, ground.released(at_once))
    for outcome in resumed:
        yield ground.resume(outcome)


def leave_early(ground: Ground, step: Break, warp: Warp) -> Warp:
    """BREAK: return the state after active threads left the nearest token of the tag."""
    return ground.domain.withdraw(warp, ground.points.of(step.tag), ACTIVE, sure=not step.some)


def leave_late(ground: Ground, block: Block, step: Step, *, taken: bool, before: Warp) -> Step:
    """Return a step of the branch that the held breaks of its block waited for, after the threads that left did so.

    Whether a thread left is whether it takes the branch, or whether it does not; where more than the guard decides, those who do not take
    it are of both kinds. `taken` says which of them go on, the others are suspended where the step says; `before` is the state before it.
    """
    warp = step.warp
    for one in block.late:
        tag = ground.points.of(one.tag)
        for who, takes in ((ACTIVE, taken), (step.pushed, not taken)):
            if who is None:
                continue
            # Threads that do not take it have a false guard, or, where that is not all that decides, perhaps a true one.
            known = takes or (block.last is not None and block.last.guard_alone)
            # Others who wait at the same point did not leave now: they must be outside already, for what is said of the group to be true.
            alone = who == ACTIVE or ground.domain.outside(before, who, tag)
            if takes == one.takers or not known:
                warp = ground.domain.withdraw(warp, tag, who, sure=known and alone)
    return Step(step.kind, step.to, warp, step.pushed, step.popped)
