"""Facts that a tuner's cache does not record, read from `silicon_recipes.toml`: devices by name, and launches of kernels by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sassan.checked import Format
from sassan.errors import InputError, UsageError
from sassan.evolve.space.shapes import ShapeProblem, names
from sassan.products import Product, find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sassan.checked import Fields
    from sassan.recorded.types import Value

_FORMAT = Format("bad-recipe", "the head of scripts/_lib/silicon_recipes.toml describes recipes")
FILE = Path(__file__).with_suffix(".toml")
_AXES = 3


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a kernel was launched; empty where that has to be derived. `shared` is an expression in bytes."""

    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    shared: str = "0"
    parameters: Mapping[str, str] = field(default_factory=dict)
    macros: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipes:
    """The `devices` of a file, by the name that a cache has, and its kernels."""

    devices: Mapping[str, str]
    kernels: Mapping[str, Recipe]

    def product(self, name: str) -> Product | None:
        """Return the product of a name in a cache, None if there is none."""
        try:
            return find(self.devices.get(name, name))
        except UsageError:
            return None


def read(path: Path = FILE) -> Recipes:
    """Read a file of recipes.

    Raises InputError `bad-recipe` with the key, `cannot-read`.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {error}") from None
    whole = _FORMAT.toml(path.name, text)
    whole.only("device", "kernel")
    devices, kernels = whole.table("device"), whole.table("kernel")
    return Recipes(
        {name: devices.text(name) for name in devices.values},
        {name: _recipe(kernels.table(name)) for name in kernels.values},
    )


def _recipe(fields: Fields) -> Recipe:
    fields.only("block", "grid", "shared", "parameters", "macros", "only", "source")
    fields.text("source")
    for key in ("block", "grid"):
        if len(fields.texts(key)) > _AXES:
            raise fields.fail(key, "has more than x, y and z")
        for text in fields.texts(key):
            _check(fields, key, text)
    parameters, macros, only = fields.table("parameters"), fields.table("macros"), fields.table("only")
    for name in parameters.values:
        _check(parameters, name, parameters.text(name))
    for name, value in only.values.items():
        if not isinstance(value, int | float | str):
            raise only.fail(name, "must be a number or a text")
    shared = fields.text("shared", "0")
    _check(fields, "shared", shared)
    return Recipe(
        fields.texts("block"),
        fields.texts("grid"),
        shared,
        {name: parameters.text(name) for name in parameters.values},
        {name: macros.text(name) for name in macros.values},
        {name: value for name, value in only.values.items() if isinstance(value, int | float | str)},
    )


def _check(fields: Fields, key: str, text: str) -> None:
    try:
        names(text)
    except ShapeProblem as problem:
        raise fields.fail(key, str(problem)) from None
