"""What one execution of an access costs a warp, by the addresses of its lanes: sectors, lines and their halves, passes over banks."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from sassan.access.access import Access, AccessPattern, worst
from sassan.access.opcodes import MemorySpace, Reference
from sassan.access.transactions import (
    HALF,
    LANES,
    LINE,
    SECTOR,
    WORD,
    Count,
    distinct,
    lanes_together,
    least_passes,
    least_sectors,
    least_words,
    over,
    passes,
    sectors,
    single_passes,
)
from sassan.domains.lanes import SIZE, LaneWord

ALIGNMENT = 256
"""Bytes at whose multiples allocators return arrays."""
_SIGN = SIZE >> 1


def counted(access: Access, reference: Reference, word: LaneWord, alignment: int = ALIGNMENT) -> Access:
    """Return an access with what addresses of this form cost; `alignment` is that of the parameter that they begin with."""
    return reduce(worst, [cost_of_warp(access, reference, warp) for warp in sorted(set(warps_at(reference, word, alignment)))])


def warps_at(  # noqa: PLR0913, PLR0917 - what is known of the lanes
    reference: Reference, word: LaneWord, alignment: int, threads: Sequence[int] = (LANES,), executing: int = -1, sure: int = -1
) -> list["WarpAddresses"]:
    """Return the addresses of each warp of a table, of which the warps have so many threads.

    `executing` are its lanes as a set of bits, `sure` those that execute it whenever one does.
    """
    modulus = min(word.modulus, alignment) if word.base else word.modulus
    table = word.lanes or (0,) * len(word.rows or range(LANES * len(threads)))
    places = [word.offset % modulus + (lane - SIZE if lane & _SIGN else lane) for lane in table]
    rows = word.rows or (0,) * len(table)
    if reference.lanes < LANES or (reference.space is MemorySpace.SHARED and reference.bytes > WORD):
        # Lanes without an address of their own take part; which lanes go together is asked of full warps alone.
        executing = -1
    out: list[WarpAddresses] = []
    for first in range(0, len(table), LANES):
        count = min(reference.lanes, threads[first // LANES % len(threads)])
        lanes = tuple(lane for lane in range(count) if executing >> first + lane & 1)
        sure_of = tuple(lane for lane in lanes if sure >> first + lane & 1)
        addresses, rows_of = (tuple(values[first + lane] for lane in lanes) for values in (places, rows))
        out.append(WarpAddresses(addresses, rows_of, lanes, modulus, sure_of))
    return out


class WarpAddresses(NamedTuple):
    """The addresses of the lanes of a warp: each row of lanes may be moved by any multiple of a modulus; `sure` take part."""

    addresses: tuple[int, ...]
    rows: tuple[int, ...]
    lanes: tuple[int, ...]
    modulus: int
    sure: tuple[int, ...] = ()

    def among(self, first: int, count: int) -> list[list[int]]:
        """Return the addresses of the rows among some lanes that follow each other."""
        by_row: dict[int, list[int]] = {}
        for address, row, lane in zip(self.addresses, self.rows, self.lanes, strict=True):
            if first <= lane < first + count:
                by_row.setdefault(row, []).append(address)
        return list(by_row.values())

    def present(self, first: int, count: int) -> list[list[tuple[int, bool]]]:
        """Return the addresses of the rows likewise, each with whether its lane surely takes part."""
        by_row: dict[int, list[tuple[int, bool]]] = {}
        for address, row, lane in zip(self.addresses, self.rows, self.lanes, strict=True):
            if first <= lane < first + count:
                by_row.setdefault(row, []).append((address, lane in self.sure))
        return list(by_row.values())


def cost_of_warp(access: Access, reference: Reference, warp: WarpAddresses) -> Access:
    """Return an access with what these addresses of one warp cost."""
    size, modulus = reference.bytes, warp.modulus
    rows = warp.among(0, LANES)
    if len(rows) == len(warp.lanes) > 1:
        return _scattered(access, reference, len(rows))
    pattern, stride = _pattern(warp.addresses, size) if len(rows) <= 1 else (AccessPattern.ROWS, None)
    # Operations on parts of a word are at one place, wherever the word begins.
    collisions = sum(max(map(row.count, row)) if reference.bytes >= WORD else len(row) for row in rows) if reference.atomic else None
    access = replace(access, pattern=pattern, stride=stride, collisions=collisions, lanes=len(warp.lanes))
    match access.space:
        case MemorySpace.SHARED:
            least = max((over(row, modulus, LINE, size, least_words).least for row in rows), default=0)
            return replace(access, passes=Count(least, _most_passes(reference, warp)), ideal=least_passes(warp.addresses, size))
        case MemorySpace.CONSTANT:
            return replace(access, passes=_sum(over(row, modulus, 1, 1, distinct) for row in rows), ideal=1)
        case MemorySpace.LOCAL:
            return _local(access, rows, size, whole=warp.sure == tuple(range(LANES)))
        case _:
            lines = _sum(over(row, modulus, LINE, size, _lines) for row in rows)
            halves = _sum(over(row, modulus, HALF, size, _halves) for row in rows)
            ideal = least_sectors(rows, size)
            accessed = _sum(over(row, modulus, SECTOR, size, sectors) for row in rows)
            if pattern is AccessPattern.ALIGNED and accessed.most > ideal:
                access = replace(access, pattern=AccessPattern.MISALIGNED)
            return replace(access, sectors=accessed, lines=lines, halves=halves, ideal=ideal)


def _scattered(access: Access, reference: Reference, count: int) -> Access:
    """Return the most that an access of this size may cost, wherever its lanes go."""
    size = reference.bytes
    collisions = count if reference.atomic else None
    access = replace(access, pattern=AccessPattern.SCATTERED, collisions=collisions, lanes=count)
    match access.space:
        case MemorySpace.SHARED:
            return replace(access, passes=Count(1, count), ideal=least_passes([0] * count, size))
        case MemorySpace.CONSTANT:
            return replace(access, passes=Count(1, count), ideal=1)
        case MemorySpace.LOCAL:
            width = max(size, WORD)
            return replace(access, sectors=Count(width, count * width // WORD), ideal=width)
        case _:
            # Each lane's bytes are aligned to their size, which divides a sector.
            return replace(access, sectors=Count(1, count), lines=Count(1, count), ideal=-(-count * size // SECTOR))


def _lines(addresses: Sequence[int], size: int) -> int:
    """Return in how many lines the addresses lie; none of their accesses reaches from one into the next."""
    del size
    return len({address // LINE for address in addresses})


def _halves(addresses: Sequence[int], size: int) -> int:
    """Return in how many halves of lines the addresses lie, likewise."""
    del size
    return len({address // HALF for address in addresses})


def _sum(counts: Iterable[Count]) -> Count:
    """Return what rows of lanes cost together: they may or may not lie at one place."""
    known = list(counts)
    return Count(max((count.least for count in known), default=0), sum(count.most for count in known))


def _most_passes(reference: Reference, warp: WarpAddresses) -> int:
    count = single_passes if reference.atomic else passes
    if len(set(warp.rows)) == 1:
        return over(warp.addresses, warp.modulus, LINE, reference.bytes, count).most
    together = lanes_together(reference.bytes)
    parts = [warp.among(first, together) for first in range(0, reference.lanes, together)]
    return sum(over(row, warp.modulus, LINE, reference.bytes, count).most for part in parts for row in part)


def _local(access: Access, rows: Sequence[Sequence[int]], size: int, *, whole: bool) -> Access:
    """Return the sectors of local memory, where the words of all lanes at one address lie next to each other: 4 sectors a word.

    `whole`: all lanes surely take part.
    """
    width = max(size, WORD)
    places = sum(len(set(row)) for row in rows)
    if whole and places == 1 and size >= WORD:
        access = replace(access, partial=0, filled=0)
    # A lane that is alone at its address accesses one sector for each word.
    return replace(access, sectors=Count(width, width if places == 1 else min(places * width, LANES * width // WORD)), ideal=width)


def _pattern(lanes: Sequence[int], size: int) -> tuple[AccessPattern, int | None]:
    steps = {late - early for early, late in pairwise(lanes)}
    if steps <= {0}:
        return AccessPattern.BROADCAST, 0
    if steps == {size}:
        return AccessPattern.ALIGNED, size
    return (AccessPattern.STRIDED, steps.pop()) if len(steps) == 1 else (AccessPattern.IRREGULAR, None)
