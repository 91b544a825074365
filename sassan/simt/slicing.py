"""The part of a program that can influence where control goes: less to execute, the same paths."""

from dataclasses import replace

from sassan.simt.code import Code, Local, Operation

_MEMORY = -1
"""All of local memory, as if it were one register."""


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
