"""Block and grid of a configuration: from a recipe, else as `sassan rank` derives them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

from sassan.errors import InputError
from sassan.evolve.ranking.grids import AXES
from sassan.evolve.space.shapes import ShapeProblem, extent, names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _lib.silicon_recipes import Recipe

    from sassan.evolve.ranking.grids import Derivation
    from sassan.machine.launch import Shape
    from sassan.recorded.types import Value


@dataclass(frozen=True, slots=True)
class Shapes:
    """How one configuration is launched. Units: `shared` is dynamic shared memory in bytes; `parameters` are arguments by value."""

    block: Shape
    grid: Shape
    shared: int
    parameters: tuple[tuple[str, int], ...]


def shapes(recipe: Recipe, derivation: Derivation, values: Mapping[str, Value], problem: Sequence[Value]) -> Shapes:
    """Return the launch of a configuration with these values.

    Raises InputError `no-grid` where an extent cannot be computed.
    """
    sizes = [_size(axis, problem) for axis in range(len(AXES))]
    numbers = {name: value for name, value in values.items() if isinstance(value, int)}
    numbers |= {f"problem_{axis}": size for axis, size in zip(AXES, sizes, strict=True)}
    block = recipe.block or tuple(f"block_size_{axis}" if f"block_size_{axis}" in numbers else "1" for axis in AXES)
    computed = tuple(_evaluated(text, numbers) for text in recipe.grid) or tuple(
        ceil(size / prod(_evaluated(name, numbers) for name in some)) for size, some in zip(sizes, derivation.divisors, strict=True)
    )
    return Shapes(
        _three([_evaluated(text, numbers) for text in block]),
        _three(computed),
        _evaluated(recipe.shared, numbers),
        tuple((name, _evaluated(text, numbers)) for name, text in recipe.parameters.items()),
    )


def _size(axis: int, problem: Sequence[Value]) -> int:
    value = problem[axis] if axis < len(problem) else 1
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError("no-grid", f"the size {value!r} of the problem in {AXES[axis]} is not a positive whole number")
    return value


def _evaluated(text: str, numbers: Mapping[str, int]) -> int:
    missing = sorted(names(text) - numbers.keys())
    if missing:
        raise InputError(
            "no-grid", f"'{text}': the configuration has no whole number '{missing[0]}'", hint="correct the recipe of the kernel"
        )
    try:
        return extent(text, numbers)
    except ShapeProblem as problem:
        raise InputError("no-grid", str(problem), hint="correct the recipe of the kernel") from None


def _three(extents: Sequence[int]) -> Shape:
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
