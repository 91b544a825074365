"""The part of a program that can influence where control goes: less to execute, the same paths.

The demand of registers (`analysis/demand.py`) is followed as in the analyses that the machine checks: it decides what is computed, never
what is computed of it, and a slice that lacks an operation takes other paths than the whole program, which the tests compare.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_

from sassan.analysis.demand import Use, demand
from sassan.domains.bits import bits
from sassan.simt.branch_sides import END, following
from sassan.simt.code import ALWAYS, ControlTransfer, ExecutableFunction, LocalAccess, Operation


def control_slice(code: ExecutableFunction, also: frozenset[int] = frozenset()) -> ExecutableFunction:
    """Return the code without the operations whose results no condition and no selector can depend on; `also` are registers to keep.

    The order of instructions is ignored, as if all stood in one block that leads to itself: so too much is kept rather than too little.
    """
    first = max((*code.registers, *also), default=0) + 1
    memory = 1 << first, 1 << first + 1  # all of local memory, and all of shared memory, as if each were one register
    uses = {operation.instruction.address: _use_in_any_order(operation, memory) for block in code.blocks for operation in block.operations}
    # Backwards, for most registers are written before they are read.
    wanted = demand({0: list(uses.values())}, {0: [0]}, [0], {0: _sinks(code) | mask_of(also)}).before.get(0, 0)
    blocks = tuple(
        replace(block, operations=tuple(operation for operation in block.operations if uses[operation.instruction.address].writes & wanted))
        for block in code.blocks
    )
    return replace(code, blocks=blocks, registers=tuple(bits(wanted & ~(memory[0] | memory[1]))))


def _sinks(code: ExecutableFunction) -> int:
    return reduce(or_, [read_by(block.control) for block in code.blocks], 0)


def _use_in_any_order(operation: Operation, memories: tuple[int, int]) -> Use:
    local = operation.exact if isinstance(operation.exact, LocalAccess) else None
    memory = memories[local is not None and local.shared]
    writes = mask_of(operation.writes) | (memory if local is not None and local.store else 0)
    # A write to a wider result is kept whole, so that the slice hashes what the full program hashes.
    return Use(writes, -1, reads_of(operation) | writes | (memory if local is not None else 0))


def live_slice(code: ExecutableFunction, read: Mapping[int, frozenset[int]]) -> ExecutableFunction:
    """Return the code without the operations whose results no condition, no selector and no watched access reads later.

    Blocks, registers and every word that is read stay what they are; `read` are the registers that are looked at when a block is entered,
    by its address. Threads are followed one by one, each to wherever it can go on. Code with calls is returned as it is.
    """
    after = following(code)
    if after is None:
        return code
    shared = mask_of(
        register for block in code.blocks for operation in block.operations if operation.broadcast for register in operation.writes
    )
    before: dict[int, list[int]] = {number: [] for number in range(len(code.blocks))}
    ends: dict[int, int] = {}
    for number, block in enumerate(code.blocks):
        ends[number] = read_by(block.control) | shared
        for other in after[number] - {END}:
            before[other].append(number)
    # What is looked at when a block is entered is demanded before its first operation, whatever follows.
    uses = {
        number: [Use(0, -1, 0, mask_of(read.get(block.address, ()))), *[_use(operation, shared) for operation in block.operations]]
        for number, block in enumerate(code.blocks)
    }
    behind = demand(uses, before, range(len(code.blocks)), ends).behind
    blocks = tuple(
        replace(
            block,
            operations=tuple(
                operation
                for operation, live in zip(block.operations, behind.get(number, (0, *[0] * len(block.operations)))[1:], strict=True)
                if _is_needed(operation, live | shared)
            ),
        )
        for number, block in enumerate(code.blocks)
    )
    return replace(code, blocks=blocks)


def _is_needed(operation: Operation, live: int) -> bool:
    return isinstance(operation.exact, LocalAccess) or bool(mask_of(operation.writes) & live)


def _use(operation: Operation, shared: int) -> Use:
    writes, reads = mask_of(operation.writes), reads_of(operation)
    kept = ~writes if operation.condition == ALWAYS and not operation.broadcast else -1
    return Use(writes, kept, reads, reads if _is_needed(operation, shared) else 0)


def reads_of(operation: Operation) -> int:
    """Return the registers that an operation reads, its guard among them, as a set of bits."""
    return mask_of((*operation.reads, *operation.gathered, *(test.register for test in operation.condition.tests)))


def read_by(control: ControlTransfer | None) -> int:
    """Return the registers that decide where threads go at the end of a block, as a set of bits."""
    if control is None:
        return 0
    moved = () if control.moves is None or control.moves.register is None else (control.moves.register,)
    return mask_of((*control.selector, *(test.register for test in control.condition.tests), *moved))


def mask_of(registers: Iterable[int]) -> int:
    """Return registers as a set of bits."""
    mask = 0
    for register in registers:
        mask |= 1 << register
    return mask
