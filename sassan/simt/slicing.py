"""The part of a program that can influence where control goes: less to execute, the same paths."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, Block, Code, Control, Local, Operation

_MEMORY = -1
"""All of local memory, as if it were one register."""
_CALLS = frozenset({Flow.CALL, Flow.INDIRECT_CALL})
_SIMPLE = frozenset({Flow.NONE, Flow.BRANCH, Flow.EXIT, Flow.TRAP, Flow.BLOCK_BARRIER})
"""Each thread goes on at one of the blocks that are named."""
_LEAVES = frozenset({Flow.POP, Flow.BREAK, Flow.BARRIER_MOVE, Flow.WARP_BARRIER})
"""Threads may also go on where a token resumes."""


def control_slice(code: Code, also: frozenset[int] = frozenset()) -> Code:
    """Return the code without the operations whose results no condition and no selector can depend on; `also` are registers to keep.

    The closure ignores the order of instructions, so it keeps too much rather than too little.
    """
    # Backwards, for most registers are written before they are read.
    operations = [operation for block in reversed(code.blocks) for operation in reversed(block.operations)]
    wanted = _closure(operations, _sinks(code) | also)
    blocks = tuple(
        replace(block, operations=tuple(operation for operation in block.operations if not wanted.isdisjoint(_writes(operation))))
        for block in code.blocks
    )
    return replace(code, blocks=blocks, registers=tuple(sorted(wanted - {_MEMORY})))


def _sinks(code: Code) -> set[int]:
    out: set[int] = set()
    for block in code.blocks:
        if block.control is not None:
            out |= {*block.control.selector, *(test.register for test in block.control.condition.tests)}
            if block.control.moves is not None and block.control.moves.register is not None:
                out.add(block.control.moves.register)
    return out


def _closure(operations: list[Operation], wanted: set[int]) -> set[int]:
    grown = True
    while grown:
        grown = False
        for operation in operations:
            if wanted.isdisjoint(_writes(operation)):
                continue
            # A write to a wider result is kept whole, so that the slice hashes what the full program hashes.
            more = {
                *operation.reads,
                *operation.gathered,
                *_writes(operation),
                *(test.register for test in operation.condition.tests),
            } - wanted
            if isinstance(operation.exact, Local):
                more |= {_MEMORY} - wanted
            wanted = wanted | more
            grown = grown or bool(more)
    return wanted


def _writes(operation: Operation) -> tuple[int, ...]:
    return (*operation.writes, _MEMORY) if isinstance(operation.exact, Local) and operation.exact.store else operation.writes


def live_slice(code: Code, read: Mapping[int, frozenset[int]]) -> Code:
    """Return the code without the operations whose results no condition, no selector and no watched access reads later.

    Blocks, registers and every word that is read stay what they are; `read` are the registers that are looked at when a block is entered,
    by its address. Threads are followed one by one, each to wherever it can go on. Code with calls is returned as it is.
    """
    if any(block.control is not None and block.control.flow in _CALLS for block in code.blocks):
        return code
    whole = _mask((*code.registers, *(register for some in read.values() for register in some)))
    shared = _mask(
        register for block in code.blocks for operation in block.operations if operation.broadcast for register in operation.writes
    )
    resumed = {target for block in code.blocks for _, target in block.pushes if target >= 0}
    after = [_after(block, resumed) for block in code.blocks]
    ends = [_read_by(block.control) | shared for block in code.blocks]
    heads = [_mask(read.get(block.address, ())) for block in code.blocks]
    live = [0] * len(code.blocks)
    kept: list[tuple[Operation, ...]] = [()] * len(code.blocks)
    grown = True
    while grown:
        grown = False
        for number in reversed(range(len(code.blocks))):
            goes, out = after[number], ends[number]
            for other in goes if goes is not None else ():
                out |= live[other]
            entered, kept[number] = _live_operations(code.blocks[number].operations, out if goes is not None else out | whole, shared)
            entered |= heads[number]
            grown = grown or entered != live[number]
            live[number] = entered
    return replace(code, blocks=tuple(replace(block, operations=some) for block, some in zip(code.blocks, kept, strict=True)))


def _live_operations(operations: Sequence[Operation], live: int, shared: int) -> tuple[int, tuple[Operation, ...]]:
    """Return the registers that are read from the start of a block on, and the operations that write what is; `live`: after the block."""
    kept: list[Operation] = []
    for operation in reversed(operations):
        writes = _mask(operation.writes)
        if not (isinstance(operation.exact, Local) or writes & (live | shared)):
            continue
        if operation.condition == ALWAYS and not operation.broadcast:
            live &= ~writes
        live |= _mask((*operation.reads, *operation.gathered, *(test.register for test in operation.condition.tests)))
        kept.append(operation)
    return live, tuple(reversed(kept))


def _after(block: Block, resumed: set[int]) -> set[int] | None:
    """Return the blocks at which threads go on after a block, None for any."""
    control = block.control
    if control is not None and control.flow not in _SIMPLE | _LEAVES:
        return None
    known = {block.follow, block.target, *block.targets} - {-1}
    return known | resumed if control is not None and control.flow in _LEAVES else known


def _read_by(control: Control | None) -> int:
    if control is None:
        return 0
    moved = () if control.moves is None or control.moves.register is None else (control.moves.register,)
    return _mask((*control.selector, *(test.register for test in control.condition.tests), *moved))


def _mask(registers: Iterable[int]) -> int:
    mask = 0
    for register in registers:
        mask |= 1 << register
    return mask
