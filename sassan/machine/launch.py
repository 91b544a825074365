"""A launch: grid, block and kernel parameters, as far as they are told, and where they stand in constant bank 0.

Limits: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability": the same from 5.0 to 12.0. The driver refuses
a launch beyond them, so they hold of every launch, told or not.
"""

import re
from dataclasses import dataclass
from itertools import starmap
from math import prod

from sassan.errors import UsageError
from sassan.ir import Function

Shape = tuple[int, int, int]
"""Extents in x, y, z."""

BLOCK_LIMITS: Shape = (1024, 1024, 64)
GRID_LIMITS: Shape = (2**31 - 1, 65535, 65535)
BLOCK_THREADS = 1024
_AXES = "xyz"
_PARAMETER_BYTES = 32764
"""Since CUDA 12.1 and sm_70; 4 KB before."""
_WORD, _LONG = 4, 8


@dataclass(frozen=True, slots=True)
class Layout:
    """Byte offsets in constant bank 0: block and grid extents (x, y and z, a word each), and the first kernel parameter."""

    block: int
    grid: int
    parameters: int


# Read off the samples of each architecture: their sources say which extent they use, `.nv.info` says where the parameters begin.
_LAYOUTS = (
    (62, Layout(0x8, 0x14, 0x140)),
    (89, Layout(0x0, 0xC, 0x160)),
    (90, Layout(0x0, 0xC, 0x210)),
    (121, Layout(0x360, 0x370, 0x380)),
)
"""Up to this architecture, this layout."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter as told: `name` is `param_2` (the third of the kernel), or '' where `offset` is its place in constant bank 0."""

    name: str
    offset: int
    value: int

    def __str__(self) -> str:
        """Return what the user wrote."""
        return f"{self.name or f'0x{self.offset:x}'}={self.value}"


@dataclass(frozen=True, slots=True)
class Launch:
    """What is told of a launch: extents of block and grid in threads and blocks, parameters in order; None and () where nothing is.

    Raises UsageError `launch` for extents that no GPU launches.
    """

    block: Shape | None = None
    grid: Shape | None = None
    parameters: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be launched."""
        for what, shape, limits in (("block", self.block, BLOCK_LIMITS), ("grid", self.grid, GRID_LIMITS)):
            for axis, extent, limit in zip(_AXES, shape or (), limits, strict=shape is not None):
                if not 1 <= extent <= limit:
                    raise _refused(f"a {what} of {axis} extent {extent} cannot be launched", f"1 to {limit}")
        if self.block is not None and prod(self.block) > BLOCK_THREADS:
            raise _refused(f"a block of {prod(self.block)} threads cannot be launched", f"{BLOCK_THREADS} at most")

    def __str__(self) -> str:
        """Return what is told, '' where nothing is."""
        parts = [f"{what} {' x '.join(map(str, one))}" for what, one in (("block", self.block), ("grid", self.grid)) if one is not None]
        return ", ".join(parts + [f"parameter {one}" for one in self.parameters])

    @property
    def threads(self) -> int | None:
        """Return the threads of a block."""
        return None if self.block is None else prod(self.block)

    @property
    def blocks(self) -> int | None:
        """Return the blocks of the grid."""
        return None if self.grid is None else prod(self.grid)


def shape(text: str, option: str) -> Shape:
    """Return the extents of `X`, `X,Y` or `X,Y,Z`; what is left out is 1.

    Raises UsageError `launch`.
    """
    if re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10}){0,2}", text, re.ASCII) is None:
        raise _refused(f"{option} {text!r} is no shape", "write it as 256, 16,16 or 8,8,4")
    x, y, z = (*map(int, text.split(",")), 1, 1)[:3]
    return x, y, z


def setting(text: str) -> Setting:
    """Return the parameter of `0x140=64` or `param_0=64`; the value is a decimal or hexadecimal integer.

    Raises UsageError `parameter`.
    """
    found = re.fullmatch(r"(?:(0x[0-9a-fA-F]{1,4})|([A-Za-z_]\w{0,79}))=(-?(?:[0-9]{1,20}|0x[0-9a-fA-F]{1,16}))", text, re.ASCII)
    if found is None:
        raise UsageError(
            "parameter", f"'{text}' sets no parameter", hint="write it as 0x140=64 (its place in constant bank 0) or param_0=64"
        )
    value = int(found[3], 0) if "x" in found[3] else int(found[3])
    if not -(2**63) <= value < 2**64:
        raise UsageError("parameter", f"'{text}': no parameter is wider than 64 bits")
    return Setting(found[2] or "", int(found[1], 16) if found[1] else -1, value)


def layout(arch: str) -> Layout | None:
    """Return where a launch stands in constant bank 0, None for an architecture that nobody has looked at."""
    digits = re.match(r"sm_([0-9]+)", arch, re.ASCII)
    number = int(digits[1]) if digits else 0
    return next((one for last, one in _LAYOUTS if 50 <= number <= last), None)  # noqa: PLR2004  # sm_50 is the first of the table


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kernel parameter stands: `size` bytes at `offset` of constant bank 0."""

    name: str
    offset: int
    size: int


def places(function: Function) -> tuple[Place, ...]:
    """Return the parameters of a kernel in order; none where the input does not tell them."""
    facts = function.compiler
    if facts is None or facts.parameter_base is None:
        return ()
    base = facts.parameter_base
    return tuple(
        Place(f"param_{one.ordinal}", base + one.offset, one.size) for one in sorted(facts.parameters, key=lambda one: one.ordinal)
    )


def place_of(function: Function, told: Setting) -> Place | None:
    """Return where a setting goes in the constant bank of a kernel, None where the kernel has no such parameter."""
    known = places(function)
    if told.name:
        return next((one for one in known if one.name == told.name), None)
    whole = next((one for one in known if one.offset == told.offset and one.size <= _LONG), None)
    if whole is not None:
        return whole
    size = _WORD if -(2**31) <= told.value < 2**32 else _LONG
    first, last = _area(function)
    return Place(f"0x{told.offset:x}", told.offset, size) if first <= told.offset and told.offset + size <= last else None


def _area(function: Function) -> tuple[int, int]:
    """Return where the parameters of a kernel begin and end."""
    facts, known = function.compiler, layout(function.arch)
    if facts is not None and facts.parameter_base is not None and facts.parameter_size is not None:
        return facts.parameter_base, facts.parameter_base + facts.parameter_size
    return (known.parameters, known.parameters + _PARAMETER_BYTES) if known is not None else (0, 0)


def check(launch: Launch, functions: tuple[Function, ...]) -> None:
    """Raise UsageError `unknown-parameter` for a parameter that none of the kernels has, or whose value does not fit."""
    for told in launch.parameters:
        found = [place for place in starmap(place_of, ((one, told) for one in functions)) if place is not None]
        if functions and not found:
            raise UsageError("unknown-parameter", f"--param {told}: no kernel has this parameter", hint=_known(functions))
        for place in found:
            if not -(1 << 8 * place.size - 1) <= told.value < 1 << 8 * place.size:
                raise UsageError("parameter", f"--param {told}: {place.name} has {place.size} bytes")


def _known(functions: tuple[Function, ...]) -> str:
    one = functions[0]
    told = ", ".join(f"{place.name} at 0x{place.offset:x} ({place.size} bytes)" for place in places(one))
    if told:
        return f"{one.name}: {told}"
    first, _ = _area(one)
    return f"a listing does not name parameters; those of {one.arch} begin at 0x{first:x} of constant bank 0"


def _refused(message: str, hint: str) -> UsageError:
    return UsageError("launch", message, hint=hint)
