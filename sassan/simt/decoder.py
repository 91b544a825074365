"""What the SIMT machine executes of a function, from the opcode tables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from sassan.domains.bits import bits
from sassan.errors import SassanError
from sassan.ir import Guard, Immediate, Instruction, Memory, Register, Target
from sassan.isa.computations import NEVER_HOLDS
from sassan.isa.facts import Facts, Flow
from sassan.simt.code import (
    ALWAYS,
    WARPSYNC_TAG,
    BarrierMove,
    Clear,
    Condition,
    ControlTransfer,
    Decoded,
    Linear,
    Operation,
    Push,
    Test,
    Unity,
    number,
)
from sassan.simt.spills import local_operation, shared_operation
from sassan.simt.values import ONE_COPY, key

_QUIET = frozenset({Flow.NONE, Flow.BLOCK_BARRIER})
_UNANIMOUS = frozenset({"DIV", "CONV"})
_PREDICATES = frozenset({"P", "UP"})


@dataclass(frozen=True, slots=True)
class TableDecoder:
    """The decoder by the opcode tables: `facts` are those of the tables.

    `calls` are those by which the graph enters functions; any other one since Volta that names a place is a far jump. None: all are calls.
    `stack`: threads find again what they stored in their own memory; else that is drawn as all memory is. `shared`: loads and stores of
    shared memory are kept apart, for machines that follow which words of it are certain. `memory`: what accesses memory is an
    operation, though it may write no register.
    """

    facts: Callable[[Instruction], Facts | None]
    calls: frozenset[int] | None = None
    stack: bool = False
    shared: bool = False
    memory: bool = False

    def decode(self, instruction: Instruction) -> Decoded:
        """Return what the instruction does.

        Raises SassanError `unsupported-instruction` where the tables, or the machine, have no rule for it.
        """
        facts = self.facts(instruction)
        if facts is None:
            raise _refused(instruction)
        condition = _condition(instruction, facts)
        if facts.flow in _QUIET:
            local = local_operation(instruction, condition, _bits(facts.writes)) if self.stack else None
            shared = shared_operation(instruction, condition, _bits(facts.writes)) if self.shared else None
            return local or shared or _operation(instruction, facts, condition, memory=self.memory)
        if facts.flow is Flow.PUSH:
            if condition != ALWAYS or facts.target is None:
                raise _refused(instruction)
            return Push(facts.tag, facts.target)
        if facts.flow is Flow.BARRIER_MOVE:
            return _barrier_move(instruction, condition)
        if self._is_far_jump(instruction, facts):
            return ControlTransfer(Flow.BRANCH, condition, target=facts.target, unity=Unity.EACH)
        return _control(instruction, facts, condition)

    def _is_far_jump(self, instruction: Instruction, facts: Facts) -> bool:
        inside = facts.flow is Flow.CALL and not facts.tag and facts.target is not None
        return inside and self.calls is not None and instruction.address not in self.calls


def _refused(instruction: Instruction) -> SassanError:
    return SassanError("unsupported-instruction", f"the SIMT machine has no rule for {instruction.opcode} at 0x{instruction.address:04x}")


@lru_cache(maxsize=1 << 12)
def _bits(registers: int) -> tuple[int, ...]:
    return tuple(bits(registers))


def _condition(instruction: Instruction, facts: Facts) -> Condition:
    if instruction.guard is None and not instruction.condition and facts.flow in _QUIET:
        return ALWAYS
    tests: list[Test] = []
    never = False
    guards: list[Guard | Register] = [instruction.guard] if instruction.guard else []
    if facts.flow not in _QUIET:
        guards += [operand for operand in instruction.operands if isinstance(operand, Register) and operand.file in _PREDICATES]
    for guard in guards:
        name = number(guard.file, guard.index)
        if name is None:
            never = never or guard.negated
        else:
            tests.append(Test(name, guard.negated))
    if instruction.condition:
        flags = number("CC", 0)
        assert flags is not None
        tests.append(Test(flags, flags=key(instruction.condition)))
    return Condition(tuple(tests), never) if tests or never else ALWAYS


def _operation(instruction: Instruction, facts: Facts, condition: Condition, *, memory: bool) -> Operation | None:
    writes = _bits(facts.writes)
    if not writes and not (memory and any(isinstance(operand, Memory) for operand in instruction.operands)):
        return None
    if facts.computes is NEVER_HOLDS:
        return Operation(instruction, key(instruction.opcode), (), writes, condition, exact=Linear(0))
    broadcast = ONE_COPY.issuperset(writes)
    reads = _bits(facts.reads)
    return Operation(
        instruction, key(instruction.opcode), reads, writes, condition, time=True, broadcast=broadcast, agreeing=_agreeing(facts)
    )


def _agreeing(facts: Facts) -> tuple[int, ...] | None:
    """Return on which inputs threads must agree so that they agree on all results, None where they need not even then."""
    needs = 0
    for effect in facts.effects:
        if effect.needs is None:
            return None
        needs |= effect.needs
    return _bits(needs & facts.reads)


def _control(instruction: Instruction, facts: Facts, condition: Condition) -> ControlTransfer:
    modifiers = instruction.opcode.split(".")
    match facts.flow:
        case Flow.BRANCH:
            unity = Unity.OPEN if not _UNANIMOUS.isdisjoint(modifiers) else Unity.FIRST if "U" in modifiers else Unity.EACH
            return ControlTransfer(facts.flow, condition, target=facts.target, unity=unity)
        case Flow.INDIRECT_BRANCH if instruction.targets:
            return ControlTransfer(facts.flow, condition, targets=instruction.targets, selector=_bits(facts.reads), key=key("BRX"))
        case Flow.RETURN:
            where = instruction.operands[0]
            register = number(where.file, where.index) if isinstance(where, Register) else None
            if register is None:
                raise _refused(instruction)
            base = (
                next((operand.address for operand in instruction.operands if isinstance(operand, Target)), 0) if "REL" in modifiers else 0
            )
            return ControlTransfer(facts.flow, condition, selector=(register,), base=base)
        case Flow.WARP_BARRIER:
            return ControlTransfer(facts.flow, condition, tag=WARPSYNC_TAG)
        case Flow.CALL | Flow.POP | Flow.BREAK | Flow.EXIT | Flow.TRAP:
            return ControlTransfer(facts.flow, condition, tag=facts.tag, target=facts.target)
        case _:
            raise _refused(instruction)


def _barrier_move(instruction: Instruction, condition: Condition) -> Decoded:
    into, out = instruction.operands
    modifiers = instruction.opcode.split(".")
    if not isinstance(into, Register) or "32" not in modifiers:
        raise _refused(instruction)
    if into.file == "B" and isinstance(out, Immediate) and isinstance(out.value, int):
        return ControlTransfer(Flow.NONE, condition, moves=BarrierMove(f"B{into.index}", None, save=False, mask=out.value))
    if not isinstance(out, Register):
        raise _refused(instruction)
    if into.file == out.file == "B":
        clear = "CLEAR" in modifiers
        return ControlTransfer(
            Flow.NONE, condition, moves=BarrierMove(f"B{into.index}", None, save=False, clear=clear, source=f"B{out.index}")
        )
    if into.file == "B":
        return ControlTransfer(Flow.NONE, condition, moves=BarrierMove(f"B{into.index}", number(out.file, out.index), save=False))
    if into.index is None and condition == ALWAYS and "CLEAR" in modifiers:
        return Clear(f"B{out.index}")
    return ControlTransfer(
        Flow.NONE, condition, moves=BarrierMove(f"B{out.index}", number(into.file, into.index), save=True, clear="CLEAR" in modifiers)
    )
