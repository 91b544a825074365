"""Constant bank 0 as the concrete machine reads it: the bytes that a launch gives, and which words it leaves open.

Shared with no other reader (`values/environment.py`): what checks an analysis must not repeat its mistakes.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.parameters import BankLayout, layout

_WORD = 4
_AXES = 3


@dataclass(frozen=True, slots=True)
class ConstantBank:
    """The bytes of constant bank 0 that are given, by offset; `extents` are the words that hold block and grid, given or not."""

    given: Mapping[int, int]
    extents: frozenset[int]

    def word(self, offset: int) -> int | None:
        """Return the word at an offset, None where a byte of it is not given."""
        stored = [self.given.get(offset + place) for place in range(_WORD)]
        known = bytes(byte for byte in stored if byte is not None)
        return int.from_bytes(known, "little") if len(known) == _WORD else None

    def filled(self, offset: int, drawn: int) -> int:
        """Return the word at an offset, with the bytes of a drawn word where none is given."""
        other = drawn.to_bytes(_WORD, "little")
        return int.from_bytes(bytes(self.given.get(offset + place, other[place]) for place in range(_WORD)), "little")

    def is_free(self, offset: int) -> bool:
        """Say whether a word may be any: no byte of it is given, and it holds no extent of block or grid."""
        return offset not in self.extents and all(offset + place not in self.given for place in range(_WORD))


def _about_clusters(where: BankLayout, launch: LaunchConfiguration, cluster: Shape | None) -> Mapping[int, int]:
    """Return the bytes about clusters; of reciprocals those that are exact."""
    if cluster is None or where.cluster is None or where.cluster_blocks is None:
        return {}
    table = b"".join(struct.pack("<I", extent) for extent in cluster) + b"".join(struct.pack("<f", 1 / extent) for extent in cluster)
    if launch.grid is not None:
        table += b"".join(struct.pack("<I", blocks // extent) for blocks, extent in zip(launch.grid, cluster, strict=True))
    rounded = {_WORD * (_AXES + axis) + part for axis, extent in enumerate(cluster) if extent & extent - 1 for part in range(_WORD)}
    known = {where.cluster + place: byte for place, byte in enumerate(table) if place not in rounded}
    return known | dict(enumerate(prod(cluster).to_bytes(_WORD, "little"), where.cluster_blocks))


def constant_bank(function: Function, launch: LaunchConfiguration) -> ConstantBank:
    """Return constant bank 0 of a kernel of machine code for a launch; raises UsageError (`LaunchConfiguration.placed`)."""
    given: dict[int, int] = {}
    extents: set[int] = set()
    where = layout(function.arch)
    # A kernel whose parameters begin elsewhere has another layout, of which nothing is known.
    base = function.compiler.parameter_base if function.compiler is not None else None
    if where is not None and base in {None, where.parameters}:
        for start, shape in ((where.block, launch.block), (where.grid, launch.grid)):
            extents |= {start + _WORD * axis for axis in range(_AXES)}
            for axis, extent in enumerate(shape or ()):
                given |= dict(enumerate(extent.to_bytes(_WORD, "little"), start + _WORD * axis))
        given |= _about_clusters(where, launch, launch.cluster_of(function))
    for setting, place in launch.placed(function):
        value = setting.value % (1 << 8 * place.size)
        given |= dict(enumerate(value.to_bytes(place.size, "little"), place.offset))
    return ConstantBank(given, frozenset(extents))
