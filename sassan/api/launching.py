"""A launch as a user of the library tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.api import checking
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


def launch_of(name: str, value: object) -> Launch:
    """Return a launch; raises UsageError `usage`."""
    if isinstance(value, Launch):
        return value
    raise checking.wrong(name, value, "a sassan.Launch")


def told(one: Launch) -> machine_launch.Launch:
    """Return what the bounds of loops may depend on.

    Raises UsageError for a launch that is impossible, or a parameter that is none.
    """
    return machine_launch.Launch(
        block=_shape(one.block, "block"),
        grid=_shape(one.grid, "grid"),
        parameters=tuple(setting(f"{name if isinstance(name, str) else hex(name)}={value}") for name, value in _parameters(one).items()),
    )


def resources(one: Launch) -> Resources:
    """Return what occupancy depends on.

    Raises UsageError `usage`.
    """
    registers, shared = (
        None if value is None else checking.whole(name, value) for name, value in (("registers", one.registers), ("shared", one.shared))
    )
    return Resources(registers, shared, checking.whole("sms", one.sms))


def _parameters(one: Launch) -> Mapping[str | int, int]:
    told = checking.mapping("parameters", one.parameters)
    names = (name if isinstance(name, str) else checking.whole("the place of a parameter", name) for name in told)
    return {name: checking.whole(f"parameter {name}", value) for name, value in zip(names, told.values(), strict=True)}


def _shape(extents: object, what: str) -> machine_launch.Shape | None:
    if extents is None:
        return None
    several = tuple(extents) if isinstance(extents, tuple | list) else (extents,)
    return machine_launch.shape(",".join(str(checking.whole(what, one)) for one in several), what)
