"""A launch as a user of the library tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.machine import launch as machine_launch
from sassan.machine.occupancy import Resources
from sassan.machine.parameters import setting

Shape = int | tuple[int, ...]
"""Extents in x, y, z; what is left out is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What is known of a launch; None, and parameters that are left out, may be anything.

    `block` counts threads, `grid` blocks. `parameters` are integers by name (`param_0`, the first of a cubin) or by place in constant bank
    0 (`0x140`). `registers` per thread and `shared` bytes per block say what the input does not; `sms` is how many SMs the grid has.
    """

    block: Shape | None = None
    grid: Shape | None = None
    parameters: Mapping[str | int, int] = field(default_factory=dict[str | int, int])
    registers: int | None = None
    shared: int | None = None
    sms: int = 1


def told(one: Launch) -> machine_launch.Launch:
    """Return what the bounds of loops may depend on.

    Raises UsageError for a launch that is impossible, or a parameter that is none.
    """
    return machine_launch.Launch(
        block=_shape(one.block, "block"),
        grid=_shape(one.grid, "grid"),
        parameters=tuple(setting(f"{name if isinstance(name, str) else hex(name)}={value}") for name, value in one.parameters.items()),
    )


def resources(one: Launch) -> Resources:
    """Return what occupancy depends on."""
    return Resources(one.registers, one.shared, one.sms)


def _shape(extents: Shape | None, what: str) -> machine_launch.Shape | None:
    if extents is None:
        return None
    return machine_launch.shape(",".join(map(str, (extents,) if isinstance(extents, int) else extents)), what)
