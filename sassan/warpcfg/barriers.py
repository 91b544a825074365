"""Convergence barriers (since Volta): BSYNC, BREAK, and the barrier of the whole warp; BSSY is a push (docs/concepts/warp-machine.md)."""

import re
from collections.abc import Iterator

from sassan.domains.bits import bits
from sassan.domains.groups import ACTIVE
from sassan.domains.warp import Warp
from sassan.ir import Instruction, Register
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.blocks import BasicBlock, Break, conditional, disagree
from sassan.warpcfg.graph import Context
from sassan.warpcfg.steps import MEET, RELEASED, WARP, TransferContext, WarpStep

_ALIGNED = re.compile(r"[A-Z]*MMA\b|LDSM|STSM|MOVM|LDTM|STTM|WARPGROUP")
"""Opcodes of instructions that are `.aligned` in PTX: all threads of a warp execute the same one, or the program is undefined."""
ALL_LIVE = -2
"""The address of the entry that stands for all live threads."""


def start(program: TransferContext, shared: int) -> Warp:
    """Return the state of a warp that begins: at the bottom of the stack, an entry for all of its threads.

    They never wait there; it keeps what all live threads agree on, for the barriers of the whole warp: at first the registers `shared`.
    """
    return program.domain.push(program.domain.start(shared), program.points.name((), ALL_LIVE, WARP))


def sync(program: TransferContext, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
    """BSYNC: threads of the nearest token leave to it, the others pass; under a guard, only where it holds."""
    domain, tag = program.domain, program.points.of(facts.tag)
    members = domain.members(warp, tag)
    guarded = conditional(instruction, facts)
    learned = facts.guard if facts.guard_alone else 0
    for number in bits(domain.nearest(warp, tag)):
        if program.points[number].address != instruction.following:
            program.report(
                instruction,
                "misplaced-token",
                f"{instruction.opcode} does not stand before the target 0x{program.points[number].address:04x}",
            )
    if members.all:
        outcomes, _ = domain.leave(domain.narrow(warp, tag, members, inside=True), tag)
        for outcome in outcomes:
            yield program.resume(outcome)
    if members.none and not guarded:
        yield from program.go_on(context, instruction, domain.narrow(warp, tag, members, inside=False))
    elif guarded:
        yield from program.go_on(context, instruction, warp, 0 if members.none else learned)
    if members.some or (guarded and members.all and disagree(facts, warp.active)):
        stay, _ = domain.leave_some(domain.holding(warp, tag), tag, 0 if members.some else learned)
        if stay is not None:
            yield from program.go_on(context, instruction, stay if guarded else domain.narrow(stay, tag, members, inside=False))


def warp_barrier(program: TransferContext, context: Context, instruction: Instruction, facts: Facts, warp: Warp) -> Iterator[WarpStep]:
    """WARPSYNC of the whole warp: threads wait for all live ones; those who wait at one instruction go on as one set."""
    if conditional(instruction, facts):
        aligned = _aligned(program, instruction) if disagree(facts, warp.active) else ""
        if aligned:
            program.agreed[instruction.address] = aligned
        elif disagree(facts, warp.active):
            program.report(instruction, "unsupported-flow", f"{instruction.opcode} under a condition that divides the warp is not modelled")
        yield from program.go_on(context, instruction, warp)
    if instruction.following not in program.blocks.at:
        yield from program.go_on(context, instruction, warp)
        return
    domain, points = program.domain, program.points
    here = points.name(context, instruction.following, MEET)
    sides, whole = points.of("") | points.of(RELEASED), points.name((), ALL_LIVE, WARP)
    at_once, resumed = domain.gather(warp, here, whole, sides=sides, others=points.of(MEET))
    if at_once is not None:
        yield from program.go_on(context, instruction, program.released(at_once))
    for outcome in resumed:
        yield program.resume(outcome)


def _aligned(program: TransferContext, instruction: Instruction) -> str:
    """Return the opcode behind a guarded barrier, under the same guard, that a warp must execute as a whole; '' where there is none."""
    guard, at = instruction.guard, program.blocks.at.get(instruction.following)
    named = None if guard is None else (guard.file, guard.index)
    while named is not None and at is not None:
        block = program.blocks.blocks[at]
        for each in block.instructions:
            if each.guard == guard and _ALIGNED.match(each.opcode):
                return each.opcode
            if any(isinstance(operand, Register) and (operand.file, operand.index) == named for operand in each.operands):
                return ""
        passes = block.last is None or block.last.flow is Flow.WARP_BARRIER
        at = program.blocks.at.get(block.end.following) if passes else None
    return ""


def leave_early(program: TransferContext, step: Break, warp: Warp) -> Warp:
    """BREAK: return the state after active threads left the nearest token of the tag."""
    return program.domain.withdraw(warp, program.points.of(step.tag), ACTIVE, sure=not step.some)


def leave_late(program: TransferContext, block: BasicBlock, step: WarpStep, *, taken: bool, before: Warp) -> WarpStep:
    """Return a step of the branch that the held breaks of its block waited for, after the threads that left did so.

    Whether a thread left is whether it takes the branch, or whether it does not; where more than the guard decides, those who do not take
    it are of both kinds. `taken` says which of them go on, the others are suspended where the step says; `before` is the state before it.
    """
    warp = step.warp
    for late in block.late:
        tag = program.points.of(late.tag)
        for who, takes in ((ACTIVE, taken), (step.pushed, not taken)):
            if who is None:
                continue
            # Threads that do not take it have a false guard, or, where that is not all that decides, perhaps a true one.
            known = takes or (block.last is not None and block.last.guard_alone)
            # Others who wait at the same point did not leave now: they must be outside already, for what is said of the group to be true.
            alone = who == ACTIVE or program.domain.outside(before, who, tag)
            if takes == late.takers or not known:
                warp = program.domain.withdraw(warp, tag, who, sure=known and alone)
    return WarpStep(step.kind, step.to, warp, step.pushed, step.popped)
