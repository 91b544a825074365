"""A launch as a user of the library tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.api import checking

Shape = int | tuple[int, ...]
"""Extents in x, y, z; what is omitted is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What is known of a launch; None, and parameters that are omitted, may be anything.

    `block` counts threads, `grid` blocks: a number, or up to three in x, y, z. `parameters` are integers by name (`param_0`, the first of a
    cubin) or by place in constant bank 0 (`0x140`). `registers` per thread and `shared` bytes per block say what the input does not; `sms`
    is how many SMs the grid runs on: 1, which bounds any number, where it is not given; `gpu` is a product instead (`RTX 3080`;
    `sassan gpus` lists them), or a .toml file that describes one.
    """

    block: Shape | None = None
    grid: Shape | None = None
    parameters: Mapping[str | int, int] = field(default_factory=dict[str | int, int])
    registers: int | None = None
    shared: int | None = None
    sms: int | None = None
    gpu: str | None = None


def launch_of(name: str, value: object) -> Launch:
    """Return a launch; raises UsageError `usage`."""
    if isinstance(value, Launch):
        return value
    raise checking.wrong(name, value, "a sassan.Launch")


def parameters(launch: Launch) -> tuple[str, ...]:
    """The parameters as text: `n=64`, `0x140=64`.

    Raises UsageError `usage`.
    """
    given = checking.mapping("parameters", launch.parameters)
    names = (name if isinstance(name, str) else hex(checking.whole("the place of a parameter", name)) for name in given)
    return tuple(f"{name}={checking.whole(f'parameter {name}', value)}" for name, value in zip(names, given.values(), strict=True))


def number(name: str, value: object) -> int | None:
    """A whole number, None where it is not given.

    Raises UsageError `usage`.
    """
    return None if value is None else checking.whole(name, value)


def extents(shape: object, name: str) -> str | None:
    """The extents of a block or a grid as text: `16,16`; None where they are not given.

    Raises UsageError `usage`.
    """
    if shape is None:
        return None
    several = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return ",".join(str(checking.whole(name, extent)) for extent in several)
