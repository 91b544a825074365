"""Tensor maps: descriptors of tensors in memory and of the boxes that the copy engine (TMA) copies, as `sassan record` writes them.

A program lets the driver fill 128 bytes (cuTensorMapEncodeTiled and its kinds) and passes them to a kernel, by value or in memory. How a
GPU lays them out is not documented; the layout here is that of `record/stand_in/tensor_map.c`, which answers in place of the driver. Bytes
of another origin, those of a GPU among them, are no map.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import NamedTuple

from sassan.machine.contents import Contents

SIZE = 128
"""Bytes of a map."""
_FORM = struct.Struct("<8s8B5Q5I5H5BB2H3h3h3IQ")
_MAGIC, _VERSION = b"sassanTM", 1
_CHECKED = SIZE - 8
_FNV_BASIS, _FNV_PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_PIECE = 8
_MOST_BOX, _MOST_PIXELS, _MOST_STEP, _MOST_RANK = 256, 1024, 8, 5
_SWIZZLES = ("", "32 bytes", "64 bytes", "128 bytes", "128 bytes by 32", "128 bytes by 32, flipped by 8", "128 bytes by 64")
_PROMOTIONS, _FILLS, _INTERLEAVES, _MODES = 4, 2, 3, 2


class MapKind(IntEnum):
    """How a box is cut out of a tensor: as a tile, or as the columns of a convolution (im2col; wide: along its rows only)."""

    TILED = 0
    IM2COL = 1
    IM2COL_WIDE = 2


class Element(NamedTuple):
    """The type of elements: bits in global memory, and in shared memory, where some types are padded to a byte."""

    name: str
    bits: int
    shared_bits: int


_ELEMENTS = tuple(
    Element(name, bits, shared)
    for name, bits, shared in (
        *(("uint8", 8, 8), ("uint16", 16, 16), ("uint32", 32, 32), ("int32", 32, 32), ("uint64", 64, 64), ("int64", 64, 64)),
        *(("float16", 16, 16), ("float32", 32, 32), ("float64", 64, 64), ("bfloat16", 16, 16), ("float32 ftz", 32, 32)),
        *(("tfloat32", 32, 32), ("tfloat32 ftz", 32, 32), ("4 bits", 4, 4), ("4 bits in bytes", 4, 8), ("6 bits in bytes", 6, 8)),
    )
)
"""In the order of CUtensorMapDataType (cuda.h of CUDA 13.0)."""


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor at `address` with `extents` in elements, the innermost first, and `strides` in bytes of all dimensions but that.

    A tiled box has the extents `box`, of which every `steps`-th element is copied; a box of im2col has `channels` of each of `pixels`,
    and reaches from `lower` beside the first pixel to `upper` beside the last. `interleave`, `promotion`, `fill` and `wide` are the numbers
    of CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapFloatOOBfill and CUtensorMapIm2ColWideMode; `swizzle` is that of
    CUtensorMapSwizzle.
    """

    kind: MapKind
    element: Element
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]
    box: tuple[int, ...] = ()
    channels: int = 0
    pixels: int = 0
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    interleave: int = 0
    swizzle: int = 0
    promotion: int = 0
    fill: int = 0
    wide: int = 0

    @property
    def rank(self) -> int:
        """Return the number of dimensions, 1 to 5."""
        return len(self.extents)

    @property
    def tensor_bytes(self) -> int:
        """Return the bytes of the whole tensor, without gaps between its rows."""
        return -(-prod(self.extents) * self.element.bits // 8)

    @property
    def elements(self) -> int | None:
        """Return the elements that one copy moves, those beyond the tensor included; None where tensors are interleaved."""
        if self.interleave:
            return None
        if self.kind is not MapKind.TILED:
            return self.channels * self.pixels
        return prod(-(-extent // step) for extent, step in zip(self.box, self.steps, strict=True))

    @property
    def rows(self) -> int | None:
        """Return the rows of one copy, each of which is one piece of global memory or has gaps; None where that is not known."""
        row = self.channels if self.kind is not MapKind.TILED else -(-self.box[0] // self.steps[0])
        return None if self.elements is None else -(-self.elements // row)

    @property
    def box_bytes(self) -> int | None:
        """Return the bytes of one copy in global memory, None where that is not known."""
        return None if self.elements is None else -(-self.elements * self.element.bits // 8)

    @property
    def shared_bytes(self) -> int | None:
        """Return the bytes of one copy in shared memory, padding included; None where that is not known."""
        return None if self.elements is None else -(-self.elements * self.element.shared_bits // 8)

    def __str__(self) -> str:
        """Return it in words: `tensor map of float16, 4096 x 1024, boxes of 64 x 128 (16384 bytes), swizzled by 128 bytes`."""
        extents = " x ".join(map(str, self.extents))
        size = "" if self.box_bytes is None else f" ({self.box_bytes} bytes)"
        if self.kind is MapKind.TILED:
            boxes = f"boxes of {' x '.join(map(str, self.box))}{size}"
        else:
            boxes = f"columns of {self.channels} channels x {self.pixels} pixels{size}"
        swizzled = f", swizzled by {_SWIZZLES[self.swizzle]}" if self.swizzle else ""
        return f"tensor map of {self.element.name}, {extents}, {boxes}{', interleaved' if self.interleave else ''}{swizzled}"


def tensor_map(data: bytes) -> TensorMap | None:
    """Return the map of 128 bytes, None where they are none."""
    if len(data) != SIZE or not data.startswith(_MAGIC):
        return None
    _, version, kind, element, rank, interleave, swizzle, promotion, fill, *numbers, check = _FORM.unpack(data)
    address, *strides = numbers[:5]
    last, box, steps, (wide, channels, pixels) = numbers[5:10], numbers[10:15], numbers[15:20], numbers[20:23]
    lower, upper, zero = numbers[23:26], numbers[26:29], numbers[29:]
    limits: tuple[tuple[int, int], ...] = (
        (kind, len(MapKind)),
        (element, len(_ELEMENTS)),
        (interleave, _INTERLEAVES),
        (swizzle, len(_SWIZZLES)),
    )
    limits += ((promotion, _PROMOTIONS), (fill, _FILLS), (wide, _MODES))
    tiled = kind == MapKind.TILED
    fits = (
        version == _VERSION
        and check == _check(data)
        and not any(zero)
        and 1 <= rank <= _MOST_RANK
        and all(number < limit for number, limit in limits)
        and all(1 <= step <= _MOST_STEP for step in steps[:rank])
        and (not tiled or all(1 <= extent <= _MOST_BOX for extent in box[:rank]))
        and (tiled or (rank > 2 and 1 <= channels <= _MOST_BOX and 1 <= pixels <= _MOST_PIXELS))  # noqa: PLR2004 - im2col has a dimension between channels and images
    )
    if not fits:
        return None
    spatial = 0 if tiled else 1 if kind == MapKind.IM2COL_WIDE else rank - 2
    return TensorMap(
        MapKind(kind),
        _ELEMENTS[element],
        address,
        tuple(each + 1 for each in last[:rank]),
        tuple(strides[: rank - 1]),
        tuple(steps[:rank]),
        tuple(box[:rank]) if tiled else (),
        channels,
        pixels,
        tuple(lower[:spatial]),
        tuple(upper[:spatial]),
        interleave,
        swizzle,
        promotion,
        fill,
        wide,
    )


def tensor_maps(data: bytes) -> Iterator[tuple[int, TensorMap]]:
    """Yield the maps in the bytes of an argument, a structure for one, each with where it begins."""
    at = data.find(_MAGIC)
    while at >= 0:
        known = tensor_map(data[at : at + SIZE]) if at % _PIECE == 0 else None
        if known is not None:
            yield at, known
        at = data.find(_MAGIC, at + (1 if known is None else SIZE))


def map_in_memory(contents: Contents | None, address: int) -> TensorMap | None:
    """Return the map at an address of memory, None where the bytes there are not known or are none."""
    for part in contents.parts if contents is not None else ():
        if part.address <= address <= part.address + len(part.data) - SIZE:
            at = address - part.address
            return tensor_map(part.data[at : at + SIZE])
    return None


def _check(data: bytes) -> int:
    """Return the FNV-1a hash that the last bytes of a map have to be."""
    value = _FNV_BASIS
    for byte in data[:_CHECKED]:
        value = (value ^ byte) * _FNV_PRIME & _MASK
    return value
