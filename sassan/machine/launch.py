"""A launch: grid, block and kernel parameters, as far as they are given.

Limits: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability": the same from 5.0 to 12.0. The driver refuses
a launch beyond them, so they hold for every launch, given or not.
"""

import re
from dataclasses import dataclass, field, replace
from math import prod

from sassan.errors import UsageError
from sassan.ir import Function
from sassan.machine.contents import Contents
from sassan.machine.parameters import Named, ParameterLocation, Setting, describe, place_of
from sassan.machine.parameters import places as known_places
from sassan.machine.tensor_map import TensorMap

Shape = tuple[int, int, int]
"""Extents in x, y, z."""

BLOCK_LIMITS: Shape = (1024, 1024, 64)
GRID_LIMITS: Shape = (2**31 - 1, 65535, 65535)
BLOCK_THREADS = 1024
_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class LaunchConfiguration:
    """What is given of a launch: extents of block and grid in threads and blocks, parameters in order; None and () where missing.

    Raises UsageError `launch` for extents that no GPU launches.
    """

    block: Shape | None = None
    grid: Shape | None = None
    parameters: tuple[Setting, ...] = ()
    named: tuple[Named, ...] = ()
    """What the user calls parameters."""
    buffers: tuple[int, ...] | None = None
    """Bytes of each buffer that its arguments point to, where the kernel may access no others; None where unknown."""
    host: bool = False
    """Whether some of it is memory of the host, or moves between host and GPU."""
    pinned: tuple[tuple[int, int], ...] = ()
    """First address and bytes of each buffer among them that stays in memory of the host."""
    recorded: bool = False
    """Whether it is one of several launches that a file lists."""
    targets: tuple[tuple[int, int], ...] = ()
    """The place of each pointer argument in constant bank 0, and the bytes of the buffer that it points to."""
    shared: int | None = None
    """Bytes of shared memory of a block, where a recording says them."""
    contents: Contents | None = None
    """Bytes of global memory that are known, and that the launch itself does not change."""
    initial: Contents | None = field(default=None, compare=False)
    """Those, and bytes that are known when it begins: for expectations alone."""
    maps: tuple[tuple[int, TensorMap], ...] = ()
    """Tensor maps among its parameters, by their offset in constant bank 0; their bytes on a GPU are others, and none of `parameters`."""

    cluster: Shape | None = None
    """Blocks of a cluster along each axis; None: the launch does not say."""
    preferred_cluster: Shape | None = None
    """Those of larger ones that the GPU forms where they fit; None: there are none."""

    def __post_init__(self) -> None:
        """Refuse what cannot be launched."""
        for level, extents, limits in (("block", self.block, BLOCK_LIMITS), ("grid", self.grid, GRID_LIMITS)):
            for axis, extent, limit in zip(_AXES, extents or (), limits, strict=extents is not None):
                if not 1 <= extent <= limit:
                    raise _refused(f"a {level} of {axis} extent {extent} cannot be launched", f"1 to {limit}")
        if self.block is not None and prod(self.block) > BLOCK_THREADS:
            raise _refused(f"a block of {prod(self.block)} threads cannot be launched", f"{BLOCK_THREADS} at most")

    def __str__(self) -> str:
        """The given extents and parameters, '' where nothing is given."""
        parts = [f"{level} {' x '.join(map(str, extents))}" for level, extents in (("block", self.block), ("grid", self.grid)) if extents]
        return ", ".join(parts + [f"parameter {parameter}" for parameter in self.parameters])

    def describe(self, function: Function) -> str:
        """The given launch, with place and width of each parameter in the constant bank where the input does not say them."""
        places = dict(self.placed(function))
        parts = [str(replace(self, parameters=()))] if self.block or self.grid else []
        called = {(place.offset, place.size): place.source for place in known_places(function) if place.source and place.offset >= 0}
        named = [(called.get((setting.offset, setting.size), ""), setting) for setting in self.parameters]
        texts = [f"{name}={each.value}" if name else f"{each}{_location(each, places.get(each))}" for name, each in named]
        maps = [f"0x{offset:x}: {each}" for offset, each in self.maps]
        return ", ".join(parts + [f"parameter {text}" for text in (*texts, *maps)])

    def placed(self, function: Function) -> tuple[tuple[Setting, ParameterLocation], ...]:
        """The given parameters that a kernel has, each with its place.

        Raises UsageError `parameter` where a value does not fit, and where two settings set the same byte.
        """
        pairs = [(setting.at(place), place) for setting in self.parameters if (place := self.place_of(function, setting)) is not None]
        taken: dict[int | str, Setting] = {}
        for setting, place in pairs:
            if not -(1 << 8 * place.size - 1) <= setting.value < 1 << 8 * place.size:
                raise UsageError("parameter", f"parameter {setting}: {place.name} has {place.size} bytes")
            # PTX has no offsets: there the name is the place.
            for part in range(place.offset, place.offset + place.size) if place.offset >= 0 else (place.name,):
                other = taken.setdefault(part, setting)
                if other is not setting:
                    where = f"the byte at 0x{part:x}" if isinstance(part, int) else part
                    raise UsageError("parameter", f"parameters {other} and {setting} both set {where}", hint=describe(function))
        return tuple(pairs)

    def place_of(self, function: Function, setting: Setting) -> ParameterLocation | None:
        """Return where a parameter goes in the constant bank of a kernel, None where the kernel has no such parameter."""
        return place_of(function, setting, self.named)

    def cluster_of(self, function: Function) -> Shape | None:
        """Return the extents of a cluster: as the code requires, else as it was launched; None where neither says so, or they differ."""
        required = function.compiler.cluster_extents if function.compiler is not None else None
        known = required or self.cluster
        return known if self.preferred_cluster in {None, known} else None

    @property
    def allocated(self) -> int | None:
        """Return the bytes of global memory that the kernel may access, None where unknown."""
        return None if self.buffers is None else sum(self.buffers)

    @property
    def threads(self) -> int | None:
        """Return the threads of a block."""
        return None if self.block is None else prod(self.block)

    @property
    def blocks(self) -> int | None:
        """Return the blocks of the grid."""
        return None if self.grid is None else prod(self.grid)


def shape(text: str, option: str) -> Shape:
    """Return the extents of `X`, `X,Y` or `X,Y,Z`; omitted extents are 1.

    Raises UsageError `launch`.
    """
    if re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10}){0,2}", text, re.ASCII) is None:
        raise _refused(f"{option} {text!r} is not a shape", "write it as 256, 16,16 or 8,8,4")
    x, y, z = (*map(int, text.split(",")), 1, 1)[:3]
    return x, y, z


def unknown(launch: LaunchConfiguration, functions: tuple[Function, ...]) -> tuple[Setting, ...]:
    """Return the parameters that none of the kernels has; none where there is no kernel.

    Raises UsageError `parameter-width`.
    """
    absent = [setting for setting in launch.parameters if all(launch.place_of(function, setting) is None for function in functions)]
    return tuple(absent) if functions else ()


def unfit(launch: LaunchConfiguration, functions: tuple[Function, ...]) -> tuple[Setting, ...]:
    """Return the parameters that none of the kernels has, and those whose value does not fit into that of one of them."""
    return tuple(setting for setting in launch.parameters if not _fits(replace(launch, parameters=(setting,)), functions))


def _fits(launch: LaunchConfiguration, functions: tuple[Function, ...]) -> bool:
    try:
        # Every kernel is asked: a value may fit one, and be refused by the next.
        placed = tuple(launch.placed(function) for function in functions)
    except UsageError:
        return False
    return any(placed)


def check(launch: LaunchConfiguration, functions: tuple[Function, ...]) -> None:
    """Raise UsageError `unknown-parameter` for a parameter that none of the kernels has, or whose value does not fit."""
    for setting in unknown(launch, functions):
        raise UsageError("unknown-parameter", f"parameter {setting}: no kernel has it", hint=describe(functions[0]))
    for function in functions:
        launch.placed(function)


def impossible(launch: LaunchConfiguration, function: Function) -> str:
    """Return why the driver refuses the launch of a kernel, '' where nothing known speaks against it."""
    limit = function.block_limit
    if limit is None or launch.block is None or limit.allows(launch.block):
        return ""
    return f"a block of {' x '.join(map(str, launch.block))} threads cannot be launched: the kernel was compiled for {limit}"


def _location(setting: Setting, place: ParameterLocation | None) -> str:
    """Return place and width of a parameter, where neither the user nor a name that the input knows says them."""
    if place is None or setting.size or (setting.name and not place.name.startswith("0x")):
        return ""
    return f" ({place.size} bytes at 0x{place.offset:x})" if setting.name else f" ({place.size} bytes)"


def _refused(message: str, hint: str) -> UsageError:
    return UsageError("launch", message, hint=hint)
