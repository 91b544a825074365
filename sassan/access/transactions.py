"""Transactions of one access of a full warp: 32-byte sectors of global and local memory, passes over the banks of shared memory.

Source: CUDA C++ Programming Guide, "Compute Capabilities": global memory is accessed in sectors of 32 bytes, shared memory has 32 banks
of 4 bytes; accesses of 8 and 16 bytes per lane go in halves and quarters of a warp; lanes that read one word are served at once.

Addresses are integers; those of one access lie within 4 GiB, and only their low words count.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from sassan.domains.lanes import SIZE

SECTOR = 32
LINE = 128
HALF = 64
"""Bytes of half a line, which DRAM gives as a whole where any of it is read."""
BANKS = 32
WORD = 4
LANES = 32


class Count(NamedTuple):
    """The least and the greatest number of transactions, over all places where the addresses may begin."""

    least: int
    most: int

    @property
    def exact(self) -> bool:
        """Say whether there is one number."""
        return self.least == self.most


def over(addresses: Sequence[int], modulus: int, period: int, size: int, count: Callable[[Sequence[int], int], int]) -> Count:
    """Return what `count` says of addresses that may be moved by any multiple of a modulus, where that matters modulo `period`.

    Addresses are multiples of the `size` of an access, or the access traps; where none of the places fits, nothing is omitted. Answers are
    kept by what `count` is equal to.
    """
    step = min(modulus, period)
    # Moved by a multiple of the step, which divides the period, they have the same places: those of neighbouring accesses are counted once.
    alike = addresses and period % step == 0 and period % size == 0
    base = addresses[0] // step * step if alike else 0
    return _over(tuple([address - base for address in addresses]), step, period, size, count)


@lru_cache(maxsize=1 << 12)
def _over(addresses: tuple[int, ...], step: int, period: int, size: int, count: Callable[[Sequence[int], int], int]) -> Count:
    places = [[(address + shift) % SIZE for address in addresses] for shift in range(0, period, step)]
    fitting = [place for place in places if all(address % size == 0 for address in place)] or places
    counts = [count(place, size) for place in fitting]
    return Count(min(counts), max(counts))


def sectors(addresses: Iterable[int], size: int) -> int:
    """Return the sectors that accesses of `size` bytes access."""
    return len({block for address in addresses for block in range(address // SECTOR, (address + size - 1) // SECTOR + 1)})


def passes(addresses: Sequence[int], size: int) -> int:
    """Return the passes over the banks: for each part of the warp the greatest number of different words in one bank."""
    return sum(least_words(part, size) for part in _parts(addresses, size))


def least_words(addresses: Iterable[int], size: int) -> int:
    """Return the greatest number of different words in one bank: fewer passes are impossible, however lanes are put together."""
    return _fullest({word for address in addresses for word in _words(address, size)})


def single_passes(addresses: Sequence[int], size: int) -> int:
    """Return the passes of lanes that are served one after the other also where they access one word: those of atomic operations."""
    return sum(_fullest([word for address in part for word in _words(address, size)]) for part in _parts(addresses, size))


def _words(address: int, size: int) -> range:
    return range(address // WORD, (address + size - 1) // WORD + 1)


def _fullest(words: Iterable[int]) -> int:
    return max(Counter(word % BANKS for word in words).values())


def _parts(addresses: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the addresses of the lanes that go together."""
    lanes = lanes_together(size)
    return [addresses[first : first + lanes] for first in range(0, len(addresses), lanes)]


def lanes_together(size: int) -> int:
    """Return how many lanes an access of `size` bytes each serves at once: as many as have a bank for each word."""
    return LANES if size <= WORD else LANES * WORD // size


def distinct(addresses: Iterable[int], size: int) -> int:
    """Return how many different places are accessed."""
    del size
    return len(set(addresses))


def least_sectors(rows: Iterable[Iterable[int]], size: int) -> int:
    """Return the sectors that would hold the bytes that rows of lanes access, were they side by side, and no two rows at one place."""
    count = sum(len({address + byte for address in row for byte in range(size)}) for row in rows)
    return -(-count // SECTOR)


def least_passes(addresses: Sequence[int], size: int) -> int:
    """Return the passes that the words which are accessed would take without conflicts, in the parts in which the warp goes."""
    return len(_parts(addresses, size))
