"""From optima over the paths of one warp to bounds of many: of the warps that are resident on an SM, and of the blocks of a grid.

README.md, "W warps" and "A grid", proves what stands here; `sm_bound` finds the optima. All is in cycles of the cost model.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor


@dataclass(frozen=True, slots=True)
class Optima:
    """Maxima over all paths of a warp: `alone` is C + own; `mine` and `common` are sums of the shares of that name.

    `segment` is the largest C + own from one block barrier to the next, `openings` how many block barriers a warp waits at; None where the
    barriers of a block may not open one after the other for all of its warps.
    """

    alone: Fraction
    mine: Fraction
    common: Fraction
    segment: Fraction | None = None
    openings: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """`warps` warps on one SM, in blocks of `block` warps each; `together` of them share a scheduler (all of them: the whole-SM model)."""

    warps: int
    block: int
    together: int


def group(warps: int, block: int | None = None, schedulers: int = 1) -> Group:
    """Return so many warps; where nobody says how large blocks are, they may be one block, which is the worst for barriers."""
    return Group(warps, min(warps, block or warps), -(-warps // schedulers))


def followed(optima: Optima, warps: int, *, barriers: bool) -> Fraction:
    """Return for how long a block of `warps` warps lives at most, but for the cycles in which only warps of other blocks are in its way."""
    if not barriers:
        return optima.alone + (warps - 1) * optima.mine
    serial = warps * optima.alone
    if optima.segment is None or optima.openings is None:
        return serial
    return min(serial, (optima.openings + 1) * optima.segment + warps * optima.mine)


def resident(optima: Optima, of: Group, *, barriers: bool) -> int:
    """Return the bound for the warps of a group that start together on one SM."""
    if barriers:
        return floor(followed(optima, of.block, barriers=True) + (of.warps - of.block) * optima.mine)
    return floor(optima.alone + (of.together - 1) * optima.mine + (of.warps - of.together) * optima.common)


@dataclass(frozen=True, slots=True)
class Grid:
    """`blocks` blocks of `warps` warps each, on `sms` SMs with `places` blocks resident on each at most."""

    blocks: int
    warps: int
    sms: int
    places: int


def grid(optima: Optima, of: Grid, *, barriers: bool) -> int:
    """Return the bound for a whole grid; it holds for every dispatcher that fills a free place at once."""
    one, others = followed(optima, of.warps, barriers=barriers), of.warps * optima.mine
    if of.blocks <= of.sms * of.places:
        return floor(one + (min(of.blocks, of.places) - 1) * others)
    before = (of.blocks - 1) // of.sms
    # k blocks follow each other before the last dispatch, 0 <= k <= before / places: the bound is linear in k.
    return floor(max((k + 1) * one + (before - k + of.places - 1) * others for k in (0, before // of.places)))
