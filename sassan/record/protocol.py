"""Messages between the stand-in library and the recorder: size (32 bits), kind (1 byte), payload; core.c is the other end."""

import struct
from dataclasses import dataclass

from sassan.machine.launch import Shape

HEAD = struct.Struct("=IB")
MOST = 2**30
"""Maximum size of a message in bytes: a fatbin of a large library."""
_HELLO = struct.Struct("=I")
_IMAGE = struct.Struct("=Q")
_BLOCK = struct.Struct("=QQQ")
_TRANSFER = struct.Struct("=QQQQ")
_OCCUPANCY_QUERY = struct.Struct("=QII")
_LAUNCH = struct.Struct("=Q20I")
_PARAMETER = struct.Struct("=II")
_NAME = 64
MANAGED = 1
HOST = (MANAGED, 2)
"""Kinds of memory that the host holds or that moves between host and GPU: MANAGED_MEMORY and HOST_MEMORY of core.h."""


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """A launch as sent by the stand-in library; `arguments` are (offset, bytes), None if the parameters are unknown.

    `programmatic` and `carveout` are those of `ProgramLaunch`.
    """

    image: int
    kernel: str
    grid: Shape
    block: Shape
    cluster: Shape | None
    preferred_cluster: Shape | None
    cooperative: bool
    programmatic: bool
    carveout: int | None
    shared: int
    stream: int
    arguments: tuple[tuple[int, bytes], ...] | None


@dataclass(frozen=True, slots=True)
class RawTransfer:
    """`size` bytes from `source` to `target`.

    `known` of a copy: 1 if the bytes are those at `source`. Of a fill: size and value of its element. Of a write: 0 for unknown bytes, 1 if
    they follow as `data`, and 1 + N for those of the N-th message that had bytes.
    """

    target: int
    size: int
    source: int
    known: int
    data: bytes

    @property
    def fill(self) -> tuple[int, int]:
        """The size of the element of a fill in bytes, 0 where unknown, and its value."""
        return self.known >> 32, self.known & 0xFFFFFFFF

    @property
    def has_bytes(self) -> bool:
        """Whether the bytes of a write follow."""
        return self.known == 1

    @property
    def sent(self) -> int | None:
        """The index of the message that had the bytes of a write, -1 for this one; None for unknown bytes."""
        return None if self.known == 0 else -1 if self.has_bytes else self.known - 2


class ProtocolError(Exception):
    """The other end sent an invalid message."""


def name_of(data: bytes) -> str:
    """Decode a name from untrusted bytes."""
    return data.decode("utf-8", "replace")


def hello(payload: bytes) -> int:
    """Return the process id."""
    return int(_unpack(_HELLO, payload)[0])


def image(payload: bytes) -> tuple[int, bytes]:
    """Return the number of an image and its bytes."""
    return _unpack(_IMAGE, payload)[0], payload[_IMAGE.size :]


def named(payload: bytes) -> tuple[int, str]:
    """Return the number of an image and the name of a symbol in it."""
    number, name = image(payload)
    return number, name_of(name)


def block(payload: bytes) -> tuple[int, int, int]:
    """Return address, size in bytes and kind of allocated or freed memory."""
    address, size, kind = _unpack(_BLOCK, payload)
    return address, size, kind


def transfer(payload: bytes) -> RawTransfer:
    """Return a write, a copy, a fill or a read of device memory."""
    target, size, source, known = _unpack(_TRANSFER, payload)
    return RawTransfer(target, size, source, known, payload[_TRANSFER.size :])


def occupancy_query(payload: bytes) -> tuple[int, str, int, int]:
    """Return image, kernel, threads per block and dynamic shared memory in bytes of an occupancy query."""
    number, threads, shared = _unpack(_OCCUPANCY_QUERY, payload)
    return number, name_of(payload[_OCCUPANCY_QUERY.size :]), threads, shared


def launch(payload: bytes) -> RawLaunch:
    """Return a launch."""
    number, *words = _unpack(_LAUNCH, payload)
    grid, block_, cluster, preferred = ((words[at], words[at + 1], words[at + 2]) for at in (0, 3, 6, 9))
    cooperative, programmatic, carveout, shared, stream, known, count, length = words[12:]
    at = _LAUNCH.size + length
    name = name_of(payload[_LAUNCH.size : at])
    arguments: list[tuple[int, bytes]] = []
    for _ in range(count):
        if at + _PARAMETER.size > len(payload):
            raise ProtocolError
        offset, size = _PARAMETER.unpack_from(payload, at)
        at += _PARAMETER.size + size
        if at > len(payload):
            raise ProtocolError
        arguments.append((offset, payload[at - size : at]))
    return RawLaunch(
        number,
        name,
        grid,
        block_,
        cluster if all(cluster) else None,
        preferred if all(preferred) else None,
        bool(cooperative),
        bool(programmatic),
        carveout - 1 if carveout else None,
        shared,
        stream,
        tuple(arguments) if known else None,
    )


def device(numbers: tuple[int, ...], name: str) -> bytes:
    """Return the answer to the first message: `struct device` of core.h."""
    text = name.encode()[: _NAME - 1]
    return struct.pack(f"={len(numbers)}Q{_NAME}s", *numbers, text)


def kernel(numbers: tuple[int, ...], cluster: Shape, parameters: tuple[tuple[int, int], ...]) -> bytes:
    """Return the answer for a known kernel: registers, shared, local, constant, threads, arch; a required cluster; its parameters."""
    words = (1, *numbers, *cluster, len(parameters), *(word for parameter in parameters for word in parameter))
    return struct.pack(f"={len(words)}I", *words)


UNREADABLE = struct.pack("=11I", *[0] * 11)
"""The answer for a kernel in an unreadable image: its launches are recorded without arguments."""
NO_KERNEL = struct.pack("=11I", 2, 98, *[0] * 9)
"""The answer for an unknown kernel: launches fail with cudaErrorInvalidDeviceFunction."""
NO_IMAGE = struct.pack("=11I", 2, 209, *[0] * 9)
"""The answer without code for the device: launches fail with cudaErrorNoKernelImageForDevice."""


def number(value: int) -> bytes:
    """Return the answer with the size of a variable in bytes."""
    return struct.pack("=Q", value)


def blocks(value: int) -> bytes:
    """Return the answer with the number of resident blocks."""
    return struct.pack("=i", value)


def _unpack(form: struct.Struct, payload: bytes) -> tuple[int, ...]:
    if len(payload) < form.size:
        raise ProtocolError
    return form.unpack_from(payload)
