"""Mutations of programs as compiled since Volta, and of the facts about their instructions."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from sassan.errors import SassanError
from sassan.ir import Immediate, Instruction, Operand, Register
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg import Options, explore
from sassan.warpcfg.options import TAKEN_FIRST
from soundness.mutants import Case, Maker, Mutant
from soundness.mutate_input import rewritten, those_of

Change = Callable[[Operand], Operand]


def operand(change: Change, *roots: str) -> Maker:
    """Change the operands of one instruction at a time."""

    def make(case: Case) -> Iterator[Mutant]:
        for one in those_of(case, *roots):
            operands = tuple(change(operand) for operand in one.operands)
            if operands != one.operands:
                yield from rewritten(case, one.address, replace(one, operands=operands), f"operands of {one.opcode}")

    return make


def other_barrier(operand: Operand) -> Operand:
    if isinstance(operand, Register) and operand.file == "B" and operand.index is not None:
        return replace(operand, index=(operand.index + 1) % 16)
    return operand


def no_predicate(operand: Operand) -> Operand:
    return replace(operand, index=None, negated=False) if isinstance(operand, Register) and operand.file == "P" else operand


def later_return(case: Case) -> Iterator[Mutant]:
    """Let a return address be that of another call, or of nothing."""
    behind = sorted({one.following for one in those_of(case, "CALL")})
    for one in those_of(case, "MOV", "IMAD"):
        last = one.operands[-1]
        if isinstance(last, Immediate) and last.value in behind:
            place = behind[(behind.index(int(last.value)) + 1) % len(behind)]
            changed = Immediate(place if place != last.value else place + 16)
            yield from rewritten(case, one.address, replace(one, operands=(*one.operands[:-1], changed)), "another return address")


def renamed(change: Callable[[Instruction], str | None]) -> Maker:
    """Take one instruction at a time for another one."""

    def make(case: Case) -> Iterator[Mutant]:
        for one in case.function.instructions:
            opcode = change(one)
            if opcode is not None:
                yield from rewritten(case, one.address, replace(one, opcode=opcode), f"{one.opcode} is {opcode}")

    return make


def uniform(one: Instruction) -> str | None:
    """A branch of which each thread decides, taken for one on which they agree."""
    return "BRA.U" if one.opcode == "BRA" and (one.guard is not None or len(one.operands) > 1) else None


def certain(one: Instruction) -> str | None:
    """A branch that is open, taken for one that all take."""
    return "BRA" if one.opcode in {"BRA.DIV", "BRA.CONV"} and one.guard is None else None


def saved(*, restore: bool) -> Maker:
    """Drop what keeps a barrier register over a function: the restore, or all of it."""

    def make(case: Case) -> Iterator[Mutant]:
        for one in those_of(case, "BMOV"):
            first = one.operands[0]
            if isinstance(first, Register) and ((first.file == "B") if restore else (first.file == "R" and first.index is not None)):
                nop = replace(one, opcode="NOP", operands=(), guard=None)
                yield from rewritten(case, one.address, nop, f"{one.opcode} dropped")

    return make


def one_order(case: Case) -> Iterator[Mutant]:
    try:
        yield Mutant(explore(case.function, case.facts_of, Options(order=TAKEN_FIRST)), "only the taken side first")
    except SassanError:
        return


def always_taken(one: Instruction, facts: Facts) -> Facts:
    """A call or return under a guard, taken for one without."""
    del one
    return facts._replace(condition=0, guard=0) if facts.flow in {Flow.CALL, Flow.RETURN} else facts


def break_is_nothing(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(flow=Flow.NONE, tag="") if facts.flow is Flow.BREAK else facts


def barrier_is_exit(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(flow=Flow.EXIT, tag="") if facts.flow is Flow.POP else facts


def meets_nothing(one: Instruction, facts: Facts) -> Facts:
    """A WARPSYNC at which threads do not wait."""
    del one
    return facts._replace(flow=Flow.NONE) if facts.flow is Flow.WARP_BARRIER else facts
