"""Which bytes of device memory are known while launches go by: what the host wrote, and no kernel may have changed since."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from sassan.errors import InputError
from sassan.launches.model import MemoryWrite
from sassan.machine.contents import Contents, KnownBytes

_MADE = 2
"""Contents that are kept: what a launch finds, and what it leaves as it is."""
_COMPUTED = "computed:"
"""The begin of the names of data that kernels computed which were run."""
Range = tuple[int, int]
"""Addresses from one on to before another."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes `[first, end)` of memory: those of the data called `name` from `offset` on."""

    first: int
    end: int
    name: str
    offset: int

    def part(self, first: int, end: int) -> "_Piece":
        return _Piece(first, end, self.name, self.offset + first - self.first)


class DeviceMemory:
    """Known bytes, in pieces that do not overlap; `data` are the bytes that writes name."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        """Know nothing yet."""
        self._data = data
        self._computed: dict[str, bytes] = {}
        self._pieces: list[_Piece] = []
        self._made: dict[tuple[_Piece, ...], Contents] = {}

    def write(self, write: MemoryWrite) -> None:
        """Do what the host did; data that are not at hand are unknown."""
        end = write.address + write.size
        moved = [] if write.source is None else [*self._between(write.source, write.source + write.size)]
        self.forget(write.address, end)
        if write.data in self._data:
            self._add(_Piece(write.address, end, write.data, 0))
        for piece in moved:
            apart = write.address - (write.source or 0)
            self._add(_Piece(piece.first + apart, piece.end + apart, piece.name, piece.offset))

    def compute(self, part: KnownBytes) -> None:
        """Know what a kernel stored that was run."""
        end = part.address + len(part.data)
        self.forget(part.address, end)
        name = _COMPUTED + hashlib.sha256(part.data).hexdigest()
        self._computed[name] = part.data
        self._add(_Piece(part.address, end, name, 0))

    def forget(self, first: int, end: int) -> None:
        """Know nothing of a range any more."""
        at = max(0, bisect_right(self._pieces, first, key=lambda piece: piece.first) - 1)
        stop = at
        kept: list[_Piece] = []
        while stop < len(self._pieces) and self._pieces[stop].first < end:
            piece = self._pieces[stop]
            kept += [
                piece.part(*some)
                for some in ((piece.first, min(piece.end, first)), (max(piece.first, end), piece.end))
                if some[0] < some[1]
            ]
            stop += 1
        self._pieces[at:stop] = kept

    def clear(self) -> None:
        """Know nothing any more."""
        self._pieces.clear()

    def contents(self, without: Iterable[Range] = ()) -> Contents | None:
        """Return what is known, but for some ranges; None where that is nothing.

        Raises InputError where the file with the data cannot be used.
        """
        rest = DeviceMemory(self._data)
        rest._pieces = [*self._pieces]
        for first, end in without:
            rest.forget(first, end)
        pieces = tuple(rest._pieces)
        if not pieces:
            return None
        if pieces not in self._made:
            while len(self._made) >= _MADE:
                del self._made[next(iter(self._made))]
            self._made[pieces] = Contents(
                tuple(map(self._bytes, pieces)),
                _digest(pieces),
                sum(piece.end - piece.first for piece in pieces if piece.name.startswith(_COMPUTED)),
            )
        return self._made[pieces]

    def _bytes(self, piece: _Piece) -> KnownBytes:
        size = piece.end - piece.first
        whole = self._computed[piece.name] if piece.name in self._computed else self._data[piece.name]
        data = whole[piece.offset : piece.offset + size]
        if len(data) != size:
            raise InputError("launches-data", f"a write of the recording has {size} bytes, and its data {len(data)}")
        return KnownBytes(piece.first, data)

    def _between(self, first: int, end: int) -> Iterator[_Piece]:
        at = max(0, bisect_right(self._pieces, first, key=lambda piece: piece.first) - 1)
        for piece in takewhile(lambda piece: piece.first < end, self._pieces[at:]):
            if first < piece.end:
                yield piece.part(max(piece.first, first), min(piece.end, end))

    def _add(self, piece: _Piece) -> None:
        self._pieces.insert(bisect_right(self._pieces, piece.first, key=lambda other: other.first), piece)


def _digest(pieces: Iterable[_Piece]) -> str:
    text = "".join(f"{piece.first} {piece.end} {piece.name} {piece.offset}\n" for piece in pieces)
    return hashlib.sha256(text.encode()).hexdigest()
