"""Global memory that kernels change as they run: bytes of buffers, of which some are known."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sassan.machine.contents import Contents, KnownBytes
from sassan.simt.integer_work import Longs
from sassan.simt.values import Rows, Truth, Words

_ALIGNED = 256
"""An address and its place here leave the same rest by it, so that numbers are aligned here where they are on a GPU."""


class GlobalMemory:
    """The bytes of some address ranges (first, end); those that `contents` say are known, all others are not."""

    def __init__(self, ranges: Iterable[tuple[int, int]], contents: Contents | None) -> None:
        """Hold the ranges, and those of the contents."""
        parts = contents.parts if contents is not None else ()
        merged = [*_merged((*ranges, *((part.address, part.address + len(part.data)) for part in parts)))]
        self._starts = np.array([first for first, _ in merged], np.uint64)
        self._ends = np.array([end for _, end in merged], np.uint64)
        rests = self._starts % np.uint64(_ALIGNED)
        sizes = -(-(self._ends - self._starts + rests).astype(np.int64) // _ALIGNED) * _ALIGNED
        self._places = (np.cumsum(sizes) - sizes).astype(np.uint64) + rests
        self._data = np.zeros(int(sizes.sum()), np.uint8)
        self._known = np.zeros(len(self._data), np.bool_)
        self._stored = np.zeros(len(self._data), np.bool_)
        for part in parts:
            place = self._place(part.address)
            self._data[place : place + len(part.data)] = np.frombuffer(part.data, np.uint8)
            self._known[place : place + len(part.data)] = True

    def load(self, addresses: Longs, size: int) -> tuple[Words, Truth]:
        """Return the little-endian numbers of `size` bytes (1, 2 or 4) at addresses of any shape, and where they are known; 0 elsewhere."""
        place, inside = self.places(addresses, size)
        words, known = np.zeros(addresses.shape, np.uint32), inside.copy()
        if not len(self._data):
            return words, known
        for byte in range(size):
            at = np.where(inside, place + byte, 0)
            words |= self._data[at].astype(np.uint32) << np.uint32(8 * byte)
            known &= self._known[at]
        return np.where(known, words, np.uint32(0)), known

    def store(self, place: Rows, words: Words, size: int) -> None:
        """Store the low `size` bytes of words at places of `places`: of several at one place, the last."""
        for byte in range(size):
            self._data[place + byte] = (words >> np.uint32(8 * byte)).astype(np.uint8)
            self._known[place + byte] = self._stored[place + byte] = True

    def places(self, addresses: Longs, size: int) -> tuple[Rows, Truth]:
        """Return where `size` bytes at addresses are, and which addresses lie in a range."""
        if not len(self._starts):
            return np.zeros(addresses.shape, np.intp), np.zeros(addresses.shape, np.bool_)
        index = np.maximum(np.searchsorted(self._starts, addresses, side="right").astype(np.intp) - 1, 0)
        start, end = self._starts[index], self._ends[index]
        inside = (addresses >= start) & (addresses < end) & (end - np.minimum(addresses, end) >= np.uint64(size))
        return np.where(inside, self._places[index] + (addresses - start), np.uint64(0)).astype(np.intp), inside

    def note_changes(self, place: Rows, size: int) -> None:
        """Take note of changes of numbers of `size` bytes at places."""
        for byte in range(size):
            self._stored[place + byte] = True

    def known(self, place: Rows, size: int) -> Truth:
        """Say whether `size` bytes at places are known."""
        return np.asarray(np.logical_and.reduce([self._known[place + byte] for byte in range(size)]))

    def numbers(self, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return all bytes as numbers of a type: the one at a place has that place by its size as index."""
        return self._data.view(kind)

    def changes(self) -> Iterator[KnownBytes]:
        """Yield what was stored, by address."""
        for first, end, place in zip(self._starts.tolist(), self._ends.tolist(), self._places.tolist(), strict=True):
            stored = np.concatenate([[False], self._stored[place : place + end - first], [False]])
            edges = np.flatnonzero(stored[1:] != stored[:-1]).tolist()
            for begin, stop in zip(edges[::2], edges[1::2], strict=True):
                yield KnownBytes(first + begin, self._data[place + begin : place + stop].tobytes())

    def _place(self, address: int) -> int:
        index = int(np.searchsorted(self._starts, np.uint64(address), side="right")) - 1
        return int(self._places[index]) + address - int(self._starts[index])


def _merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges by address, those that access as one."""
    held: tuple[int, int] | None = None
    for first, end in sorted({(first, end) for first, end in ranges if first < end}):
        if held is None or first > held[1]:
            if held is not None:
                yield held
            held = first, end
        else:
            held = held[0], max(held[1], end)
    if held is not None:
        yield held
