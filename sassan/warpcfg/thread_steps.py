"""What instructions do to the values of a single thread: the transfer of `calls.py`, without its control flow."""

from sassan.domains.thread_values import (
    BarrierMisuse,
    FramePointer,
    ThreadValueDomain,
    ThreadValues,
    copy,
    enter,
    kill,
    leave,
    load,
    plus,
    put,
    restore,
    save,
    store,
    write,
)
from sassan.isa.facts import Flow
from sassan.isa.moves import Add, CopyBarrier, Frame, Load, Move, Put, RestoreBarrier, SaveBarrier, Store, WriteBarrier
from sassan.warpcfg.blocks import Block
from sassan.warpcfg.thread_operations import Operation

DOMAIN = ThreadValueDomain()


def apply(operation: Operation, thread: ThreadValues) -> tuple[ThreadValues, BarrierMisuse | None]:
    """Return the values after an operation, and why its barrier is misused; under a guard it may not run."""
    out, misuse = _barrier(operation, kill(thread, operation.kills))
    for move in operation.moves:
        out = _moved(out, move)
    return (DOMAIN.join(thread, out) if operation.guarded else out), misuse


def _moved(thread: ThreadValues, move: Move) -> ThreadValues:
    match move:
        case Put(to, value):
            return put(thread, to, frozenset({value}))
        case Frame(to):
            return put(thread, to, frozenset({FramePointer(0)}))
        case Add(to, source, addend):
            return put(thread, to, plus(thread.registers.get(source), addend))
        case Load(to, count, base, offset):
            words = [load(thread, base, offset + 4 * place) for place in range(count)]
            for place, values in enumerate(words):
                thread = put(thread, to + place, values)
            return thread
        case Store(base, offset, sources):
            return store(thread, base, offset, sources)
        case SaveBarrier() | RestoreBarrier() | WriteBarrier() | CopyBarrier():
            return thread


def _barrier(operation: Operation, thread: ThreadValues) -> tuple[ThreadValues, BarrierMisuse | None]:
    if operation.flow is Flow.PUSH:
        return enter(thread, operation.barrier)
    if operation.flow in {Flow.POP, Flow.BREAK}:
        return leave(thread, operation.barrier)
    out: tuple[ThreadValues, BarrierMisuse | None] = thread, None
    for move in operation.moves:
        match move:
            case SaveBarrier(to, barrier, clear):
                out = save(thread, barrier, to, clear=clear)
            case RestoreBarrier(barrier, source):
                out = restore(thread, barrier, source)
            case WriteBarrier(barrier, mask):
                out = write(thread, barrier, mask)
            case CopyBarrier(to, source, clear):
                out = copy(thread, to, source, clear=clear)
            case _:
                pass
    return out


def late_breaks(block: Block, thread: ThreadValues, *, taken: bool) -> ThreadValues:
    """Return the values on one side of a branch that decides who ran a guarded BREAK."""
    assert block.last is not None or not block.late
    sure = taken or (block.last is not None and block.last.guard_alone)
    for late in block.late:
        if taken == late.takers or not sure:
            left, _ = leave(thread, int(late.tag[1:]))
            thread = left if sure else DOMAIN.join(thread, left)
    return thread
