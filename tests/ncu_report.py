"""Writing reports of Nsight Compute for the tests, field by field, with the cubin of a sample.

Every byte is marked: structure (lengths, keys, counts, references) or value (numbers, names, machine code). Mutations of structure are
to be noticed; of values, only what the report holds twice can be.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from cubins import cubin
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.image import Image

SAMPLE = "sm_80/saxpy"
CODE = cubin(SAMPLE)
KERNEL, SIZE = next((section.name.removeprefix(".text."), section.size) for section in Elf(Image(SAMPLE, CODE)).code)
BASE = 0x7F91_E7E8_3600
GRID, BLOCK = (1024, 2, 1), (256, 1, 1)
WARPS = 1024 * 2 * 8
SOURCE_ID = (18 << 32) + 1


@dataclass(frozen=True)
class Marked:
    """Bytes, and which of them are values."""

    data: bytes
    values: bytes

    def __add__(self, other: "Marked") -> "Marked":
        return Marked(self.data + other.data, self.values + other.values)


NOTHING = Marked(b"", b"")


def structure(data: bytes) -> Marked:
    return Marked(data, b"\0" * len(data))


def value(data: bytes) -> Marked:
    return Marked(data, b"\1" * len(data))


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def key(number: int, wire: int) -> Marked:
    return structure(varint(number << 3 | wire))


def whole(number: int, held: int) -> Marked:
    return key(number, 0) + value(varint(held))


def reference(number: int, held: int) -> Marked:
    return key(number, 0) + structure(varint(held))


def double(number: int, held: float) -> Marked:
    return key(number, 1) + value(struct.pack("<d", held))


def text(number: int, held: str | bytes) -> Marked:
    data = held.encode() if isinstance(held, str) else held
    return key(number, 2) + structure(varint(len(data))) + value(data)


def message(number: int, *parts: Marked) -> Marked:
    body = sum(parts, NOTHING)
    return key(number, 2) + structure(varint(len(body.data))) + body


def framed(*parts: Marked) -> Marked:
    body = sum(parts, NOTHING)
    return structure(struct.pack("<I", len(body.data))) + body


def held(number: int, value: float | str) -> Marked:
    """A value of a metric."""
    if isinstance(value, str):
        return message(number, text(1, value))
    return message(number, whole(5, value) if isinstance(value, int) else double(3, value))


@dataclass(frozen=True)
class Launch:
    """A result; `counts` are per instruction, by offset."""

    number: int = 1
    kernel: str = KERNEL
    grid: tuple[int, int, int] = GRID
    block: tuple[int, int, int] = BLOCK
    cycles: float = 124056.0
    time_ns: float = 84480.0
    counts: Mapping[int, int] = field(default_factory=lambda: dict.fromkeys(range(0, 160, 16), WARPS))
    source: int | None = SOURCE_ID
    changed: Mapping[str, float | str | None] = field(default_factory=dict)
    extra: Marked = NOTHING

    def metrics(self) -> dict[str, float | str | None]:
        total = sum(self.counts.values())
        threads = self.block[0] * self.block[1] * self.block[2]
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        rate = self.cycles / self.time_ns * 1e9
        out: dict[str, float | str | None] = {
            "launch__grid_size": float(blocks),
            **{f"launch__grid_dim_{axis}": float(extent) for axis, extent in zip("xyz", self.grid, strict=True)},
            "launch__block_size": float(threads),
            **{f"launch__block_dim_{axis}": float(extent) for axis, extent in zip("xyz", self.block, strict=True)},
            "launch__thread_count": float(blocks * threads),
            "launch__device_id": 0.0,
            "launch__shared_mem_per_block": 3072.0,
            "launch__shared_mem_per_block_static": 1024.0,
            "launch__shared_mem_per_block_dynamic": 1024.0,
            "launch__shared_mem_per_block_driver": 1024.0,
            "launch__function_pcs": float(BASE),
            "gpu__time_duration.sum": self.time_ns,
            "sm__cycles_elapsed.max": self.cycles,
            "gpc__cycles_elapsed.max": self.cycles,
            "gpc__cycles_elapsed.avg.per_second": rate,
            "smsp__inst_executed.sum": float(total),
            "sass__inst_executed_per_opcode": float(total),
            "inst_executed": total,
            "thread_inst_executed": total * 32,
        }
        return out | dict(self.changed)


def result(launch: Launch, strings: list[str]) -> Marked:
    instances: dict[str, list[tuple[int | str, int]]] = {
        "launch__function_pcs": [(0, BASE)],
        "inst_executed": [(BASE + offset, count) for offset, count in launch.counts.items()],
        "thread_inst_executed": [(BASE + offset, count * 32) for offset, count in launch.counts.items()],
        "sass__inst_executed_per_opcode": [("FFMA", sum(launch.counts.values()))],
    }
    metrics = NOTHING
    for name, value in launch.metrics().items():
        if name not in strings:
            strings.append(name)
        parts = [message(3, held(1, key), held(2, count)) for key, count in instances.get(name, [])]
        metrics += message(13, reference(1, strings.index(name)), *([] if value is None else [held(2, value)]), *parts)
    return framed(
        reference(1, 4711),
        reference(2, launch.number),
        text(5, launch.kernel),
        text(6, launch.kernel),
        message(10, *(whole(index, extent) for index, extent in enumerate(launch.grid, 1))),
        message(11, *(whole(index, extent) for index, extent in enumerate(launch.block, 1))),
        metrics,
        *([] if launch.source is None else [message(15, reference(1, launch.source))]),
        launch.extra,
    )


def source(code: bytes = CODE, capability: int = 8 << 16, address: int = BASE) -> Marked:
    symbols = message(9, message(1, text(1, KERNEL), whole(2, address), whole(3, 8)))
    return framed(reference(1, SOURCE_ID), text(4, code), reference(5, capability >> 16), reference(6, capability), symbols)


def session(sms: int = 108) -> Marked:
    attributes: dict[str, int] = {
        "device__attribute_compute_capability_major": 8,
        "device__attribute_compute_capability_minor": 0,
        "device__attribute_multiprocessor_count": sms,
        "device__attribute_clock_rate": 1410000,
    }
    listed = [message(3, text(1, name), held(2, value)) for name, value in attributes.items()]
    return message(3, message(6, reference(1, 0), text(2, "Synthetic A100"), *listed))


def block(*payload: Marked, sources: int = 0, results: int = 0, about: Marked = NOTHING, strings: tuple[str, ...] = ()) -> Marked:
    """A block with its messages; `about` are further fields of its header."""
    body = sum(payload, NOTHING)
    table = message(4, *(text(1, string) for string in strings))
    process = message(6, reference(1, 4711), text(2, "127.0.0.1"))
    return framed(reference(1, sources), reference(2, results), about, table, reference(5, len(body.data)), process) + body


def blocks(*launches: Launch, code: bytes = CODE, capability: int = 8 << 16, address: int = BASE, sms: int = 108) -> list[Marked]:
    """The file header and the blocks of a report, with one result each."""
    strings: list[str] = []
    out = [
        structure(b"NVR\0") + framed(reference(1, 7)),
        block(about=message(3, whole(2, 1))),
        block(source(code, capability, address), sources=1),
    ]
    for launch in launches or (Launch(),):
        before = len(strings)
        body = result(launch, strings)
        out.append(block(body, results=1, strings=tuple(strings[before:])))
    return [*out, block(about=session(sms))]


def report(*launches: Launch, **changed: bytes | int) -> Marked:
    """A complete report."""
    return sum(blocks(*launches, **changed), NOTHING)  # type: ignore[arg-type]
