"""What one thread knows: code addresses, stack slots and barrier copies in its registers, as sets of possible values.

Registers and local memory belong to a thread, so where a return leads does not depend on what the rest of the warp does: it is found before
the warp-level exploration, on single threads (`calls.py`). An unknown value is the absence of an entry.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.ir import CodeAddress
from sassan.isa.moves import WORD, Add, Frame, Load, Move, Put, RestoreBarrier, SaveBarrier, Store

MOST_VALUES = 64
"""A register that may hold more values than this is unknown: return addresses of one callee are few."""


class FramePointer(NamedTuple):
    """The stack pointer of the kernel's start, plus `offset` bytes."""

    offset: int


class Entry(NamedTuple):
    """What the register with this bit index held when the function was entered."""

    register: int


class BarrierCopy(NamedTuple):
    """The mask of barrier `barrier`, and whether this thread is in it."""

    barrier: int
    member: str


Value = int | CodeAddress | FramePointer | Entry | BarrierCopy
Values = frozenset[Value]

NO, YES, MAYBE, LOST = "no", "yes", "maybe", "lost"
"""Whether a thread belongs to the token of a barrier register; LOST where paths with different copies in flight meet."""


class Barrier(NamedTuple):
    """One barrier register of a thread: membership now, and in the copies that its callers wait to get back, innermost first."""

    now: str = NO
    saved: tuple[str, ...] = ()


FREE = Barrier()


@dataclass(frozen=True, slots=True)
class Env:
    """One thread's values: registers by bit index, words of its stack frame by offset, barriers by number (absent: FREE)."""

    registers: Mapping[int, Values] = field(default_factory=dict[int, Values])
    slots: Mapping[int, Values] = field(default_factory=dict[int, Values])
    barriers: Mapping[int, Barrier] = field(default_factory=dict[int, Barrier])


def leq(a: Env, b: Env) -> bool:
    """Say whether `b` stands for all that `a` stands for."""
    return a is b or (
        all(name in a.registers and a.registers[name] <= values for name, values in b.registers.items())
        and all(name in a.slots and a.slots[name] <= values for name, values in b.slots.items())
        and join_barriers(a.barriers, b.barriers) == b.barriers
    )


def join(a: Env, b: Env) -> Env:
    """Return what holds of both."""
    return Env(_join(a.registers, b.registers), _join(a.slots, b.slots), join_barriers(a.barriers, b.barriers))


def _join(a: Mapping[int, Values], b: Mapping[int, Values]) -> dict[int, Values]:
    both = {name: values | b[name] for name, values in a.items() if name in b}
    return {name: values for name, values in both.items() if len(values) <= MOST_VALUES}


def join_barriers(a: Mapping[int, Barrier], b: Mapping[int, Barrier]) -> Mapping[int, Barrier]:
    """Return what holds of both; FREE is not stored."""
    if a == b:
        return a
    out: dict[int, Barrier] = {}
    for number in sorted({*a, *b}):
        one, other = a.get(number, FREE), b.get(number, FREE)
        if one.saved != other.saved:
            out[number] = Barrier(LOST)
        elif (now := _either(one.now, other.now)) != NO or one.saved:
            out[number] = Barrier(now, one.saved)
    return out


def _either(a: str, b: str) -> str:
    if a == b:
        return a
    return LOST if LOST in (a, b) else MAYBE


class Problem(NamedTuple):
    """Why a barrier instruction is not what the stack of tokens takes it for: a gap."""

    code: str
    message: str


def kill(env: Env, registers: Iterable[int]) -> Env:
    """Return the environment after unknown values went to these registers."""
    gone = set(registers)
    if gone.isdisjoint(env.registers):
        return env
    return Env({name: values for name, values in env.registers.items() if name not in gone}, env.slots, env.barriers)


def move(env: Env, one: Move) -> Env:
    """Return the environment after a move of words; moves of barriers are `save` and `restore`."""
    match one:
        case Put(to, value):
            return _put(env, to, frozenset({value}))
        case Frame(to):
            return _put(env, to, frozenset({FramePointer(0)}))
        case Add(to, source, addend):
            return _put(env, to, plus(env.registers.get(source), addend))
        case Load(to, count, base, offset):
            loaded = [_load(env, base, offset + 4 * place) for place in range(count)]
            for place, values in enumerate(loaded):
                env = _put(env, to + place, values)
            return env
        case Store(base, offset, sources):
            return _store(env, base, offset, sources)
        case SaveBarrier() | RestoreBarrier():
            return env


def plus(values: Values | None, addend: int) -> Values | None:
    """Return the sums of values and a number; what has no sum makes all of it unknown."""
    if values is None or not addend:
        return values
    out: set[Value] = set()
    for value in values:
        if isinstance(value, FramePointer):
            out.add(FramePointer(_signed(value.offset + addend)))
        elif isinstance(value, int):
            out.add((value + addend) & WORD)
        else:
            return None
    return frozenset(out)


def _signed(value: int) -> int:
    return ((value & WORD) ^ 0x80000000) - 0x80000000


def _put(env: Env, to: int, values: Values | None) -> Env:
    registers = dict(env.registers)
    if values is None:
        registers.pop(to, None)
    else:
        registers[to] = values
    return Env(registers, env.slots, env.barriers)


def _frame(env: Env, base: int, offset: int) -> int | None:
    """Return the one stack slot that an address names."""
    values = env.registers.get(base, frozenset())
    found = next(iter(values)) if len(values) == 1 else None
    return found.offset + offset if isinstance(found, FramePointer) else None


def _load(env: Env, base: int, offset: int) -> Values | None:
    slot = _frame(env, base, offset)
    return None if slot is None else env.slots.get(slot)


def _store(env: Env, base: int | None, offset: int, sources: tuple[int | None, ...]) -> Env:
    slot = None if base is None else _frame(env, base, offset)
    if slot is None:
        return Env(env.registers, {}, env.barriers) if env.slots else env
    slots = dict(env.slots)
    for place, source in enumerate(sources):
        values = None if source is None else env.registers.get(source)
        for spoilt in range(slot + 4 * place - 3, slot + 4 * place + 4):
            slots.pop(spoilt, None)
        if values is not None:
            slots[slot + 4 * place] = values
    return Env(env.registers, slots, env.barriers)


def enter(env: Env, barrier: int) -> tuple[Env, Problem | None]:
    """BSSY: the thread becomes a member; it must not be one already."""
    old = env.barriers.get(barrier, FREE)
    problem = None if old.now == NO else Problem("overwritten-barrier", f"B{barrier} is pushed where threads may still belong to it")
    return _set(env, barrier, Barrier(YES, old.saved)), problem


def leave(env: Env, barrier: int) -> tuple[Env, Problem | None]:
    """BSYNC or BREAK: the thread is no member any more; a token whose register lies saved elsewhere must not be meant."""
    old = env.barriers.get(barrier, FREE)
    meant = old.now == LOST or (old.now == NO and any(member != NO for member in old.saved))
    problem = Problem("saved-barrier", f"B{barrier} is left while a caller's copy of it waits in a register") if meant else None
    return _set(env, barrier, Barrier(NO, old.saved)), problem


def save(env: Env, one: SaveBarrier) -> tuple[Env, Problem | None]:
    """BMOV from a barrier: with `clear` into a register, the copy waits to come back; into nothing, nobody may be a member."""
    old = env.barriers.get(one.barrier, FREE)
    if one.to is None:
        problem = Problem("cleared-barrier", f"B{one.barrier} is cleared where threads may belong to it")
        return env, problem if one.clear and old.now != NO else None
    out = _put(env, one.to, frozenset({BarrierCopy(one.barrier, old.now)}))
    if not one.clear:
        return out, None
    if len(old.saved) >= MOST_VALUES or old.now == LOST:
        return _set(out, one.barrier, Barrier(LOST)), Problem("lost-barrier", f"copies of B{one.barrier} pile up")
    return _set(out, one.barrier, Barrier(NO, (old.now, *old.saved))), None


def restore(env: Env, one: RestoreBarrier) -> tuple[Env, Problem | None]:
    """BMOV to a barrier: it must be the copy that was made last, and nobody may be a member in between."""
    old = env.barriers.get(one.barrier, FREE)
    values = env.registers.get(one.source, frozenset()) if one.source is not None else frozenset[Value]()
    copies = {value.member for value in values if isinstance(value, BarrierCopy) and value.barrier == one.barrier}
    if len(values) != len(copies) or not values or old.now != NO or not old.saved or copies != {old.saved[0]}:
        problem = Problem("unknown-barrier", f"B{one.barrier} is written with a value that is not known to be its own copy")
        return _set(env, one.barrier, Barrier(LOST)), problem
    return _set(env, one.barrier, Barrier(old.saved[0], old.saved[1:])), None


def _set(env: Env, number: int, barrier: Barrier) -> Env:
    barriers = {name: value for name, value in env.barriers.items() if name != number}
    if barrier != FREE:
        barriers[number] = barrier
    return Env(env.registers, env.slots, dict(sorted(barriers.items())))
