"""Messages between the stand-in and the recorder: size (32 bits), kind (one byte), bytes; core.c is the other end, on the same machine."""

import struct
from dataclasses import dataclass

from sassan.machine.launch import Shape

HEAD = struct.Struct("=IB")
MOST = 2**30
"""Bytes of a message: a fatbin of a large library."""
_HELLO = struct.Struct("=I")
_IMAGE = struct.Struct("=Q")
_BLOCK = struct.Struct("=QQQ")
_QUESTION = struct.Struct("=QII")
_LAUNCH = struct.Struct("=Q16I")
_PARAMETER = struct.Struct("=II")
_NAME = 64


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """A launch as the stand-in sends it; `arguments` are (offset, bytes), None where the parameters are unknown."""

    image: int
    kernel: str
    grid: Shape
    block: Shape
    cluster: Shape | None
    shared: int
    stream: int
    cooperative: bool
    arguments: tuple[tuple[int, bytes], ...] | None


class Broken(Exception):  # noqa: N818 - it never leaves the server
    """The other end sent what no stand-in sends."""


def name_of(data: bytes) -> str:
    """Return a name: untrusted bytes."""
    return data.decode("utf-8", "replace")


def hello(payload: bytes) -> int:
    """Return the number of the process."""
    return int(_unpack(_HELLO, payload)[0])


def image(payload: bytes) -> tuple[int, bytes]:
    """Return the number of an image and its bytes."""
    return _unpack(_IMAGE, payload)[0], payload[_IMAGE.size :]


def named(payload: bytes) -> tuple[int, str]:
    """Return the number of an image and the name of something in it."""
    number, name = image(payload)
    return number, name_of(name)


def block(payload: bytes) -> tuple[int, int, int]:
    """Return address, size in bytes and kind of memory that the program allocated or freed."""
    address, size, kind = _unpack(_BLOCK, payload)
    return address, size, kind


def question(payload: bytes) -> tuple[int, str, int, int]:
    """Return image, kernel, threads of a block and bytes of dynamic shared memory whose occupancy is asked for."""
    number, threads, shared = _unpack(_QUESTION, payload)
    return number, name_of(payload[_QUESTION.size :]), threads, shared


def launch(payload: bytes) -> RawLaunch:
    """Return a launch."""
    number, *words = _unpack(_LAUNCH, payload)
    grid, block_, cluster = ((words[at], words[at + 1], words[at + 2]) for at in (0, 3, 6))
    shared, stream, cooperative, known, count, length, _ = words[9:]
    at = _LAUNCH.size + length
    name = name_of(payload[_LAUNCH.size : at])
    arguments: list[tuple[int, bytes]] = []
    for _ in range(count):
        if at + _PARAMETER.size > len(payload):
            raise Broken
        offset, size = _PARAMETER.unpack_from(payload, at)
        at += _PARAMETER.size + size
        if at > len(payload):
            raise Broken
        arguments.append((offset, payload[at - size : at]))
    return RawLaunch(
        number,
        name,
        grid,
        block_,
        cluster if all(cluster) else None,
        shared,
        stream,
        bool(cooperative),
        tuple(arguments) if known else None,
    )


def device(numbers: tuple[int, ...], name: str) -> bytes:
    """Return the answer to the first message: `struct device` of core.h."""
    text = name.encode()[: _NAME - 1]
    return struct.pack(f"={len(numbers)}Q{_NAME}s", *numbers, text)


def kernel(numbers: tuple[int, ...], parameters: tuple[tuple[int, int], ...]) -> bytes:
    """Return the answer about a kernel that is there: registers, shared, local, constant, threads, arch; then its parameters."""
    return struct.pack(
        f"={8 + 2 * len(parameters)}I", 1, *numbers, len(parameters), *(word for parameter in parameters for word in parameter)
    )


UNREADABLE = struct.pack("=8I", *[0] * 8)
"""The answer about a kernel whose image cannot be read: its launches are recorded without arguments."""
NO_KERNEL = struct.pack("=8I", 2, 98, *[0] * 6)
"""The answer where the image holds no such kernel: launches end with cudaErrorInvalidDeviceFunction."""
NO_IMAGE = struct.pack("=8I", 2, 209, *[0] * 6)
"""The answer where there is no code for the device: launches end with cudaErrorNoKernelImageForDevice."""


def number(value: int) -> bytes:
    """Return the answer about the size of a variable."""
    return struct.pack("=Q", value)


def blocks(value: int) -> bytes:
    """Return the answer about occupancy."""
    return struct.pack("=i", value)


def _unpack(form: struct.Struct, payload: bytes) -> tuple[int, ...]:
    if len(payload) < form.size:
        raise Broken
    return form.unpack_from(payload)
