"""Walks from an instruction that sets a barrier: where it is waited for, and what depends on the access without a wait."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.isa.registers import span
from soundness.control_walks import Code, apart

WRITE, READ = "write", "read"
MOST = 20_000
"""Steps after which a walk ends."""
_REGISTERS = span("R", 0, 256)


@dataclass(frozen=True, slots=True, order=True)
class Access:
    """An access of variable latency and the barrier that it clears: the write of its result, or the read of its operands."""

    producer: int
    kind: str
    barrier: int


def setters(code: Code) -> Iterator[Access]:
    """Yield every access that has a barrier."""
    for index, control in enumerate(code.controls):
        if control.write_barrier is not None:
            yield Access(index, WRITE, control.write_barrier)
        if control.read_barrier is not None:
            yield Access(index, READ, control.read_barrier)


def waits_soon(code: Code) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the ways from an instruction that sets a barrier to the first that waits for it, with the cycles that are left over."""
    visible = code.hazards.visible
    for access in setters(code):
        todo = [(to, code.controls[access.producer].stall, (access.producer,)) for to in code.after[access.producer]]
        while todo:
            index, distance, way = todo.pop()
            if distance >= visible + 15 or len(way) > 40:
                continue
            if code.controls[index].wait_mask >> access.barrier & 1:
                yield way, distance - visible
            else:
                todo.extend((to, distance + code.controls[index].stall, (*way, index)) for to in code.after[index])


def first_waits(code: Code, access: Access) -> frozenset[int]:
    """Return the instructions that are the first to wait for an access on some way, with something behind that depends on it."""
    out: set[int] = set()
    for index, registers, way in _until_wait(
        code, access, [(to, _touched(code, access), (access.producer,)) for to in code.after[access.producer]]
    ):
        start = [(index, registers, way)]
        if any(True for _ in _uses(code, access, start)):
            out.add(index)
    return frozenset(out)


_Walk = tuple[int, int, tuple[int, ...]]
"""An instruction, the registers still concerned before it, and the way to it."""


def _touched(code: Code, access: Access) -> int:
    if access.kind == WRITE:
        return code.writes[access.producer]
    return code.reads[access.producer] & _REGISTERS


def _until_wait(code: Code, access: Access, todo: list[_Walk]) -> Iterator[_Walk]:
    """Yield where each way first waits for the barrier by its mask, with the registers that are concerned there."""
    seen: set[tuple[int, int]] = set()
    while todo and len(seen) < MOST:
        index, registers, way = todo.pop()
        if (index, registers) in seen:
            continue
        seen.add((index, registers))
        if code.controls[index].wait_mask >> access.barrier & 1:
            yield index, registers, way
        elif not _remains(code, index, access.barrier):
            left = _left(code, access, index, registers)
            if left:
                todo.extend((to, left, (*way, index)) for to in code.after[index])


def _uses(code: Code, access: Access, todo: list[_Walk]) -> Iterator[int]:
    """Yield what depends on the access from an instruction on, whose own wait is taken away, before the next wait for the barrier."""
    first, seen = True, set[tuple[int, int]]()
    while todo and len(seen) < MOST:
        index, registers, way = todo.pop()
        if (index, registers) in seen:
            continue
        seen.add((index, registers))
        waits = code.controls[index].wait_mask >> access.barrier & 1 or _remains(code, index, access.barrier)
        if waits and not first:
            continue
        first = False
        if depends(code, access, index, registers, way):
            yield index
        left = _left(code, access, index, registers)
        if left:
            todo.extend((to, left, (*way, index)) for to in code.after[index])


def _remains(code: Code, index: int, barrier: int) -> bool:
    """Return whether DEPBAR names the barrier."""
    one = code.function.instructions[index]
    return one.opcode.startswith("DEPBAR") and f"SB{barrier}" in one.text


def _left(code: Code, access: Access, index: int, registers: int) -> int:
    """Return the registers that are still concerned behind an instruction."""
    del access
    return registers if code.guards[index] else registers & ~code.writes[index]


def depends(code: Code, access: Access, index: int, registers: int, way: tuple[int, ...]) -> bool:
    """Return whether an instruction depends on an access; units that work in order need no wait among themselves."""
    profile, other = (code.hazards.profile(code.function.instructions[one].opcode) for one in (access.producer, index))
    if apart(code, access.producer, index, way):
        return False
    overwrites = bool(code.writes[index] & registers)
    if access.kind == READ:
        return overwrites and not (profile.sources and profile.sources == other.sources)
    if (code.reads[index] | code.guards[index]) & registers:
        return True
    return overwrites and not (profile.results and profile.results == other.results)


def unprotected(code: Code, access: Access) -> bool:
    """Return whether something depends on an access and no wait says that it has ended, whatever can say so.

    An access ends with a wait for its own barrier; for that of a later instruction of a unit that works in order; a read also with the
    write of the same instruction, and with a block barrier.
    """
    control = code.controls[access.producer]
    own = {access.barrier: 0}
    if access.kind == READ and control.write_barrier is not None:
        own[control.write_barrier] = 0
    start = frozenset(own.items())
    todo = [(to, _touched(code, access), start, (access.producer,)) for to in code.after[access.producer]]
    seen: set[tuple[int, int, frozenset[tuple[int, int]]]] = set()
    while todo and len(seen) < MOST:
        index, registers, ends, way = todo.pop()
        if (index, registers, ends) in seen or _ended(code, access, index, dict(ends)):
            continue
        seen.add((index, registers, ends))
        if depends(code, access, index, registers, way):
            return True
        left = _left(code, access, index, registers)
        if left:
            more = frozenset(_counted(code, access, index, dict(ends)).items())
            todo.extend((to, left, more, (*way, index)) for to in code.after[index])
    return False


def _ended(code: Code, access: Access, index: int, ends: dict[int, int]) -> bool:
    one = code.function.instructions[index]
    producer = code.hazards.profile(code.function.instructions[access.producer].opcode)
    if access.kind == READ and producer.sources and code.hazards.profile(one.opcode).drains:
        return True
    if any(code.controls[index].wait_mask >> barrier & 1 for barrier in ends):
        return True
    for barrier, later in ends.items():
        if one.opcode.startswith("DEPBAR") and f"SB{barrier}" in one.text:
            most = one.text.partition(f"SB{barrier}, ")[2].split(",")[0] or "0x0"
            return later >= int(most, 16)
    return False


def _counted(code: Code, access: Access, index: int, ends: dict[int, int]) -> dict[int, int]:
    """Return what ends the access after an instruction: how many have set each barrier since."""
    producer, other = (code.hazards.profile(code.function.instructions[one].opcode) for one in (access.producer, index))
    control = code.controls[index]
    for barrier, kind in ((control.write_barrier, WRITE), (control.read_barrier, READ)):
        if barrier is None:
            continue
        if barrier in ends:
            ends[barrier] = min(ends[barrier] + 1, 16)
        elif access.kind == WRITE:
            if kind == WRITE and producer.results and producer.results == other.results:
                ends[barrier] = 0
        elif producer.sources and producer.sources == other.sources:
            ends[barrier] = 0
    return ends
