"""What a warp still waits for at a point of the code, over all paths that lead there.

Two kinds of things are in flight: results of fixed latency, which are there after a number of cycles, and accesses of variable latency,
which end at no known time. A barrier is a counter (timing.md): each instruction that sets it adds one, and one is taken away when its
result is written, or its operands have been read. Waiting for a barrier is waiting for zero; DEPBAR.LE waits for a remainder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sassan.ir import Guard
from sassan.isa.control import BARRIERS

FOREVER = 64
"""Cycles are counted up to this many."""

Covers = tuple[int, ...]
"""Per barrier: how many instructions have set it after the one whose end means the end of this access; NO_COVER: none has that meaning."""
NO_COVER = -1
NO_COVERS: Covers = (NO_COVER,) * BARRIERS


class Access(StrEnum):
    """What an instruction of variable latency has yet to do."""

    WRITE = "write"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Open:
    """An access of variable latency that may not have ended: its registers, and cycles since its issue, at least.

    `guard` is that of its instruction while the predicate keeps its value: threads under the opposite guard have no such access.
    """

    registers: int
    elapsed: int
    covers: Covers
    guard: Guard | None = None

    def join(self, other: "Open") -> "Open":
        """Return what holds on one of two paths: the barrier must end the access on both."""
        covers = tuple(NO_COVER if NO_COVER in pair else min(pair) for pair in zip(self.covers, other.covers, strict=True))
        guard = self.guard if self.guard == other.guard else None
        return Open(self.registers | other.registers, min(self.elapsed, other.elapsed), covers, guard)


@dataclass(frozen=True, slots=True)
class Coming:
    """A result of fixed latency: its registers, and cycles since its issue, at least; `guard` as above."""

    registers: int
    elapsed: int
    guard: Guard | None = None

    def join(self, other: "Coming") -> "Coming":
        """Return what holds on one of two paths."""
        guard = self.guard if self.guard == other.guard else None
        return Coming(self.registers | other.registers, min(self.elapsed, other.elapsed), guard)


@dataclass(frozen=True, slots=True)
class State:
    """All that is in flight, by the index of the instruction that issued it; results also by the part of it that they are."""

    coming: Mapping[tuple[int, int], Coming]
    open: Mapping[tuple[int, Access], Open]

    def join(self, other: "State") -> "State":
        """Return the worst of two paths."""
        coming = dict(self.coming)
        for part, one in other.coming.items():
            coming[part] = one.join(coming[part]) if part in coming else one
        still = dict(self.open)
        for key, access in other.open.items():
            still[key] = access.join(still[key]) if key in still else access
        return State(coming, still)


START = State({}, {})
"""Nothing is in flight when a warp starts."""


def opposite(guard: Guard | None, other: Guard | None) -> bool:
    """Say whether no thread runs under both guards."""
    if guard is None or other is None:
        return False
    return (guard.file, guard.index) == (other.file, other.index) and guard.negated != other.negated
