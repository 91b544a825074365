"""Golden: control-flow attributes written by ptxas into ``.nv.info.<kernel>``.

A section is a row of attributes: format u8, kind u8, value u16; format 4 means that `value` bytes follow.
"""

import io
import struct
from collections.abc import Iterator
from typing import TypedDict

from elftools.elf.elffile import ELFFile

INDIRECT_BRANCH_TARGETS = 0x34
EXIT_INSTR_OFFSETS = 0x1C
CRS_STACK_SIZE = 0x1E
PREFIX = ".nv.info."
FORMAT_SIZED = 4
FLAG_INDIRECT_CALL = 1
LAST_WITH_CONTROL_WORDS = 62


class Golden(TypedDict):
    """What is known of one kernel; addresses are text, the stack size is in bytes."""

    crs_stack_size: int | None
    exits: list[str]
    indirect_calls: list[str]
    targets: dict[str, list[str]]


def hexed(address: int) -> str:
    """Return an address in the format of the goldens: at least four hex digits."""
    return f"0x{address:04x}"


def instruction_at(address: int, arch: int) -> int:
    """Return the instruction of a target: up to sm_62 a control word denotes the following instruction."""
    return address + 8 if arch <= LAST_WITH_CONTROL_WORDS and address % 0x20 == 0 else address


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        fmt, kind, value = struct.unpack_from("<BBH", data, at)
        at += 4
        size = value if fmt == FORMAT_SIZED else 0
        yield kind, data[at : at + size]
        at += size


def _targets(payload: bytes, arch: int) -> Iterator[tuple[str, list[str]]]:
    """Yield (instruction, its targets); there are none for a call to an unknown place."""
    at = 0
    while at < len(payload):
        address, flags, zero, count = struct.unpack_from("<IHHI", payload, at)
        targets = struct.unpack_from(f"<{count}I", payload, at + 12)
        at += 12 + 4 * count
        if zero != 0 or flags not in (0, FLAG_INDIRECT_CALL) or (flags == FLAG_INDIRECT_CALL) != (count == 0):
            message = f"unexpected entry at {hexed(address)}: flags {flags}, {zero}, {count} targets"
            raise ValueError(message)
        yield hexed(address), [hexed(instruction_at(target, arch)) for target in targets]


def _function(data: bytes, arch: int) -> Golden:
    targets: dict[str, list[str]] = {}
    calls: list[str] = []
    exits: list[str] = []
    stack: int | None = None
    for kind, payload in _attributes(data):
        if kind == INDIRECT_BRANCH_TARGETS:
            for address, branch_targets in _targets(payload, arch):
                if branch_targets:
                    targets[address] = branch_targets
                else:
                    calls.append(address)
        elif kind == EXIT_INSTR_OFFSETS:
            exits += [hexed(a) for (a,) in struct.iter_unpack("<I", payload)]
        elif kind == CRS_STACK_SIZE:
            (stack,) = struct.unpack("<I", payload)
    return {
        "crs_stack_size": stack,
        "exits": sorted(exits),
        "indirect_calls": sorted(calls),
        "targets": dict(sorted(targets.items())),
    }


def indirect_targets(cubin: bytes, arch: int) -> dict[str, Golden]:
    """Return per kernel: targets of SYNC, BRK and BRX, indirect calls, exits, and the stack size in bytes."""
    sections = ELFFile(io.BytesIO(cubin)).iter_sections()
    functions = {s.name.removeprefix(PREFIX): _function(s.data(), arch) for s in sections if s.name.startswith(PREFIX)}
    return dict(sorted(functions.items()))
