"""What a warp still waits for at a point of the code, over all paths that lead there.

Two kinds of things are in flight: results of fixed latency, which are there after a number of cycles, and accesses of variable latency,
which end at no known time. A barrier is a counter: each instruction that sets it adds one, and one is taken away when its result is
written, or its operands have been read. Instructions, conditions and barriers are only names here.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sassan.domains.bits import bits

Covers = tuple[int, ...]
"""Per barrier: how many instructions have set it after the one whose end means the end of this access; NO_COVER: none has that meaning."""
NO_COVER = -1


class PendingKind(StrEnum):
    """What an instruction of variable latency has yet to do."""

    WRITE = "write"
    READ = "read"
    EARLY = "early"
    """It writes a part of its result of which its read barrier tells."""


@dataclass(frozen=True, slots=True)
class PendingAccess:
    """An access of variable latency that may not have ended: its registers, and cycles since its issue, at least.

    `condition` is that of its instruction while it keeps its value, None for none: threads under the opposite one have no such access.
    """

    registers: int
    elapsed: int
    covers: Covers
    condition: Hashable = None


@dataclass(frozen=True, slots=True)
class PendingResult:
    """A result of fixed latency: its registers, and cycles since its issue, at least; `condition` as above."""

    registers: int
    elapsed: int
    condition: Hashable = None


Results = Mapping[tuple[int, int], PendingResult]
Accesses = Mapping[tuple[int, PendingKind], PendingAccess]


@dataclass(frozen=True, slots=True)
class Pending:
    """All that is in flight, by the index of the instruction that issued it; results also by the part of it that they are."""

    results: Results = field(default_factory=dict[tuple[int, int], PendingResult])
    accesses: Accesses = field(default_factory=dict[tuple[int, PendingKind], PendingAccess])


class PendingDomain:
    """The lattice of what may be in flight: more entries, less elapsed time and fewer covers are higher."""

    bottom = Pending()

    def leq(self, a: Pending, b: Pending) -> bool:
        """Say whether all that is in flight in `a` is in flight in `b`, and no further ahead there."""
        return not self.explain(a, b)

    def join(self, a: Pending, b: Pending) -> Pending:
        """Return the worst of two paths: the shortest time, and the barriers that end an access on both."""
        results = dict(a.results)
        for name, result in b.results.items():
            results[name] = _join_results(result, results[name]) if name in results else result
        accesses = dict(a.accesses)
        for key, access in b.accesses.items():
            accesses[key] = _join_accesses(access, accesses[key]) if key in accesses else access
        return Pending(results, accesses)

    def explain(self, a: Pending, b: Pending) -> str:
        """Return the first result or access of `a` that `b` does not cover, and in what."""
        for name, result in a.results.items():
            if (other := b.results.get(name)) is not result and (why := _excess(result, other)):
                return f"result {name[1]} of instruction {name[0]}: {why}"
        for key, access in a.accesses.items():
            expected = b.accesses.get(key)
            if expected is access:
                continue
            if why := _excess(access, expected) or _uncovered(access, expected):
                return f"{key[1]} of instruction {key[0]}: {why}"
        return ""


def _condition(a: Hashable, b: Hashable) -> Hashable:
    return a if a == b else None


def _join_results(a: PendingResult, b: PendingResult) -> PendingResult:
    return PendingResult(a.registers | b.registers, min(a.elapsed, b.elapsed), _condition(a.condition, b.condition))


def _join_accesses(a: PendingAccess, b: PendingAccess) -> PendingAccess:
    covers = tuple(NO_COVER if NO_COVER in pair else min(pair) for pair in zip(a.covers, b.covers, strict=True))
    return PendingAccess(a.registers | b.registers, min(a.elapsed, b.elapsed), covers, _condition(a.condition, b.condition))


def _excess(a: PendingResult | PendingAccess, b: PendingResult | PendingAccess | None) -> str:
    if b is None:
        return "not in flight on the right"
    for register in bits(a.registers & ~b.registers):
        return f"register bit {register}"
    if a.elapsed < b.elapsed:
        return f"{a.elapsed} cycles elapsed, not {b.elapsed}"
    return "" if b.condition is None or a.condition == b.condition else "another condition"


def _uncovered(a: PendingAccess, b: PendingAccess | None) -> str:
    for barrier, (count, expected) in enumerate(zip(a.covers, b.covers if b else (), strict=True)):
        if expected != NO_COVER and (count == NO_COVER or count < expected):
            return f"barrier {barrier} does not end it"
    return ""
