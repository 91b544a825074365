"""Mutations of what is analysed: of the program, and of the facts about its instructions."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from sassan.errors import SassanError
from sassan.ir import Guard, Instruction, Target
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.registers import bit
from sassan.warpcfg import explore
from soundness.mutants import Case, Maker, Mutant


def rewritten(case: Case, address: int, new: Instruction, what: str) -> Iterator[Mutant]:
    instructions = tuple(new if one.address == address else one for one in case.function.instructions)
    try:
        cfg = explore(replace(case.function, instructions=instructions), case.facts_of)
    except SassanError:
        return
    yield Mutant(cfg, f"{what} at {address:04x}")


def those_of(case: Case, *roots: str, guarded: bool | None = None) -> Iterator[Instruction]:
    for one in case.function.instructions:
        if one.opcode.split(".")[0] in roots and (guarded is None or guarded == (one.guard is not None)):
            yield one


def target(one: Instruction) -> int:
    return next(operand.address for operand in one.operands if isinstance(operand, Target))


def retarget(*roots: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        starts = sorted({node.start for node in case.cfg.nodes})
        for one in those_of(case, *roots):
            old = target(one)
            other = next((start for start in starts if start > old), starts[0])
            operands = tuple(Target(other) if isinstance(operand, Target) else operand for operand in one.operands)
            yield from rewritten(case, one.address, replace(one, operands=operands), f"{one.opcode} goes to {other:04x}")

    return make


def drop(*roots: str, guarded: bool | None = None) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in those_of(case, *roots, guarded=guarded):
            nop = replace(one, opcode="NOP", operands=(), guard=None, condition="", targets=())
            yield from rewritten(case, one.address, nop, f"{one.opcode} dropped")

    return make


def rename(root: str, other: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in those_of(case, root):
            yield from rewritten(case, one.address, replace(one, opcode=other), f"{root} is {other}")

    return make


def guard_change(change: Callable[[Guard], Guard | None], *roots: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in case.function.instructions:
            if one.guard is not None and (not roots or one.opcode.split(".")[0] in roots):
                yield from rewritten(case, one.address, replace(one, guard=change(one.guard)), f"guard of {one.opcode}")

    return make


def swap_predicate(guard: Guard) -> Guard:
    return replace(guard, index=((guard.index or 0) + 1) % 5)


def no_test(case: Case) -> Iterator[Mutant]:
    for one in case.function.instructions:
        if one.condition:
            yield from rewritten(case, one.address, replace(one, condition=""), "CC test dropped")


def shorter_table(case: Case) -> Iterator[Mutant]:
    for one in those_of(case, "BRX"):
        if len(one.targets) > 1:
            yield from rewritten(case, one.address, replace(one, targets=one.targets[1:]), "one target fewer")


def facts(change: Callable[[Instruction, Facts], Facts], part: Callable[[Instruction], object] = lambda one: one.opcode) -> Maker:
    """Mutate the facts of all instructions for which `part` says the same: of one opcode at a time, or of one instruction."""

    def make(case: Case) -> Iterator[Mutant]:
        for chosen in dict.fromkeys(part(one) for one in case.function.instructions):

            def facts_of(one: Instruction, chosen: object = chosen) -> Facts | None:
                facts = case.facts_of(one)
                return change(one, facts) if facts is not None and part(one) == chosen else facts

            if all(facts_of(one) == case.facts_of(one) for one in case.function.instructions):
                continue
            try:
                yield Mutant(explore(case.function, facts_of), f"facts of {chosen}")
            except SassanError:
                continue

    return make


def lanewise(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(
        effects=tuple(WriteEffect(effect.writes, facts.reads if effect.needs is None else effect.needs) for effect in facts.effects)
    )


def no_writes(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(effects=())


def no_reads(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(effects=tuple(effect._replace(needs=None if effect.needs is None else 0) for effect in facts.effects))


def no_carry(one: Instruction, facts: Facts) -> Facts:
    del one
    carry = bit("CC", 0)
    return facts._replace(effects=tuple(effect._replace(writes=effect.writes & ~carry) for effect in facts.effects))


def no_condition(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts if facts.flow is Flow.NONE else facts._replace(condition=0, guard=0)


def guard_decides(one: Instruction, facts: Facts) -> Facts:
    """A CC-tested branch taken for one that the guard alone decides."""
    return facts._replace(guard_alone=True) if one.condition else facts


def no_push(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(flow=Flow.NONE) if facts.flow is Flow.PUSH else facts


def exit_is_sync(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(flow=Flow.POP, tag="SYNC") if facts.flow is Flow.EXIT else facts


def sync_is_exit(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts._replace(flow=Flow.EXIT, tag="") if facts.tag == "SYNC" and facts.flow is Flow.POP else facts
