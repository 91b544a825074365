"""What grids that overlap on one GPU take together, in any order of blocks (docs/proofs/overlapping-launches.md). All is in cycles."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sassan.ipet.sm.bounds import Terms

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class OverlappingGrid:
    """One grid among others.

    `blocks` blocks, of which an SM holds `places` at most where it holds no others. `lifetime` is what a block is charged that is followed,
    `stall` what a block keeps others of its SM waiting. `memory` and `launch` are terms of its bound (`Terms`), where L2 keeps nothing.
    `takes`: the part of each resource of an SM that a block takes, at most, by its name.
    """

    blocks: int
    places: int
    lifetime: Fraction
    stall: Fraction
    memory: Fraction
    launch: Fraction
    takes: Mapping[str, Fraction]


def largest(grids: Iterable[OverlappingGrid]) -> Mapping[str, Fraction]:
    """Return the largest part of each resource that a block of any grid takes."""
    out: dict[str, Fraction] = {}
    for grid in grids:
        for name, part in grid.takes.items():
            out[name] = max(part, out.get(name, part))
    return out


def weight(takes: Mapping[str, Fraction], most: Mapping[str, Fraction]) -> Fraction:
    """Return how much of an SM a block keeps from one that waits: those on an SM that has no space for any one weigh 1 or more together.

    Of `most`, the one that waits takes no more than that.
    """
    parts = [part / (1 - most[name]) if most[name] < 1 else _ONE for name, part in takes.items() if part]
    return min(_ONE, max(parts, default=_ONE))


def overlap_terms(grid: OverlappingGrid, weighs: Fraction, sms: int, others: int) -> Terms:
    """Return what a grid adds to the time in which it and others are done; `others` launches may run as it runs."""
    share, apart = Fraction(grid.blocks, sms), 1 - Fraction(1, sms)
    in_tails = min(grid.blocks, grid.places) - 1 + min(grid.blocks, grid.places * others)
    return Terms(
        share * weighs * grid.lifetime,
        (share + apart * in_tails) * grid.stall,
        (1 - weighs / sms) * grid.lifetime,
        grid.memory,
        grid.launch,
    )
