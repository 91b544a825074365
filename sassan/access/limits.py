"""What is known of accesses whose addresses come from data: fewer transactions than there may be, atomic operations that spread.

A user knows it, or a run of the launch with the data has shown it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sassan.access.access import Access, at_most, least_known
from sassan.access.opcodes import L2_ATOMICS, MemorySpace
from sassan.errors import UsageError
from sassan.plurals import count_of

AccessName = tuple[int, MemorySpace]
"""The address of an instruction, and the memory of one of its accesses."""


class Transactions(NamedTuple):
    """What one execution of an access takes at most: as the fields of `Access`, 0 where one does not apply."""

    lanes: int = 0
    sectors: int = 0
    lines: int = 0
    halves: int = 0
    passes: int = 0
    collisions: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """What holds of every access of one instruction, where it is given.

    One execution by a warp takes at most `sectors` of global, local or generic memory, or `passes` over shared or constant memory.
    `distinct`: whenever atomic operations wait, as many units of L2 work on them, each on addresses of its own.
    """

    sectors: int | None = None
    passes: int | None = None
    distinct: int | None = None

    def describe(self, address: int) -> Iterator[str]:
        """Yield in words how many transactions an access at an address takes; `accesses.assumptions` says what is `distinct`."""
        for most, singular, plural in ((self.sectors, "sector", "sectors"), (self.passes, "pass", "passes")):
            if most is not None:
                yield f"the access at 0x{address:04x} takes at most {count_of(most, singular, plural)} for a warp"

    def mismatch(self, access: Access) -> str:
        """Return why this cannot be said of an access, '' where it can."""
        if self.sectors is not None and access.sectors is None:
            return "has no sectors that are counted"
        if self.passes is not None and access.passes is None:
            return "makes no passes over shared or constant memory"
        if self.distinct is not None and access.opcode.partition(".")[0] not in L2_ATOMICS:
            return "is not an atomic operation of L2"
        return ""


def spread(text: str, option: str) -> tuple[int, int]:
    """Return the address of `0x1230=64`, and the units of L2 that work on its atomic operations.

    Raises UsageError `distinct`.
    """
    match = re.fullmatch(r"(0x[0-9a-fA-F]{1,8})=([1-9][0-9]{0,5})", text, re.ASCII)
    if match is None:
        raise UsageError("distinct", f"{option} '{text}' gives no units of L2", hint=f"write it as {option} 0x1230=64")
    return int(match[1], 16), int(match[2])


def limited(accesses: Sequence[Access], limits: Mapping[int, Limit]) -> tuple[Access, ...]:
    """Return accesses with what is known of those at some addresses, as far as it can be said of each."""
    return tuple(_limited(access, limits[access.address]) if access.address in limits else access for access in accesses)


def limited_to(access: Access, most: Transactions) -> Access:
    """Return an access of which no execution takes more than this."""
    access = replace(
        at_most(access, sectors=most.sectors, lines=most.lines, halves=most.halves, passes=most.passes),
        collisions=least_known(access.collisions, most.collisions),
        lanes=min(access.lanes, most.lanes),
        warps=tuple(limited_to(warp, most) for warp in access.warps),
    )
    taken = access.transactions
    return access if taken is None else replace(access, ideal=least_known(access.ideal, taken.most))


def _limited(access: Access, limit: Limit) -> Access:
    return replace(
        at_most(access, sectors=limit.sectors, lines=limit.sectors, halves=limit.sectors, passes=limit.passes),
        distinct=limit.distinct or access.distinct,
        warps=tuple(_limited(warp, limit) for warp in access.warps),
    )
