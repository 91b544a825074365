"""How many bytes of global memory the blocks of a grid read and write, from the blocks that were run as a whole."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sassan.access.opcodes import MemorySpace, references
from sassan.access.transactions import SECTOR, WORD
from sassan.estimate.accesses.lanes import distinct
from sassan.estimate.warps import Sample
from sassan.estimate.watch import Executions, Key, Watch, joined

CACHED = (MemorySpace.GLOBAL, MemorySpace.GENERIC)
_STORES = ("ST", "RED")
_LOW = (1 << 32) - 1
"""Addresses are known by their low words."""


def pinned(watch: Watch, ranges: Sequence[tuple[int, int]]) -> frozenset[Key]:
    """Return the accesses that are in some buffers, given by their first addresses and bytes."""
    return frozenset(key for key, parts in watch.seen.items() if ranges and _within(joined(parts), ranges))


def _within(some: Executions, ranges: Sequence[tuple[int, int]]) -> bool:
    used = some.addresses[some.active][:1]
    return any(((used - np.uint32(first & _LOW)) < size).any() for first, size in ranges)


def footprint(watch: Watch, chosen: Sample, blocks: int, block_warps: int, drawn: frozenset[Key]) -> tuple[float, float]:
    """Return how many bytes of global memory all blocks read, and how many they write; those at `drawn` addresses are omitted."""
    kinds = {(each.address, reference.place): (each.opcode, reference) for each in watch.watched.accesses for reference in references(each)}
    some = [key for key in watch.seen if kinds[key][1].space in CACHED and key not in drawn]
    reads = [key for key in some if not kinds[key][0].startswith(_STORES)]
    writes = [key for key in some if kinds[key][0].startswith((*_STORES, "ATOM"))]
    return _grown(watch, chosen, blocks, block_warps, reads), _grown(watch, chosen, blocks, block_warps, writes)


def parts(watch: Watch, chosen: Sample, drawn: frozenset[Key]) -> float:
    """Return which part of the sectors that blocks write one of them neither writes as a whole nor reads; drawn addresses are omitted."""
    per_block: dict[int, list[npt.NDArray[np.uint32]]] = {}
    read: dict[int, list[npt.NDArray[np.uint32]]] = {}
    kinds = {(each.address, reference.place): (each.opcode, reference) for each in watch.watched.accesses for reference in references(each)}
    some = [key for key in watch.seen if kinds[key][1].space in CACHED and key not in drawn]
    grain = min((kinds[key][1].bytes for key in some if kinds[key][0].startswith("ST")), default=WORD)
    for key in some:
        opcode, kind = kinds[key]
        for number, addresses in of_blocks(joined(watch.seen[key]), chosen):
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


def of_blocks(some: Executions, chosen: Sample) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """Yield the blocks that were run as a whole, by number, each with the addresses of its active lanes."""
    numbers = np.array([chosen.number(warp) for warp in range(len(chosen))])[some.warps]
    for number in np.unique(numbers[chosen.inner[some.warps]]).tolist():
        yield number, some.addresses[numbers == number][some.active[numbers == number]]


def _grown(watch: Watch, chosen: Sample, blocks: int, block_warps: int, keys: Sequence[Key]) -> float:
    """Return how many bytes accesses of all blocks access: what each adds to others, no more than lies between addresses."""
    per_block: dict[int, list[npt.NDArray[np.uint32]]] = {}
    spans: list[tuple[int, int]] = []
    whole = seen = 0.0
    code = [frozenset(each.address for each in node.code) for node in watch.cfg.nodes]
    for key in keys:
        some = joined(watch.seen[key])
        if some.active.any():
            used = some.addresses[some.active] // SECTOR
            spans.append((int(used.min()), int(used.max()) + 1))
            by_block = {number: np.unique(addresses // SECTOR) for number, addresses in of_blocks(some, chosen)}
            for number, sectors in by_block.items():
                per_block.setdefault(number, []).append(sectors)
            count = sum(map(len, by_block.values()))
            whole, seen = whole + count * _repeated(watch, chosen, [key[0] in node for node in code], some), seen + count
    each = [np.unique(np.concatenate(several)) for several in per_block.values()]
    total = sum(map(len, each))
    if not total:
        return 0.0  # only the first and the last block access anything
    every = len(np.unique(np.concatenate(each)))
    # Of what a block accesses, the part that no other one that was run accesses is new with every block.
    new = max(0.0, (every - total / len(each)) / (total - total / len(each))) if len(each) > 1 else 0.0
    grown = total / len(each) * whole / seen * block_warps / chosen.warps * (1 + new * (blocks - 1))
    return SECTOR * min(float(_covered(spans)), max(grown, float(every)))


def _repeated(watch: Watch, chosen: Sample, nodes: Sequence[bool], some: Executions) -> float:
    """Return how many times what warps were seen to access by an access they access in all: iterations may have been leapt over.

    `nodes` says of each node of the graph whether it holds the access.
    """
    inner = chosen.inner[some.warps]
    warps, addresses, active = some.warps[inner], some.addresses[inner] // SECTOR, some.active[inner]
    visits, seen, runs = float(watch.visits[nodes][:, : len(chosen.inner)][:, chosen.inner].sum()), len(warps), len(np.unique(warps))
    if visits <= seen or seen <= runs:
        return 1.0
    of_one = float(distinct(addresses, active).mean())
    of_runs = sum(len(np.unique(addresses[warps == warp][active[warps == warp]])) for warp in np.unique(warps).tolist())
    if not of_runs:
        return 1.0
    # Of what an execution accesses, the part that its warp has not accessed before.
    new = max(0.0, (of_runs - of_one * runs) / (of_one * (seen - runs)))
    return max(1.0, of_one * (runs + (visits - runs) * new) / of_runs)


def _covered(spans: Sequence[tuple[int, int]]) -> int:
    total, end = 0, -1
    for low, high in sorted(spans):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total
