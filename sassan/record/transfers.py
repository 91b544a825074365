"""What the host writes into device memory between two launches, and the bytes of it that are kept."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from sassan.launches import MemoryWrite
from sassan.record.protocol import ProtocolError, RawTransfer

_MOST_FILLED = 1 << 24
"""Bytes of a fill that are kept as data at most; the largest is unknown memory."""
_MOST_RANGES = 2_000
"""Ranges of memory that are remembered; with more of them, any memory may be among them."""


@dataclass(slots=True)
class Transfers:
    """The writes of a process since its last launch, and where memory was written before."""

    writes: list[MemoryWrite] = field(default_factory=list[MemoryWrite])
    derived: bool = False
    """Whether the program may have seen what kernels wrote: zeros here, and on a GPU something else, and so all that it computes since."""
    _launched: bool = False
    _managed: bool = False
    _written: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    sent: list[str] = field(default_factory=list[str])
    """The names of the bytes that the process sent, in order; empty for those that were not kept."""

    def allocated(self, address: int, size: int, *, managed: bool) -> None:
        """Note an allocation: memory that was written before, and freed, holds nothing that is known."""
        self._managed |= managed
        self.derived |= managed and self._launched
        if len(self._written) == _MOST_RANGES or _meets(self._written, address, size):
            self.writes.append(MemoryWrite(address, size))

    def add(self, write: MemoryWrite) -> None:
        """Note a write."""
        self.writes.append(write)
        if len(self._written) < _MOST_RANGES:
            self._written.add((write.address, write.address + write.size))

    def launched(self, *, host: bool) -> None:
        """Note a launch; `host`: it may store to memory that the host reads without a copy."""
        self._launched = True
        self.derived |= host or self._managed

    def read_back(self) -> None:
        """Note that device memory was copied to host memory."""
        self.derived |= self._launched

    def taken(self) -> tuple[MemoryWrite, ...]:
        """Return the writes so far, and forget them."""
        out = tuple(self.writes)
        self.writes.clear()
        return out


class KeptData:
    """The bytes of writes by their name, once each, `limit` at most."""

    def __init__(self, limit: int) -> None:
        """Keep nothing yet."""
        self.bytes: dict[str, bytes] = {}
        self._left = limit

    def transfer(self, to: Transfers, kind: str, raw: RawTransfer) -> None:
        """Note a message of the stand-in library: written (D), copied (M), filled (S) or read back (B)."""
        if kind == "B":
            to.read_back()
        elif kind == "M":
            to.add(MemoryWrite(raw.target, raw.size, source=raw.source if raw.known else None))
        elif kind == "S":
            element, value = raw.fill
            known = element in {1, 2, 4} and raw.size <= _MOST_FILLED and raw.size % element == 0
            data = value.to_bytes(4, "little")[:element] * (raw.size // element) if known else b""
            to.add(MemoryWrite(raw.target, raw.size, self._name(data)))
        else:
            if raw.has_bytes:
                if len(raw.data) != raw.size:
                    raise ProtocolError
                to.sent.append("" if to.derived else self._name(raw.data))
            to.add(MemoryWrite(raw.target, raw.size, "" if to.derived else self._sent(to, raw)))

    def _sent(self, to: Transfers, raw: RawTransfer) -> str:
        """Return the name of the bytes of a write, empty where they are unknown."""
        if raw.sent is None:
            return ""
        if raw.sent >= len(to.sent):
            raise ProtocolError
        return to.sent[raw.sent]

    def _name(self, data: bytes) -> str:
        if not data:
            return ""
        name = f"sha256:{hashlib.sha256(data).hexdigest()}"
        if name not in self.bytes:
            if len(data) > self._left:
                return ""
            self._left -= len(data)
            self.bytes[name] = data
        return name


def _meets(ranges: Iterable[tuple[int, int]], address: int, size: int) -> bool:
    return any(first < address + size and address < end for first, end in ranges)
