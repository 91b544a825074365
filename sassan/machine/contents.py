"""Contents of global memory that are known at a launch: bytes by their address."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Longs = npt.NDArray[np.uint64]

_WORD = 4


class KnownBytes(NamedTuple):
    """Consecutive bytes from an address on."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Contents:
    """Bytes of global memory: `parts` are sorted by address and do not overlap (ValueError otherwise).

    `digest` names addresses and bytes: contents of one digest are equal. Of the bytes, `computed` are what earlier kernels left.
    """

    parts: tuple[KnownBytes, ...] = field(compare=False, repr=False)
    digest: str
    computed: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        """Check the order."""
        end = 0
        for part in self.parts:
            if part.address < end:
                raise ValueError("parts of memory overlap or are out of order")
            end = part.address + len(part.data)

    @property
    def size(self) -> int:
        """Return how many bytes are known."""
        return sum(len(part.data) for part in self.parts)

    def load(self, addresses: "npt.NDArray[np.uint64]", size: int) -> "tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]":
        """Return the little-endian numbers of `size` bytes (1, 2 or 4) at addresses of any shape, and where they are known; 0 elsewhere."""
        import numpy as np  # noqa: PLC0415 - only where memory is read

        if not self.parts:
            return np.zeros(addresses.shape, np.uint32), np.zeros(addresses.shape, np.bool_)
        starts, ends, places, data = _arrays(self)
        part = np.maximum(np.searchsorted(starts, addresses, side="right").astype(np.intp) - 1, 0)
        start, end = starts[part], ends[part]
        known = (addresses >= start) & (addresses < end) & (end - np.minimum(addresses, end) >= np.uint64(size))
        place = np.where(known, places[part] + (addresses - start), np.uint64(0)).astype(np.intp)
        words = np.zeros(addresses.shape, np.uint32)
        for byte in range(size):
            words |= data[place + byte].astype(np.uint32) << np.uint32(8 * byte)
        return np.where(known, words, np.uint32(0)), known


def common(several: Iterable[Contents | None]) -> Contents | None:
    """Return what all of several contents say: the stretches of bytes that are equal in all; None where that is nothing."""
    every = list(dict.fromkeys(several))
    first = every[0]
    if len(every) == 1 or first is None:
        return first
    parts = first.parts
    for other in every[1:]:
        parts = tuple(_equal(parts, other.parts if other is not None else ()))
    digests = "\n".join(sorted(each.digest for each in every if each is not None))
    return Contents(parts, hashlib.sha256(digests.encode()).hexdigest()) if parts else None


def _equal(parts: Sequence[KnownBytes], others: Sequence[KnownBytes]) -> Iterator[KnownBytes]:
    """Yield the stretches that lie in a part on either side and have the same bytes there."""
    place = 0
    for part in parts:
        while place < len(others) and others[place].address + len(others[place].data) <= part.address:
            place += 1
        for other in islice(others, place, None):
            if other.address >= part.address + len(part.data):
                break
            first = max(part.address, other.address)
            end = min(part.address + len(part.data), other.address + len(other.data))
            data = part.data[first - part.address : end - part.address]
            if data == other.data[first - other.address : end - other.address]:
                yield KnownBytes(first, data)


@lru_cache(maxsize=2)  # each may hold as much as was recorded
def _arrays(contents: Contents) -> "tuple[Longs, Longs, Longs, npt.NDArray[np.uint8]]":
    """Return first addresses, ends and places of the parts, and all bytes in a row."""
    import numpy as np  # noqa: PLC0415 - only where memory is read

    sizes = np.array([len(part.data) for part in contents.parts], np.uint64)
    starts = np.array([part.address for part in contents.parts], np.uint64)
    places = np.cumsum(sizes) - sizes
    # A word that begins at the last byte is gathered whole, and not used.
    return starts, starts + sizes, places, np.frombuffer(b"".join(part.data for part in contents.parts) + bytes(_WORD), np.uint8)
