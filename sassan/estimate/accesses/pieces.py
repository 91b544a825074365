"""How long the pieces of memory are that neighbouring blocks read, or write, one by one: DRAM opens a row for each."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sassan.access.opcodes import Reference, references
from sassan.access.transactions import SECTOR
from sassan.estimate.accesses.footprint import CACHED, of_blocks
from sassan.estimate.warps import Sample
from sassan.estimate.watch import Key, Watch, joined

_LONGER = 1.5
"""Where two neighbouring blocks together access pieces so many times as long as one does, all blocks of a row access long ones. Where they
access no more than so many times as much, both are in the same pieces, and blocks further on come to what follows."""
_LONG = float("inf")
Sectors = npt.NDArray[np.uint32]


def pieces(watch: Watch, chosen: Sample, drawn: frozenset[Key]) -> tuple[float, float]:
    """Return the bytes of a piece that blocks read, and write, on average; infinite where neighbours go on where others end.

    Where neighbours access the same, blocks further on do, and pieces count as infinite as well.
    Accesses at drawn addresses are omitted. A block that comes to further sectors of a piece later is taken to access it as a whole.
    """
    kinds = {(each.address, reference.place): (each.opcode, reference) for each in watch.watched.accesses for reference in references(each)}
    some = [key for key in watch.seen if kinds[key][1].space in CACHED and key not in drawn]
    reads = [key for key in some if kinds[key][0].startswith("LD")]
    writes = [key for key in some if kinds[key][0].startswith("ST")]
    return _pieces(watch, chosen, reads, kinds), _pieces(watch, chosen, writes, kinds)


def _pieces(watch: Watch, chosen: Sample, keys: Sequence[Key], kinds: Mapping[Key, tuple[str, Reference]]) -> float:
    parts: dict[int, list[Sectors]] = {}
    for key in keys:
        size = kinds[key][1].bytes
        for number, addresses in of_blocks(joined(watch.seen[key]), chosen):
            parts.setdefault(number, []).extend((addresses + np.uint32(at)) // SECTOR for at in range(0, size, SECTOR))
    by_number = {number: np.unique(np.concatenate(several)) for number, several in parts.items()}
    pairs = [(sectors, by_number[number + 1]) for number, sectors in by_number.items() if number + 1 in by_number]
    return of_neighbours(pairs) if pairs else _LONG


def of_neighbours(pairs: Sequence[tuple[Sectors, Sectors]]) -> float:
    """Return the bytes of a piece, from the sectors of two neighbouring blocks each, in order."""
    first, both = [sectors for sectors, _ in pairs], [np.union1d(*each) for each in pairs]
    apart = sum(map(len, both)) > _LONGER * sum(map(len, first))
    alone, together = _length(first), _length(both)
    return SECTOR * together if apart and together <= _LONGER * alone else _LONG


def _length(several: Sequence[Sectors]) -> float:
    """Return how many sectors follow each other without a gap, on average."""
    lengths = [np.diff(np.flatnonzero(np.concatenate([[True], np.diff(each) != 1, [True]]))) for each in several]
    return float(np.concatenate(lengths).mean())
