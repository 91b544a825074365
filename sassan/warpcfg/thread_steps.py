"""What instructions do to the values of a single thread: the transfer of `calls.py`, without its control flow."""

from collections.abc import Container, Hashable, Mapping
from typing import NamedTuple

from sassan.domains.thread_values import (
    BarrierMisuse,
    FramePointer,
    ThreadValueDomain,
    ThreadValues,
    Values,
    copy,
    enter,
    fetch,
    is_known_place,
    kill,
    leave,
    load,
    plus,
    put,
    restore,
    restored,
    round_down,
    save,
    store,
    store_anywhere,
    write,
)
from sassan.isa.facts import Flow
from sassan.isa.moves import (
    Add,
    CopyBarrier,
    Fetch,
    InitialStackPointer,
    Load,
    Move,
    Put,
    RestoreBarrier,
    RoundDown,
    SaveBarrier,
    Store,
    WriteBarrier,
)
from sassan.warpcfg.blocks import BasicBlock
from sassan.warpcfg.thread_operations import STACK_POINTER, ThreadOperation

DOMAIN = ThreadValueDomain()


class ThreadEnvironment(NamedTuple):
    """What holds in a whole function.

    `saved` are the return addresses, which no store at an unknown address overwrites, `pointers` the words of the compiler's constant
    bank that are halves of addresses of functions, by their places.
    """

    saved: Container[Hashable]
    pointers: Mapping[int, Hashable]


def apply(operation: ThreadOperation, thread: ThreadValues, environment: ThreadEnvironment) -> tuple[ThreadValues, BarrierMisuse | None]:
    """Return the values after an operation, and why its barrier is misused; under a guard it may not run."""
    out, misuse = _barrier(operation, kill(thread, operation.kills))
    for move in operation.moves:
        out = _moved(out, move, environment)
    return (DOMAIN.join(thread, out) if operation.guarded else out), misuse


def spares(operation: ThreadOperation, thread: ThreadValues) -> bool:
    """Say whether an operation stores at an unknown address while something is stored."""
    return bool(thread.slots) and any(isinstance(move, Store) and not is_known_place(thread, move.base) for move in operation.moves)


def _moved(thread: ThreadValues, move: Move, environment: ThreadEnvironment) -> ThreadValues:
    match move:
        case Put() | InitialStackPointer() | Add() | RoundDown():
            values = _word(thread, move)
            return put(thread, move.to, restored(values) if move.to == STACK_POINTER else values)
        case Load(to, count, base, offset):
            words = [load(thread, base, offset + 4 * place) for place in range(count)]
            for place, values in enumerate(words):
                thread = put(thread, to + place, values)
            return thread
        case Fetch(to, count, base, offset):
            words = [fetch(thread, base, offset + 4 * place, environment.pointers) for place in range(count)]
            for place, values in enumerate(words):
                thread = put(thread, to + place, values)
            return thread
        case Store(base, offset, sources):
            if base is None or not is_known_place(thread, base):
                return store_anywhere(thread, environment.saved)
            return store(thread, base, offset, sources)
        case SaveBarrier() | RestoreBarrier() | WriteBarrier() | CopyBarrier():
            return thread


def _word(thread: ThreadValues, move: Put | InitialStackPointer | Add | RoundDown) -> Values | None:
    """Return what a register gets."""
    match move:
        case Put(_, value):
            return frozenset({value})
        case InitialStackPointer():
            return frozenset({FramePointer(0)})
        case Add(_, source, addend):
            return plus(thread.registers.get(source), addend)
        case RoundDown(_, source, mask):
            return round_down(thread.registers.get(source), mask)


def _barrier(operation: ThreadOperation, thread: ThreadValues) -> tuple[ThreadValues, BarrierMisuse | None]:
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


def late_breaks(block: BasicBlock, thread: ThreadValues, *, taken: bool) -> ThreadValues:
    """Return the values on one side of a branch that decides who ran a guarded BREAK."""
    assert block.last is not None or not block.late
    sure = taken or (block.last is not None and block.last.guard_alone)
    for late in block.late:
        if taken == late.takers or not sure:
            left, _ = leave(thread, int(late.tag[1:]))
            thread = left if sure else DOMAIN.join(thread, left)
    return thread
