"""Why an access makes more transactions than it needs, in words."""

from math import gcd

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace
from sassan.access.transactions import LANES


def reason(access: Access) -> str:
    """Return why an access makes more transactions than it needs, and how many it makes; '' where it does not."""
    count, why = access.transactions, cause(access)
    if not why or count is None or access.ideal is None:
        return ""
    at_most = "" if count.exact else "at most "
    return f"{why}: {at_most}{count.most} {_unit(access, count.most)} where {access.ideal} suffice{'s' if access.ideal == 1 else ''}"


def cause(access: Access) -> str:  # noqa: PLR0911 - one for each pattern
    """Return in a few words why an access makes more transactions than it needs, and what would help; '' where it does not."""
    if not access.waste:
        return ""
    match access.pattern:
        case AccessPattern.SCATTERED:
            return "where each lane goes is not known"
        case AccessPattern.ROWS if access.space is not MemorySpace.SHARED:
            return "where rows of lanes lie to each other is not known"
        case _ if access.space is MemorySpace.SHARED:
            return _conflict(access)
        case AccessPattern.STRIDED:
            return f"lane stride {access.stride} bytes"
        case AccessPattern.MISALIGNED:
            return "may begin inside a sector"
        case _:
            return "lanes are apart"


def _conflict(access: Access) -> str:
    if (access.collisions or 0) > 1:
        return f"{access.collisions} lanes at one address"
    ways = access.passes.most if access.passes is not None else 0
    return (f"{ways}-way bank conflict" if access.ideal == 1 else "bank conflicts") + _padding(access)


def _unit(access: Access, count: int) -> str:
    name = "sector" if access.sectors is not None else "address" if access.space is MemorySpace.CONSTANT else "pass"
    return name if count == 1 else f"{name}{'s' if name == 'sector' else 'es'}"


def _padding(access: Access) -> str:
    """Return how rows of an array would have to be padded so that its columns lie in different banks."""
    if access.stride is None or access.stride % 4 or not access.stride:
        return ""
    row = abs(access.stride) // 4
    return f", rows of {row} words: pad them to {row + 1}" if gcd(row, LANES) > 1 else ""
