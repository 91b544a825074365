"""The bytes of a tensor map, made without the stand-in driver: an encoder that the reader is held to."""

import struct

from sassan.machine.tensor_map import Element, TensorMap

ELEMENTS = (
    *(Element("uint8", 8, 8), Element("uint16", 16, 16), Element("uint32", 32, 32), Element("int32", 32, 32)),
    *(Element("uint64", 64, 64), Element("int64", 64, 64), Element("float16", 16, 16), Element("float32", 32, 32)),
    *(Element("float64", 64, 64), Element("bfloat16", 16, 16), Element("float32 ftz", 32, 32), Element("tfloat32", 32, 32)),
    *(Element("tfloat32 ftz", 32, 32), Element("4 bits", 4, 4), Element("4 bits in bytes", 4, 8), Element("6 bits in bytes", 6, 8)),
)


def padded(numbers: tuple[int, ...], count: int) -> list[int]:
    return [*numbers, *[0] * (count - len(numbers))]


def encoded(each: TensorMap) -> bytes:
    """Return the bytes of a map, as tests/record/tensor_maps.c gets them from the stand-in driver."""
    head = struct.pack(
        "<8s8B",
        b"sassanTM",
        *(1, each.kind, ELEMENTS.index(each.element), each.rank),
        *(each.interleave, each.swizzle, each.promotion, each.fill),
    )
    places = struct.pack("<5Q5I", each.address, *padded(each.strides, 4), *padded(tuple(extent - 1 for extent in each.extents), 5))
    box = struct.pack("<5H5B", *padded(each.box, 5), *padded(each.steps, 5))
    columns = struct.pack("<B2H3h3h3I", each.wide, each.channels, each.pixels, *padded(each.lower, 3), *padded(each.upper, 3), 0, 0, 0)
    hashed = 0xCBF29CE484222325
    for byte in head + places + box + columns:
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    return head + places + box + columns + hashed.to_bytes(8, "little")
