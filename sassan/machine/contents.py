"""Contents of global memory that are known at a launch: bytes by their address."""

from dataclasses import dataclass, field
from functools import lru_cache
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

    `digest` names addresses and bytes: contents of one digest are equal.
    """

    parts: tuple[KnownBytes, ...] = field(compare=False, repr=False)
    digest: str

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


@lru_cache(maxsize=2)  # each may hold as much as was recorded
def _arrays(contents: Contents) -> "tuple[Longs, Longs, Longs, npt.NDArray[np.uint8]]":
    """Return first addresses, ends and places of the parts, and all bytes in a row."""
    import numpy as np  # noqa: PLC0415 - only where memory is read

    sizes = np.array([len(part.data) for part in contents.parts], np.uint64)
    starts = np.array([part.address for part in contents.parts], np.uint64)
    places = np.cumsum(sizes) - sizes
    # A word that begins at the last byte is gathered whole, and not used.
    return starts, starts + sizes, places, np.frombuffer(b"".join(part.data for part in contents.parts) + bytes(_WORD), np.uint8)
