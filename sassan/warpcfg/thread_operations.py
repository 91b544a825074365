"""The few instructions of a program that matter to where calls and returns go: what they move, overwrite, and do to barriers."""

from typing import NamedTuple

from sassan.domains.bits import bits
from sassan.ir import Instruction, Register
from sassan.isa.facts import Facts, Flow
from sassan.isa.moves import Add, Fetch, InitialStackPointer, Load, Move, Put, RestoreBarrier, RoundDown, SaveBarrier, Store, moves
from sassan.isa.registers import bit
from sassan.warpcfg.blocks import Blocks

STACK_POINTER = 1
_USES_VALUES = frozenset({Flow.INDIRECT_CALL, Flow.RETURN, Flow.CALL, Flow.BARRIER_MOVE})
"""Without any of these, a thread's values decide nothing."""


class ThreadOperation(NamedTuple):
    """One instruction that matters: what it moves, what it writes besides, and what it does to a barrier."""

    one: Instruction
    flow: Flow
    barrier: int
    guarded: bool
    moves: tuple[Move, ...]
    kills: tuple[int, ...]


def address_register(instruction: Instruction) -> int | None:
    """Return the bit index of the register pair that holds the address of a call or a return."""
    for operand in instruction.operands:
        if isinstance(operand, Register) and operand.file in ("R", "UR") and operand.index is not None:
            return bit(operand.file, operand.index).bit_length() - 1
    return None


def operations(blocks: Blocks) -> tuple[list[list[ThreadOperation]], int]:
    """Return, per block, the instructions that matter to where calls and returns go and to barriers, and the registers that do."""
    following = any(facts is not None and facts.flow in _USES_VALUES for block in blocks.blocks for facts in block.facts)
    read = [
        [
            (instruction, facts, moves(instruction, facts.computes) if following else ())
            for instruction, facts in zip(block.instructions, block.facts, strict=True)
            if facts is not None and (following or facts.flow is not Flow.NONE)
        ]
        for block in blocks.blocks
    ]
    wanted = _wanted([part for row in read for part in row]) if following else 0
    out: list[list[ThreadOperation]] = []
    for block, row in zip(blocks.blocks, read, strict=True):
        late = {late_facts.tag for late_facts in block.late}
        ops = [
            _operation(instruction, facts, done, wanted)
            for instruction, facts, done in row
            if not (facts.flow is Flow.BREAK and facts.tag in late)
        ]
        out.append([op for op in ops if op is not None])
    return out, wanted


def _wanted(program: list[tuple[Instruction, Facts, tuple[Move, ...]]]) -> int:
    """Return the registers whose values may reach the address of a call or a return, or a restored barrier."""
    wanted = 0
    for instruction, facts, done in program:
        low = address_register(instruction) if facts.flow in {Flow.INDIRECT_CALL, Flow.RETURN} else None
        wanted |= 0 if low is None else 0b11 << low
        for part in done:
            if isinstance(part, RestoreBarrier) and part.source is not None:
                wanted |= 1 << part.source
    before = -1
    while wanted != before:
        before = wanted
        for _, _, done in program:
            for part in done:
                wanted |= _needed(part, wanted)
    return wanted


def _needed(part: Move, wanted: int) -> int:
    """Return the registers that a move reads for a wanted one; what is stored is wanted once anything wanted is loaded."""
    match part:
        case Add(to, source) | RoundDown(to, source) if wanted >> to & 1:
            return 1 << source
        case Load(to, count, base) if wanted & ((1 << count) - 1) << to:
            return 1 << base | 1 << STACK_POINTER
        case Fetch(to, count, int(base)) if wanted & ((1 << count) - 1) << to:
            return 1 << base
        case Store(base, _, sources) if wanted >> STACK_POINTER & 1:
            return sum(1 << source for source in {base, *sources} if source is not None)
        case _:
            return 0


def _operation(instruction: Instruction, facts: Facts, done: tuple[Move, ...], wanted: int) -> ThreadOperation | None:
    """Return what an instruction does to the wanted registers, to the stack slots and to barriers; None for nothing."""
    targets = 0
    for part in done:
        match part:
            case Put(to) | InitialStackPointer(to) | Add(to) | RoundDown(to):
                targets |= 1 << to
            case Load(to, count) | Fetch(to, count):
                targets |= ((1 << count) - 1) << to
            case SaveBarrier(to) if to is not None:
                targets |= 1 << to
            case _:
                pass
    kept = tuple(
        part for part in done if targets & wanted or not isinstance(part, Put | InitialStackPointer | Add | RoundDown | Load | Fetch)
    )
    stores = [part for part in kept if not isinstance(part, Store) or wanted >> STACK_POINTER & 1]
    kills = tuple(bits(facts.writes & wanted & ~targets))
    is_barrier = facts.is_barrier and facts.flow in {Flow.PUSH, Flow.POP, Flow.BREAK, Flow.BARRIER_MOVE}
    if not stores and not kills and not is_barrier:
        return None
    number = int(facts.tag[1:]) if is_barrier else -1
    return ThreadOperation(
        instruction, facts.flow if is_barrier else Flow.NONE, number, instruction.guard is not None, tuple(stores), kills
    )
