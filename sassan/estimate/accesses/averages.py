"""What one execution of an access does on average."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.access.transactions import LINE, SECTOR, WORD
from sassan.estimate.accesses.contents import differ, near, span
from sassan.estimate.accesses.footprint import CACHED
from sassan.estimate.accesses.l1 import fresh
from sassan.estimate.accesses.lanes import distinct, passes, phases
from sassan.estimate.warps import Sample
from sassan.estimate.watch import Executions, Key, Truth, Watch, joined


@dataclass(frozen=True, slots=True)
class AverageAccess:
    """What one execution of an access does on average. `drawn`: its addresses come from memory, whose contents are not known.

    `random`: they come from there, but stay within what is allocated, so that they stand for others; `span` are the bytes that they lie in.
    `sectors` are those that active lanes access, `fresh` those of them that L1 does not hold; `lines` and `passes` likewise. `hot` are the
    operations of atomic instructions of several blocks on the sector that most of them are at, `place` is the number of its line.
    `ideal` are the sectors, or passes, that as many lanes need. `repeats`: how often the lanes of a block access each of its words, of
    accesses of global memory.
    """

    drawn: bool
    random: bool = False
    span: int = 0
    sectors: float = 0.0
    fresh: float = 0.0
    lines: float = 0.0
    passes: float = 0.0
    hot: float = 0.0
    place: int = -1
    repeats: float = 1.0
    ideal: float = 0.0


def average_accesses(watch: Watch, chosen: Sample, kept: float, allocated: int | None) -> Mapping[Key, AverageAccess]:
    """Return what each access that was executed accesses; `kept` is how many sectors L1 keeps of one warp.

    Addresses that depend on contents of memory, but stay within as many bytes as are allocated, are as good as any.
    """
    every = {key: joined(parts) for key, parts in watch.seen.items()}
    kinds = {(each.address, reference.place): reference for each in watch.watched.accesses for reference in references(each)}
    names = {each.address: each.opcode for each in watch.watched.accesses}
    by_contents = differ(watch.seen, every, chosen, watch.leaps.since)
    drawn = {key: by_contents[key] and not near(some, allocated) for key, some in every.items()}
    loads = [key for key in every if kinds[key].space in CACHED and names[key[0]].startswith("LD") and not drawn[key]]
    missed = fresh({key: every[key] for key in loads}, chosen, kept)
    conflicts = _passes(
        {key: some for key, some in every.items() if kinds[key].space is MemorySpace.SHARED and not drawn[key]}, kinds, chosen
    )
    return {
        key: replace(
            _of(some, kinds[key], chosen, drawn=drawn[key], fresh=missed.get(key, 1.0), passes=conflicts.get(key, 0.0)),
            random=by_contents[key] and not drawn[key],
            span=span(some) if by_contents[key] else 0,
        )
        for key, some in every.items()
    }


def _passes(every: Mapping[Key, Executions], kinds: Mapping[Key, Reference], chosen: Sample) -> Mapping[Key, float]:
    """Return the passes over shared memory of accesses on average.

    They are the same a number of words further on: accesses by one register are counted once.
    """
    known: dict[tuple[int, bytes, bytes], float] = {}
    out: dict[Key, float] = {}
    for key, some in every.items():
        inner = chosen.inner[some.warps]
        addresses, active, size = some.addresses[inner], some.active[inner], kinds[key].bytes
        if not len(addresses):
            continue
        near = addresses - addresses[:, :1] // WORD * WORD
        pattern = size, near.tobytes(), active.tobytes()
        if pattern not in known:
            known[pattern] = float(passes(near, active, size).mean())
        out[key] = known[pattern]
    return out


def _of(  # noqa: PLR0913 - what is known of an access
    some: Executions, kind: Reference, chosen: Sample, *, drawn: bool, fresh: float, passes: float
) -> AverageAccess:
    inner = chosen.inner[some.warps]
    addresses, active = some.addresses[inner], some.active[inner]
    if drawn or not len(addresses):
        return AverageAccess(drawn)
    of_each = active.sum(axis=1)
    if kind.space is MemorySpace.SHARED:
        return AverageAccess(drawn=False, passes=passes, ideal=float(phases(active, kind.bytes).mean()))
    if kind.space is MemorySpace.CONSTANT:
        return AverageAccess(drawn=False, passes=float(distinct(addresses, active).mean()))
    sectors = float(distinct(addresses // SECTOR, active).mean())
    hot, place = _hot(some, inner, chosen) if kind.atomic else (0.0, -1)
    return AverageAccess(
        drawn=False,
        sectors=sectors * max(1, kind.bytes // SECTOR),
        fresh=sectors * max(1, kind.bytes // SECTOR) * fresh,
        lines=float(distinct(addresses // LINE, active).mean()),
        hot=hot,
        place=place,
        repeats=_repeats(some, inner, chosen) if kind.space in CACHED and not kind.atomic else 1.0,
        ideal=float(np.ceil(of_each * kind.bytes / SECTOR).mean()),
    )


def _repeats(some: Executions, inner: Truth, chosen: Sample) -> float:
    """Return how often lanes of a block access each word on average: of what a warp accesses, the part that no other does is its own."""
    warps, addresses, active = some.warps[inner], some.addresses[inner].astype(np.int64), some.active[inner]
    if not active.any():
        return 1.0
    blocks = np.unique([chosen.number(warp) for warp in range(len(chosen))], return_inverse=True)[1].astype(np.int64)
    runs = np.unique(warps)
    ran = len(runs) / len(np.unique(blocks[runs]))
    of_warps, of_blocks = (_different((addresses + (number << 32)[:, None])[active]) for number in (warps.astype(np.int64), blocks[warps]))
    shared = of_warps / of_blocks  # warps that access a word, of those that were run
    new = (ran / shared - 1) / (ran - 1) if ran > 1 else 1.0
    return float(active.sum()) / of_warps * chosen.block_warps / (1 + new * (chosen.block_warps - 1))


def _different(numbers: npt.NDArray[np.int64]) -> int:
    """Return how many different numbers there are, one at least."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(numbers))))


def _hot(some: Executions, inner: Truth, chosen: Sample) -> tuple[float, int]:
    """Return how many lanes of an execution are at the sector that most are at, and its line; 0 where different blocks never meet there."""
    sectors, active = some.addresses[inner] // SECTOR, some.active[inner]
    if not active.any():
        return 0.0, -1
    numbers, counts = np.unique(sectors[active], return_counts=True)
    there = ((sectors == numbers[counts.argmax()]) & active).any(axis=1)
    blocks = {chosen.number(warp) for warp in some.warps[inner][there].tolist()}
    return float(counts.max()) / len(sectors) if len(blocks) > 1 else 0.0, int(numbers[counts.argmax()]) * SECTOR // LINE
