"""The attributes of a `.nv.info` section: a sequence of format u8, kind u8, value u16; format 4 means that `value` bytes follow."""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple


class AttributeKind(IntEnum):
    """The attributes that are read, by the names that nvdisasm prints (EIATTR_…)."""

    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    KPARAM_INFO = 0x17
    EXIT_INSTR_OFFSETS = 0x1C
    MAX_STACK_SIZE = 0x23
    REGCOUNT = 0x2F
    INDIRECT_BRANCH_TARGETS = 0x34
    CTA_PER_CLUSTER = 0x3D
    EXPLICIT_CLUSTER = 0x3E
    MAX_CLUSTER_RANK = 0x3F
    NUM_BARRIERS = 0x4C


class Attribute(NamedTuple):
    """`payload` holds the bytes that follow; without them, `value` is the number in the entry itself."""

    kind: int
    value: int
    payload: bytes


class IndirectBranch(NamedTuple):
    """An entry of INDIRECT_BRANCH_TARGETS, with the addresses of the table. No targets: a call to any function."""

    address: int
    targets: tuple[int, ...]


class AttributeProblem(Exception):  # noqa: N818 - it becomes an InputError where the file is known
    """The bytes are not attributes; the message gives the reason."""


_NOTHING, _BYTE, _HALF, _SIZED = 1, 2, 3, 4
_INDIRECT_CALL = 1


def attributes(data: bytes) -> Iterator[Attribute]:
    """Yield the attributes of a section; raises AttributeProblem."""
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise AttributeProblem(f"the attribute at byte {at} is truncated")
        form, kind, value = struct.unpack_from("<BBH", data, at)
        at += 4
        if form not in (_NOTHING, _BYTE, _HALF, _SIZED):
            raise AttributeProblem(f"the attribute at byte {at - 4} has the unknown format {form}")
        size = value if form == _SIZED else 0
        if at + size > len(data):
            raise AttributeProblem(f"the attribute at byte {at - 4} has {size} bytes and exceeds its section")
        yield Attribute(kind, value, data[at : at + size])
        at += size


def words(attribute: Attribute, count: int | None = None) -> tuple[int, ...]:
    """Return the payload as unsigned 32-bit numbers, `count` of them unless None; raises AttributeProblem."""
    size = len(attribute.payload)
    if size % 4 or (count is not None and size != 4 * count):
        raise AttributeProblem(f"the attribute 0x{attribute.kind:02x} has {size} bytes")
    return struct.unpack(f"<{size // 4}I", attribute.payload)


def branches(attribute: Attribute) -> Iterator[IndirectBranch]:
    """Yield the entries of INDIRECT_BRANCH_TARGETS: address u32, flags u16, zero u16, count u32, target u32 x count.

    Flag 1 marks a call to any function, which has no targets. Raises AttributeProblem.
    """
    payload, at = attribute.payload, 0
    while at < len(payload):
        if at + 12 > len(payload):
            raise AttributeProblem(f"the table of indirect branches is truncated at byte {at}")
        address, flags, zero, count = struct.unpack_from("<IHHI", payload, at)
        at += 12
        if at + 4 * count > len(payload):
            raise AttributeProblem(f"the {count} targets of the indirect branch at 0x{address:04x} exceed its table")
        if zero or flags not in (0, _INDIRECT_CALL) or (flags == _INDIRECT_CALL) != (count == 0):
            raise AttributeProblem(f"the indirect branch at 0x{address:04x} has flags {flags} and {count} targets")
        yield IndirectBranch(address, struct.unpack_from(f"<{count}I", payload, at))
        at += 4 * count
