"""What one thread knows: code addresses, stack slots and barrier copies in its registers, as sets of possible values.

Registers and local memory belong to a thread, so where a return leads does not depend on what the rest of the warp does. An unknown value
is the absence of an entry.
"""

from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

MOST_VALUES = 64
"""A register that may hold more values than this is unknown: return addresses of one callee are few."""
MOST_ROUNDINGS = 16
"""A stack pointer that was rounded down more often than this is unknown: each function does it once."""
WORD = 0xFFFFFFFF
"""The mask of a register's 32 bits."""
_WORD_BYTES = 4
_Place = TypeVar("_Place")


@dataclass(frozen=True, slots=True)
class FramePointer:
    """The stack pointer of the kernel's start, plus `offset` bytes.

    `rounded`: before these were added, some bytes were, and the sum was rounded down to where some low bits are 0, each time from the
    first on: (bytes, the mask of the bits). Functions do so whose frames hold what is aligned; by how much depends on the launch.
    """

    offset: int
    rounded: tuple[tuple[int, int], ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """The least and the largest distance to the stack pointer of the start, in bytes."""
        most = self.offset + sum(added for added, _ in self.rounded)
        return most - sum(mask for _, mask in self.rounded), most


@dataclass(frozen=True, slots=True)
class SavedPointer:
    """A stack pointer if it is restored as one: where it was stored, something else may have been stored through a pointer since."""

    pointer: FramePointer


@dataclass(frozen=True, slots=True)
class EntryValue:
    """What the register with this bit index held when the function was entered."""

    register: int


@dataclass(frozen=True, slots=True)
class ExternalAddress:
    """The low or high half of the address of a function that the input does not hold."""

    name: str
    high: bool


@dataclass(frozen=True, slots=True)
class BarrierCopy:
    """The mask of barrier `barrier`, and whether this thread is in it."""

    barrier: int
    member: str


Values = frozenset[Hashable]
"""What a register may hold: ints are numbers modulo 2^32; other values, those above and those of the caller, stand for themselves."""
_ZERO: Values = frozenset({0})

NO, YES, MAYBE, WRITTEN, LOST = "no", "yes", "maybe", "written", "lost"
"""Whether a thread belongs to the token of a barrier register; WRITTEN where the register holds a mask that belongs to no token, LOST where
paths with different copies in flight meet, or such a mask and another."""


class Barrier(NamedTuple):
    """One barrier register of a thread: membership now, and in the copies that its callers wait to get back, innermost first."""

    now: str = NO
    saved: tuple[str, ...] = ()


FREE = Barrier()


@dataclass(frozen=True, slots=True)
class ThreadValues:
    """One thread's values: registers by bit index, words of its stack frame by their place, barriers by number (absent: FREE).

    Not `reached`: no thread gets here, and the maps are empty.
    """

    registers: Mapping[int, Values] = field(default_factory=dict[int, Values])
    slots: Mapping[FramePointer, Values] = field(default_factory=dict[FramePointer, Values])
    barriers: Mapping[int, Barrier] = field(default_factory=dict[int, Barrier])
    reached: bool = True


class ThreadValueDomain:
    """The lattice of what a thread knows: fewer known registers, slots and barriers are higher."""

    bottom = ThreadValues(reached=False)

    def leq(self, a: ThreadValues, b: ThreadValues) -> bool:
        """Say whether `b` stands for all that `a` stands for."""
        return a is b or not a.reached or (b.reached and not self._difference(a, b))

    def join(self, a: ThreadValues, b: ThreadValues) -> ThreadValues:
        """Return what holds of both."""
        if not a.reached or not b.reached:
            return b if b.reached else a
        return ThreadValues(_join(a.registers, b.registers), _join(a.slots, b.slots), _join_barriers(a.barriers, b.barriers))

    def explain(self, a: ThreadValues, b: ThreadValues) -> str:
        """Return the first register, slot or barrier of which `b` knows more than `a`."""
        if not a.reached:
            return ""
        return self._difference(a, b) if b.reached else "no thread is expected here"

    @staticmethod
    def _difference(a: ThreadValues, b: ThreadValues) -> str:
        differing = _first_difference("register bit", a.registers, b.registers) or _first_difference("slot", a.slots, b.slots)
        if differing:
            return differing
        joined = _join_barriers(a.barriers, b.barriers)
        if joined == b.barriers:
            return ""
        return f"barrier {next(number for number in sorted({*joined, *b.barriers}) if joined.get(number) != b.barriers.get(number))}"


def _first_difference(kind: str, known: Mapping[_Place, Values], expected: Mapping[_Place, Values]) -> str:
    return next((f"{kind} {place}" for place, values in expected.items() if place not in known or not known[place] <= values), "")


def _join(a: Mapping[_Place, Values], b: Mapping[_Place, Values]) -> dict[_Place, Values]:
    both = {name: values | b[name] for name, values in a.items() if name in b}
    return {name: values for name, values in both.items() if len(values) <= MOST_VALUES}


def _join_barriers(a: Mapping[int, Barrier], b: Mapping[int, Barrier]) -> Mapping[int, Barrier]:
    if a == b:
        return a
    out: dict[int, Barrier] = {}
    for number in sorted({*a, *b}):
        left, right = a.get(number, FREE), b.get(number, FREE)
        if left.saved != right.saved:
            out[number] = Barrier(LOST)
        elif (now := _either(left.now, right.now)) != NO or left.saved:
            out[number] = Barrier(now, left.saved)
    return out


def _either(a: str, b: str) -> str:
    if a == b:
        return a
    return MAYBE if {a, b}.isdisjoint({WRITTEN, LOST}) else LOST


class BarrierMisuse(NamedTuple):
    """Why a barrier instruction is not what the stack of tokens takes it for: the code and message of a gap."""

    code: str
    message: str


def kill(thread: ThreadValues, registers: Iterable[int]) -> ThreadValues:
    """Return the values after unknown values went to these registers."""
    gone = set(registers)
    if gone.isdisjoint(thread.registers):
        return thread
    return ThreadValues({name: values for name, values in thread.registers.items() if name not in gone}, thread.slots, thread.barriers)


def plus(values: Values | None, addend: int) -> Values | None:
    """Return the sums of values and a number; what has no sum makes all of it unknown."""
    if values is None or not addend:
        return values
    out: set[Hashable] = set()
    for value in values:
        if isinstance(value, FramePointer):
            out.add(replace(value, offset=_signed(value.offset + addend)))
        elif isinstance(value, int):
            out.add((value + addend) & WORD)
        else:
            return None
    return frozenset(out)


def round_down(values: Values | None, mask: int) -> Values | None:
    """Return values with the low bits of `mask` cleared; what is neither a number nor a stack pointer makes all of it unknown."""
    out: set[Hashable] = set()
    for value in values or ():
        if isinstance(value, int):
            out.add(value & ~mask)
        elif not isinstance(value, FramePointer) or len(value.rounded) == MOST_ROUNDINGS:
            return None
        elif value.rounded and value.rounded[-1][1] | mask == value.rounded[-1][1] and not value.offset & mask:
            out.add(value)
        else:
            out.add(FramePointer(0, (*value.rounded, (value.offset, mask))))
    return None if values is None else frozenset(out)


def _signed(value: int) -> int:
    return ((value & WORD) ^ 0x80000000) - 0x80000000


def put(thread: ThreadValues, to: int, values: Values | None) -> ThreadValues:
    """Return the values after a register was written; `values` None are unknown."""
    registers = dict(thread.registers)
    if values is None:
        registers.pop(to, None)
    else:
        registers[to] = values
    return ThreadValues(registers, thread.slots, thread.barriers)


def _slot(thread: ThreadValues, base: int, offset: int) -> FramePointer | None:
    """Return the one stack slot that an address names."""
    values = thread.registers.get(base, frozenset())
    value = next(iter(values)) if len(values) == 1 else None
    return replace(value, offset=value.offset + offset) if isinstance(value, FramePointer) else None


def load(thread: ThreadValues, base: int, offset: int) -> Values | None:
    """Return what the word at `base` + `offset` in local memory may hold, None when it is unknown."""
    slot = _slot(thread, base, offset)
    return None if slot is None else thread.slots.get(slot)


def fetch(thread: ThreadValues, base: int | None, offset: int, words: Mapping[int, Hashable]) -> Values | None:
    """Return what the word at `base` (None: 0) + `offset` may hold of the bank whose known `words` are given by place, None: unknown."""
    bases = _ZERO if base is None else thread.registers.get(base)
    if not bases:
        return None
    places = [value + offset & WORD if isinstance(value, int) else None for value in bases]
    values = [words.get(place) if place is not None else None for place in places]
    return None if None in values else frozenset(values)


def is_known_place(thread: ThreadValues, base: int | None) -> bool:
    """Say whether a register holds one stack pointer, so that an address which begins with it is known."""
    return base is not None and _slot(thread, base, 0) is not None


def store(thread: ThreadValues, base: int, offset: int, sources: tuple[int | None, ...]) -> ThreadValues:
    """Return the values after registers (None: unknown values) were stored from `base` + `offset` on, a known place."""
    first = _slot(thread, base, offset)
    assert first is not None
    slots = {slot: values for slot, values in thread.slots.items() if not _overlaps(slot, first, _WORD_BYTES * len(sources))}
    for place, source in enumerate(sources):
        values = None if source is None else thread.registers.get(source)
        if values is not None:
            slots[replace(first, offset=first.offset + _WORD_BYTES * place)] = values
    return ThreadValues(thread.registers, slots, thread.barriers)


def store_anywhere(thread: ThreadValues, saved: Container[Hashable]) -> ThreadValues:
    """Return the values after a store at an unknown address, which overwrites variables and not what functions save and restore.

    Those are the registers with which they were entered, barriers, stack pointers, and the return addresses `saved`, each with the 0
    behind it, the high half of an address that is a distance.
    """
    slots = {slot: _kept(values) for slot, values in thread.slots.items() if all(_is_saved(value, saved) for value in values)}
    halves = (replace(slot, offset=slot.offset + _WORD_BYTES) for slot in slots)
    slots |= {slot: _ZERO for slot in [*halves] if thread.slots.get(slot) == _ZERO}
    return ThreadValues(thread.registers, slots, thread.barriers)


def _is_saved(value: Hashable, saved: Container[Hashable]) -> bool:
    return value in saved or isinstance(value, EntryValue | BarrierCopy | FramePointer | SavedPointer)


def _kept(values: Values) -> Values:
    return frozenset(SavedPointer(value) if isinstance(value, FramePointer) else value for value in values)


def restored(values: Values | None) -> Values | None:
    """Return the values of what becomes the stack pointer."""
    return None if values is None else frozenset(value.pointer if isinstance(value, SavedPointer) else value for value in values)


def _overlaps(slot: FramePointer, first: FramePointer, size: int) -> bool:
    """Say whether the word of a slot may share a byte with the `size` bytes from `first` on."""
    if slot.rounded == first.rounded:
        return first.offset - _WORD_BYTES < slot.offset < first.offset + size
    (least, most), (begin, end) = slot.span, first.span
    return begin - _WORD_BYTES < most and least < end + size


def enter(thread: ThreadValues, barrier: int) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BSSY: the thread becomes a member; it must not be one already."""
    old = thread.barriers.get(barrier, FREE)
    problem = None if old.now == NO else BarrierMisuse("overwritten-barrier", f"B{barrier} is pushed where threads may still belong to it")
    return _set(thread, barrier, Barrier(YES, old.saved)), problem


def leave(thread: ThreadValues, barrier: int) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BSYNC or BREAK: the thread is not a member any more; a token whose register lies saved elsewhere must not be meant."""
    old = thread.barriers.get(barrier, FREE)
    meant = old.now in {WRITTEN, LOST} or (old.now == NO and any(member != NO for member in old.saved))
    problem = BarrierMisuse("saved-barrier", f"B{barrier} is left while a caller's copy of it waits in a register") if meant else None
    return _set(thread, barrier, Barrier(NO, old.saved)), problem


def save(thread: ThreadValues, barrier: int, to: int | None, *, clear: bool) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BMOV from a barrier: with `clear` into a register, the copy waits to come back; into nothing, no thread may be a member."""
    old = thread.barriers.get(barrier, FREE)
    if to is None:
        problem = BarrierMisuse("cleared-barrier", f"B{barrier} is cleared where threads may belong to it")
        return thread, problem if clear and old.now != NO else None
    out = put(thread, to, frozenset({BarrierCopy(barrier, old.now)}))
    if not clear:
        return out, None
    if len(old.saved) >= MOST_VALUES or old.now in {WRITTEN, LOST}:
        return _set(out, barrier, Barrier(LOST)), BarrierMisuse("lost-barrier", f"copies of B{barrier} pile up")
    return _set(out, barrier, Barrier(NO, (old.now, *old.saved))), None


def restore(thread: ThreadValues, barrier: int, source: int | None) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BMOV to a barrier: it must be the copy that was made last, and no thread may be a member in between."""
    old = thread.barriers.get(barrier, FREE)
    values = thread.registers.get(source, frozenset()) if source is not None else frozenset[Hashable]()
    copies = {value.member for value in values if isinstance(value, BarrierCopy) and value.barrier == barrier}
    if len(values) != len(copies) or not values or old.now != NO or not old.saved or copies != {old.saved[0]}:
        return _misused(thread, barrier)
    return _set(thread, barrier, Barrier(old.saved[0], old.saved[1:])), None


def write(thread: ThreadValues, barrier: int, mask: int) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BMOV of a number to a barrier: no thread may be a member, and none may wait for its copy."""
    if not _belongs_to_no_token(thread, barrier):
        return _misused(thread, barrier)
    return _set(thread, barrier, Barrier(WRITTEN if mask else NO)), None


def copy(thread: ThreadValues, barrier: int, source: int, *, clear: bool) -> tuple[ThreadValues, BarrierMisuse | None]:
    """BMOV from a barrier to another one: neither may have a member."""
    if not (_belongs_to_no_token(thread, barrier) and _belongs_to_no_token(thread, source)):
        return _misused(thread, barrier)
    out = _set(thread, barrier, thread.barriers.get(source, FREE))
    return (_set(out, source, FREE) if clear else out), None


def _belongs_to_no_token(thread: ThreadValues, barrier: int) -> bool:
    return thread.barriers.get(barrier, FREE) in {FREE, Barrier(WRITTEN)}


def _misused(thread: ThreadValues, barrier: int) -> tuple[ThreadValues, BarrierMisuse]:
    problem = BarrierMisuse("unknown-barrier", f"B{barrier} is written with a value that is not known to be its own copy")
    return _set(thread, barrier, Barrier(LOST)), problem


def _set(thread: ThreadValues, number: int, barrier: Barrier) -> ThreadValues:
    barriers = {name: value for name, value in thread.barriers.items() if name != number}
    if barrier != FREE:
        barriers[number] = barrier
    return ThreadValues(thread.registers, thread.slots, dict(sorted(barriers.items())))
