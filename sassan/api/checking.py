"""Arguments of callers whose types are not checked: each is what it says, or one UsageError `usage` names it."""

from collections.abc import Callable, Mapping
from operator import index
from os import PathLike, fsdecode
from typing import Any, SupportsIndex, cast

from sassan.errors import UsageError

_LONGEST = 40
"""Characters of a wrong value that are shown."""


def whole(name: str, value: object) -> int:
    """Return a whole number, of whatever type (numpy's, too); truth values, fractions and texts are none.

    Raises UsageError.
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return index(value)
    raise wrong(name, value, "a whole number")


def seconds(name: str, value: object) -> float:
    """Return a number; raises UsageError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise wrong(name, value, "a number of seconds")


def quantity(name: str, value: object) -> float:
    """Return a number of whatever unit; raises UsageError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise wrong(name, value, "a number")


def flag(name: str, value: object) -> bool:
    """Return a truth value; raises UsageError."""
    if isinstance(value, bool):
        return value
    raise wrong(name, value, "True or False")


def text(name: str, value: object) -> str:
    """Return a text; raises UsageError."""
    if isinstance(value, str):
        return value
    raise wrong(name, value, "a text")


def path(name: str, value: object) -> str:
    """Return the path of a file; raises UsageError."""
    if isinstance(value, str | PathLike):
        return fsdecode(cast("str | PathLike[str]", value))
    raise wrong(name, value, "the path of a file")


def mapping(name: str, value: object) -> Mapping[Any, Any]:
    """Return a mapping; raises UsageError."""
    if isinstance(value, Mapping):
        return value
    raise wrong(name, value, "a mapping")


def one_of(*known: str) -> Callable[[str, object], str]:
    """Return a check that a value is one of these texts; it raises UsageError."""

    def check(name: str, value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        raise wrong(name, value, " or ".join(map(repr, known)))

    return check


def wrong(name: str, value: object, expected: str) -> UsageError:
    """Return the error for an argument that is something else than expected."""
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    return UsageError("usage", f"{name} is {shown} ({type(value).__name__})", hint=f"{name} must be {expected}")
