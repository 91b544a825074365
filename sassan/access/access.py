"""One access of an instruction: how the addresses of its lanes lie to each other, and what it costs."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import lcm

from sassan.access.opcodes import MemorySpace
from sassan.access.transactions import LANES, Count


class AccessPattern(StrEnum):
    """How the addresses of the lanes of a warp lie to each other."""

    BROADCAST = "broadcast"
    """All at one place."""
    ALIGNED = "aligned"
    """One after the other, in as few transactions as there can be."""
    MISALIGNED = "misaligned"
    """One after the other, from within a sector."""
    STRIDED = "strided"
    """At equal distances."""
    ROWS = "rows"
    """Known within each of several rows of lanes, which may lie anywhere to each other."""
    IRREGULAR = "irregular"
    """Known, and nothing of the above."""
    SCATTERED = "scattered"
    """Not known: each lane may be anywhere, or anywhere within some distance of the others."""
    UNKNOWN = "unknown"
    """Not an access of lanes: a texture, or a copy in bulk."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an instruction, by all lanes that may execute it, in every context in which it runs.

    `bytes` are those of a lane. `stride` is the distance of neighbouring lanes in bytes, where there is one. `sectors` are those of 32
    bytes in global, local and generic memory, `halves` the halves of lines in which those lie,
    `passes` those over the banks of shared memory, or different addresses of constant memory;
    `ideal` is how many transactions the same bytes need, where most are wasted. None: not an access of that kind. `collisions` are the
    most lanes that an atomic operation may bring to one address, of `lanes` that may do one. `base` is the
    parameter that the address begins with, '' where that is not known. `fresh` are those of `halves`, at most, that no access before
    it in its straight piece of code accesses; None: all of them.
    Of a store, `partial` are those, at most, in which it leaves a sector stored in part; `filled` those that it is the first to access of
    its piece and in which all stores of that do, where L2 keeps them until then. None: all of them.
    `distinct` units of L2 work on the operations of an atomic one whenever these wait.
    `warps` are the accesses of the warps of a block, which warp w repeats those of warp w modulo their number; empty: all are alike.
    """

    address: int
    opcode: str
    space: MemorySpace
    bytes: int
    pattern: AccessPattern
    stride: int | None = None
    sectors: Count | None = None
    lines: Count | None = None
    halves: Count | None = None
    passes: Count | None = None
    ideal: int | None = None
    collisions: int | None = None
    lanes: int = LANES
    base: str = ""
    fresh: int | None = None
    partial: int | None = None
    filled: int | None = None
    distinct: int = 1
    warps: tuple["Access", ...] = ()

    @property
    def transactions(self) -> Count | None:
        """Return the sectors or the passes, whichever there are."""
        return self.sectors or self.passes

    @property
    def exact(self) -> bool:
        """Say whether the lanes that may execute it make exactly so many transactions together."""
        return self.transactions is not None and self.transactions.exact

    @property
    def waste(self) -> int | None:
        """Return the transactions beyond the ideal, at most."""
        return None if self.transactions is None or self.ideal is None else self.transactions.most - self.ideal


def worst(a: Access, b: Access) -> Access:
    """Return what holds of an access in two contexts, or of two warps: the pattern is that of more transactions."""
    if a.transactions is None or b.transactions is None or a.waste is None or b.waste is None:
        return a
    more = a if a.transactions.most >= b.transactions.most else b
    return replace(
        more,
        sectors=_either(a.sectors, b.sectors),
        lines=_either(a.lines, b.lines),
        halves=_either(a.halves, b.halves),
        passes=_either(a.passes, b.passes),
        ideal=max(a.transactions.most, b.transactions.most) - max(a.waste, b.waste),
        collisions=_most(a.collisions, b.collisions),
        lanes=max(a.lanes, b.lanes),
        fresh=_most(a.fresh, b.fresh),
        partial=_most(a.partial, b.partial),
        filled=_most(a.filled, b.filled),
        warps=_warp_by_warp(a, b),
    )


def _warp_by_warp(a: Access, b: Access) -> tuple[Access, ...]:
    if not a.warps and not b.warps:
        return ()
    of_a, of_b = a.warps or (a,), b.warps or (b,)
    return tuple(worst(of_a[index % len(of_a)], of_b[index % len(of_b)]) for index in range(lcm(len(of_a), len(of_b))))


def _most(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def _either(a: Count | None, b: Count | None) -> Count | None:
    return None if a is None or b is None else Count(min(a.least, b.least), max(a.most, b.most))


def at_most(
    access: Access, *, sectors: int | None = None, lines: int | None = None, halves: int | None = None, passes: int | None = None
) -> Access:
    """Return an access that costs no more than this, whatever its warps do; None: as much as it does."""
    return replace(
        access,
        sectors=_no_more(access.sectors, sectors),
        lines=_no_more(access.lines, lines),
        halves=_no_more(access.halves, halves),
        fresh=least_known(access.fresh, halves),
        partial=least_known(access.partial, halves),
        filled=least_known(access.filled, halves),
        passes=_no_more(access.passes, passes),
    )


def least_known(number: int | None, most: int | None) -> int | None:
    """Return a number, or its limit where that is less; None where there is no number."""
    return number if number is None or most is None else min(number, most)


def _no_more(count: Count | None, most: int | None) -> Count | None:
    return count if count is None or most is None else Count(min(count.least, most), min(count.most, most))
