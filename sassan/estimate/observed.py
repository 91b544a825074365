"""What warps that were run say of a launch: how often a warp visits each node, and what each access touches."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from sassan.access.opcodes import Reference, Space, references
from sassan.access.transactions import BANKS, LINE, SECTOR, WORD
from sassan.errors import SassanError
from sassan.estimate.counted import Counted, counted, trips
from sassan.estimate.needed import numbers_needed
from sassan.estimate.warps import Sample, run, sample
from sassan.estimate.watch import Executions, Key, Truth, Watch
from sassan.ir import Instruction
from sassan.isa.facts import Facts
from sassan.machine.launch import Launch
from sassan.simt.values import LANES, Rows
from sassan.warpcfg.graph import WarpCfg

_CACHED = (Space.GLOBAL, Space.GENERIC)
_STORES = ("ST", "RED")
_TRACED = 200_000
"""Sectors that are looked up in a cache, at most."""
Figures = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Touched:
    """What one execution of an access does on average. `drawn`: its addresses come from memory, whose contents are not known.

    `random`: they come from there, but stay within what is allocated, so that they stand for others.
    `sectors` are those that active lanes touch, `fresh` those of them that L1 does not hold; `lines` and `passes` likewise. `hot` are the
    operations of atomic instructions of several blocks on the sector that most of them are at, `place` is the number of its line.
    """

    drawn: bool
    random: bool = False
    sectors: float = 0.0
    fresh: float = 0.0
    lines: float = 0.0
    passes: float = 0.0
    hot: float = 0.0
    place: int = -1


@dataclass(frozen=True, slots=True)
class Observed:
    """`counted`: how often warps visit each node; `touched` by access; `footprint`: bytes that all blocks read, and write.

    The footprint leaves out accesses at drawn addresses. `parts`: of the sectors that a block writes, those that L2 has to fetch for it.
    """

    counted: Counted
    touched: Mapping[Key, Touched]
    footprint: tuple[float, float]
    parts: float = 0.0


def touched(watch: Watch, chosen: Sample, kept: float, allocated: int | None) -> Mapping[Key, Touched]:
    """Return what each access that was executed touches; `kept` is how many sectors L1 keeps of one warp.

    Addresses that depend on contents of memory, but stay within as many bytes as are allocated, are as good as any.
    """
    every = {key: _joined(parts) for key, parts in watch.seen.items()}
    kinds = {(each.address, reference.place): reference for each in watch.watched.accesses for reference in references(each)}
    names = {each.address: each.opcode for each in watch.watched.accesses}
    differ = _differ(watch.seen, every, chosen)
    drawn = {key: differ[key] and not _near(some, allocated) for key, some in every.items()}
    loads = [key for key in every if kinds[key].space in _CACHED and names[key[0]].startswith("LD") and not differ[key]]
    fresh = _fresh({key: every[key] for key in loads}, chosen, kept)
    conflicts = _passes({key: some for key, some in every.items() if kinds[key].space is Space.SHARED and not drawn[key]}, kinds, chosen)
    return {
        key: replace(
            _of(some, kinds[key], chosen, drawn=drawn[key], fresh=fresh.get(key, 1.0), passes=conflicts.get(key, 0.0)),
            random=differ[key] and not drawn[key],
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


def _joined(parts: Sequence[Executions]) -> Executions:
    if len(parts) == 1:
        return parts[0]
    return Executions(
        np.concatenate([each.warps for each in parts]),
        np.concatenate([each.steps for each in parts]),
        np.concatenate([each.addresses for each in parts]),
        np.concatenate([each.active for each in parts]),
    )


def _differ(seen: Mapping[Key, Sequence[Executions]], every: Mapping[Key, Executions], chosen: Sample) -> Mapping[Key, bool]:
    """Say of each access whether addresses differ where only the contents of memory do."""
    known: dict[tuple[int, ...], tuple[Numbers, Numbers]] = {}
    out: dict[Key, bool] = {}
    for key, some in every.items():
        together = tuple(id(each.warps) for each in seen[key])  # accesses of a group have the same warps
        if together not in known:
            known[together] = _matched(some.warps, chosen)
        first, second = known[together]
        both = some.active[first] & some.active[second]
        out[key] = bool((both & (some.addresses[first] != some.addresses[second])).any())
    return out


def _matched(warps: Rows, chosen: Sample) -> tuple[Numbers, Numbers]:
    """Return the executions of warps, and beside them those of their copies."""
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for warp, copy in chosen.pairs:
        some, others = np.flatnonzero(warps == warp), np.flatnonzero(warps == copy)
        count = min(len(some), len(others))
        first.append(some[:count])
        second.append(others[:count])
    return np.concatenate(first), np.concatenate(second)


def _near(some: Executions, allocated: int | None) -> bool:
    used = some.addresses[some.active]
    return allocated is not None and int(used.max()) - int(used.min()) <= allocated


def _of(  # noqa: PLR0913 - what is known of an access
    some: Executions, kind: Reference, chosen: Sample, *, drawn: bool, fresh: float, passes: float
) -> Touched:
    inner = chosen.inner[some.warps]
    addresses, active = some.addresses[inner], some.active[inner]
    if drawn or not len(addresses):
        return Touched(drawn)
    if kind.space is Space.SHARED:
        return Touched(drawn=False, passes=passes)
    if kind.space is Space.CONSTANT:
        return Touched(drawn=False, passes=float(distinct(addresses, active).mean()))
    sectors = float(distinct(addresses // SECTOR, active).mean())
    hot, place = _hot(some, inner, chosen) if kind.atomic else (0.0, -1)
    return Touched(
        drawn=False,
        sectors=sectors * max(1, kind.bytes // SECTOR),
        fresh=sectors * max(1, kind.bytes // SECTOR) * fresh,
        lines=float(distinct(addresses // LINE, active).mean()),
        hot=hot,
        place=place,
    )


def distinct(numbers: npt.NDArray[np.uint32], active: Truth) -> Numbers:
    """Return how many different numbers the active lanes of each row have."""
    row = _sorted(numbers, active)
    return np.asarray(((row[:, 1:] != row[:, :-1]).sum(axis=1) + 1) * active.any(axis=1), np.int64)


def _sorted(numbers: npt.NDArray[np.uint32], active: Truth) -> npt.NDArray[np.uint32]:
    """Return the numbers of each row in order, those of lanes that are not active replaced by that of one that is."""
    first = numbers[np.arange(len(numbers)), active.argmax(axis=1)]
    return np.sort(np.where(active, numbers, first[:, None]), axis=1)


def _hot(some: Executions, inner: Truth, chosen: Sample) -> tuple[float, int]:
    """Return how many lanes of an execution are at the sector that most are at, and its line; 0 where different blocks never meet there."""
    sectors, active = some.addresses[inner] // SECTOR, some.active[inner]
    if not active.any():
        return 0.0, -1
    numbers, counts = np.unique(sectors[active], return_counts=True)
    there = ((sectors == numbers[counts.argmax()]) & active).any(axis=1)
    blocks = {chosen.number(warp) for warp in some.warps[inner][there].tolist()}
    return float(counts.max()) / len(sectors) if len(blocks) > 1 else 0.0, int(numbers[counts.argmax()]) * SECTOR // LINE


def passes(addresses: npt.NDArray[np.uint32], active: Truth, size: int) -> Numbers:
    """Return the passes over the banks of shared memory of each row."""
    words = max(1, size // WORD)
    lanes = max(1, LANES // words)
    total = np.zeros(len(addresses), np.int64)
    for first in range(0, addresses.shape[1], lanes):
        part, who = addresses[:, first : first + lanes], active[:, first : first + lanes]
        wide = np.concatenate([part // WORD + np.uint32(word) for word in range(words)], axis=1)
        ordered = _sorted(wide, np.concatenate([who] * words, axis=1))
        new = np.ones(ordered.shape, np.bool_)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        row, column = np.nonzero(new)
        banks = np.bincount(row * BANKS + ordered[row, column] % BANKS, minlength=len(addresses) * BANKS).reshape(-1, BANKS)
        total += banks.max(axis=1) * who.any(axis=1)
    return total


def _fresh(loads: Mapping[Key, Executions], chosen: Sample, kept: float) -> Mapping[Key, float]:
    """Return which part of its sectors each load does not find in L1: the warps of each block run side by side."""
    order = [
        (int(some.steps[index]), key, int(some.warps[index]), index)
        for key, some in loads.items()
        for index in np.flatnonzero(chosen.inner[some.warps]).tolist()
    ]
    asked, missed = dict.fromkeys(loads, 0), dict.fromkeys(loads, 0)
    caches: dict[int, OrderedDict[int, None]] = {}
    looked = 0
    for _, key, warp, index in sorted(order):
        some = loads[key]
        sectors = dict.fromkeys((some.addresses[index][some.active[index]] // SECTOR).tolist())
        held = caches.setdefault(chosen.number(warp), OrderedDict())
        asked[key] += len(sectors)
        for sector in sectors:
            if sector in held:
                held.move_to_end(sector)
            else:
                missed[key] += 1
                held[sector] = None
                if len(held) > kept * chosen.warps:
                    held.popitem(last=False)
        looked += len(sectors)
        if looked > _TRACED:
            break
    return {key: missed[key] / asked[key] for key in loads if asked[key]}


def footprint(watch: Watch, chosen: Sample, blocks: int, block_warps: int, drawn: frozenset[Key]) -> tuple[float, float]:
    """Return how many bytes of global memory all blocks read, and how many they write; those at drawn addresses are omitted."""
    kinds = {(each.address, reference.place): (each.opcode, reference) for each in watch.watched.accesses for reference in references(each)}
    some = [key for key in watch.seen if kinds[key][1].space in _CACHED and key not in drawn]
    reads = [key for key in some if not kinds[key][0].startswith(_STORES)]
    writes = [key for key in some if kinds[key][0].startswith((*_STORES, "ATOM"))]
    return _grown(watch, chosen, blocks, block_warps, reads), _grown(watch, chosen, blocks, block_warps, writes)


def parts(watch: Watch, chosen: Sample, drawn: frozenset[Key]) -> float:
    """Return which part of the sectors that blocks write one of them neither writes as a whole nor reads; drawn addresses are omitted."""
    per_block: dict[int, list[npt.NDArray[np.uint32]]] = {}
    read: dict[int, list[npt.NDArray[np.uint32]]] = {}
    kinds = {(each.address, reference.place): (each.opcode, reference) for each in watch.watched.accesses for reference in references(each)}
    some = [key for key in watch.seen if kinds[key][1].space in _CACHED and key not in drawn]
    grain = min((kinds[key][1].bytes for key in some if kinds[key][0].startswith("ST")), default=WORD)
    for key in some:
        opcode, kind = kinds[key]
        for number, addresses in _by_block(_joined(watch.seen[key]), chosen):
            if opcode.startswith("ST"):
                first = addresses // grain
                per_block.setdefault(number, []).extend(first + np.uint32(step) for step in range(kind.bytes // grain))
            elif not opcode.startswith("RED"):
                read.setdefault(number, []).append(addresses // SECTOR)
    whole = every = 0
    for number, several in per_block.items():
        sectors, counts = np.unique(np.unique(np.concatenate(several)) // (SECTOR // grain), return_counts=True)
        every += len(counts)
        kept = np.isin(sectors, np.concatenate([sectors[:0], *read.get(number, ())]))
        whole += int((kept | (counts == SECTOR // grain)).sum())
    return 1 - whole / every if every else 0.0


def _by_block(some: Executions, chosen: Sample) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """Yield the blocks that were run as a whole, by number, each with the addresses of its active lanes."""
    numbers = np.array([chosen.number(warp) for warp in range(len(chosen))])[some.warps]
    for number in np.unique(numbers[chosen.inner[some.warps]]).tolist():
        yield number, some.addresses[numbers == number][some.active[numbers == number]]


def _grown(watch: Watch, chosen: Sample, blocks: int, block_warps: int, keys: Sequence[Key]) -> float:
    """Return how many bytes accesses of all blocks touch: what each adds to others, no more than lies between addresses."""
    per_block: dict[int, list[npt.NDArray[np.uint32]]] = {}
    spans: list[tuple[int, int]] = []
    for some in (_joined(watch.seen[key]) for key in keys):
        if some.active.any():
            used = some.addresses[some.active] // SECTOR
            spans.append((int(used.min()), int(used.max()) + 1))
            for number, addresses in _by_block(some, chosen):
                per_block.setdefault(number, []).append(np.unique(addresses // SECTOR))
    each = [np.unique(np.concatenate(several)) for several in per_block.values()]
    total = sum(map(len, each))
    if not total:
        return 0.0  # only the first and the last block touch anything
    every = len(np.unique(np.concatenate(each)))
    # Of what a block touches, the part that no other one that was run touches is new with every block.
    new = max(0.0, (every - total / len(each)) / (total - total / len(each))) if len(each) > 1 else 0.0
    grown = total / len(each) * block_warps / chosen.warps * (1 + new * (blocks - 1))
    return SECTOR * min(float(_covered(spans)), max(grown, float(every)))


def _covered(spans: Sequence[tuple[int, int]]) -> int:
    total, end = 0, -1
    for low, high in sorted(spans):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total


def observed(
    cfg: WarpCfg, facts_of: Callable[[Instruction], Facts | None], launch: Launch, worst: Sequence[int], kept: float
) -> Observed | None:
    """Return what warps of a launch do; `worst`: how often the longest path takes each edge; `kept`: sectors of a warp that L1 keeps.

    None where a number among the arguments is not known that decides a branch or an address, or the machine has no rule for an instruction.
    """
    if launch.block is None or launch.grid is None or numbers_needed(cfg, facts_of, launch):
        return None
    chosen = sample(launch.block, launch.grid)
    try:
        watch, done = run(cfg, facts_of, launch, chosen, trips(cfg, worst))
    except SassanError:
        return None
    touches = touched(watch, chosen, kept, launch.allocated)
    drawn = frozenset(key for key, each in touches.items() if each.drawn or each.random)
    blocks, block_warps = prod(launch.grid), -(-prod(launch.block) // LANES)
    bytes_of_all = footprint(watch, chosen, blocks, block_warps, drawn)
    return Observed(counted(watch, done, chosen, worst), touches, bytes_of_all, parts(watch, chosen, drawn))
