"""Walks from an instruction that sets a barrier: where it is waited for, and what depends on the access without a wait."""

import re
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
    """An access of variable latency and the barrier that it clears, -1 for none: the write of its result, or the read of its operands."""

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


def accesses(code: Code) -> Iterator[Access]:
    """Yield every access of variable latency."""
    for index, control in enumerate(code.controls):
        if not code.fixed(index):
            yield Access(index, WRITE, -1 if control.write_barrier is None else control.write_barrier)
        variable = code.hazards.profile(code.function.instructions[index].opcode).variable
        if variable or control.read_barrier is not None:
            yield Access(index, READ, -1 if control.read_barrier is None else control.read_barrier)


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
        elif _remains(code, index, access.barrier) is None:
            left = registers if code.guards[index] else registers & ~code.writes[index]
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
        waits = code.controls[index].wait_mask >> access.barrier & 1 or _remains(code, index, access.barrier) is not None
        if waits and not first:
            continue
        first = False
        if depends(code, access, index, registers, way):
            yield index
        left = registers if code.guards[index] else registers & ~code.writes[index]
        if left:
            todo.extend((to, left, (*way, index)) for to in code.after[index])


def _remains(code: Code, index: int, barrier: int) -> int | None:
    """Return how many setters of a barrier DEPBAR leaves open (`DEPBAR.LE SB5, 0x2, {1}`), None where it does not wait for it."""
    text = code.function.instructions[index].text.partition("DEPBAR")[2]
    if counted := re.search(rf"SB{barrier}\b(?:, (0x[0-9a-f]+))?", text):
        return int(counted[1] or "0x0", 16)
    listed = re.search(r"\{(.*)\}", text)
    return 0 if listed and str(barrier) in listed[1] else None


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


NOTHING, BARRIER, ORDER = "nothing depends", "waits for it too", "ended otherwise"
"""Why an access needs no further wait."""


def why_protected(code: Code, access: Access) -> str:
    """Return why nothing depends on an access that may not have ended, '' when something does.

    Nothing depends on it at all; or everything behind waits for its barrier first; or it is over by something else: a wait for a later
    instruction of a unit that works in order, for reads also the write of the same instruction and a block barrier.
    """
    if not _unprotected(code, access, own=False, others=False):
        return NOTHING
    if not _unprotected(code, access, own=True, others=False):
        return BARRIER
    return "" if _unprotected(code, access, own=True, others=True) else ORDER


def unprotected(code: Code) -> tuple[Access, ...]:
    """Return the accesses on which something depends without a wait that says that they have ended."""
    return tuple(access for access in accesses(code) if _unprotected(code, access, own=True, others=True))


def _unprotected(code: Code, access: Access, *, own: bool, others: bool) -> bool:
    """Return whether some way leads to a use before the access has ended by what `own` and `others` allow for."""
    control = code.controls[access.producer]
    ends = {access.barrier: 0} if own and access.barrier >= 0 else {}
    if others and access.kind == READ and control.write_barrier is not None:
        ends[control.write_barrier] = 0
    todo = [(to, _touched(code, access), frozenset(ends.items()), (access.producer,)) for to in code.after[access.producer]]
    seen: set[tuple[int, int, frozenset[tuple[int, int]]]] = set()
    while todo and len(seen) < MOST:
        index, registers, known, way = todo.pop()
        # A wait that comes before the barrier can be seen waits for nothing.
        seen_ends = {} if sum(code.controls[one].stall for one in way) < code.hazards.visible else dict(known)
        if (index, registers, known) in seen or _ended(code, index, seen_ends) or (others and _drained(code, access, index)):
            continue
        if seen_ends or not known:
            seen.add((index, registers, known))
        if depends(code, access, index, registers, way):
            return True
        left = registers if code.guards[index] else registers & ~code.writes[index]
        if left:
            more = frozenset(_counted(code, access, index, dict(known), others=others).items())
            todo.extend((to, left, more, (*way, index)) for to in code.after[index])
    return False


def _ended(code: Code, index: int, ends: dict[int, int]) -> bool:
    """Return whether an instruction waits until the access has ended; `ends` counts what has set each barrier since."""
    if any(code.controls[index].wait_mask >> barrier & 1 for barrier in ends):
        return True
    left = {barrier: _remains(code, index, barrier) for barrier in ends}
    return any(most is not None and ends[barrier] >= most for barrier, most in left.items())


def _drained(code: Code, access: Access, index: int) -> bool:
    """Return whether a block barrier says that the operands have been read."""
    one, producer = code.function.instructions[index], code.function.instructions[access.producer]
    return access.kind == READ and code.hazards.profile(one.opcode).drains and bool(code.hazards.profile(producer.opcode).sources)


def _counted(code: Code, access: Access, index: int, ends: dict[int, int], *, others: bool) -> dict[int, int]:
    """Return what ends the access after an instruction: how many have set each barrier since."""
    producer, other = (code.hazards.profile(code.function.instructions[one].opcode) for one in (access.producer, index))
    control = code.controls[index]
    for barrier, kind in ((control.write_barrier, WRITE), (control.read_barrier, READ)):
        if barrier is None:
            continue
        results = access.kind == WRITE == kind and producer.results and producer.results == other.results
        sources = access.kind == READ and producer.sources and producer.sources == other.sources
        if barrier in ends:
            ends[barrier] = min(ends[barrier] + 1, 16)
        elif others and (results or sources):
            ends[barrier] = 0
    return ends
