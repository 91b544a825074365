"""Checked access to one table of a configuration: every complaint is a UsageError `bad-config` that names the file and the key."""

from typing import Self, cast

from sassan.errors import UsageError
from sassan.machine import fields

HINT = "sassan/evolve/README.md describes configurations, samples/evolve/ holds some"


class Fields(fields.Fields):
    """One TOML table of a configuration."""

    error = UsageError
    code = "bad-config"
    hint = HINT

    def tables(self, key: str) -> tuple[Self, ...]:
        """Return the array of tables under a key, at least one."""
        found = super().tables(key)
        if not found:
            raise self.fail(key, f"must be an array of tables: [[{key}]]")
        return found

    def whole(self, key: str, default: int | None = None, *, least: int = 1, most: int = 2**31 - 1) -> int:
        """Return the whole number under a key."""
        value = self.values.get(key, default)
        if value is None:
            raise self.fail(key, "is missing")
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.fail(key, f"must be a whole number from {least} to {most}, not {value!r}")
        return value

    def number(self, key: str, default: float, *, least: float, most: float) -> float:
        """Return the number under a key."""
        value = self.values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.fail(key, f"must be a number from {least:g} to {most:g}, not {value!r}")
        return float(value)

    def items(self, key: str, default: tuple[object, ...] | None = None) -> tuple[object, ...]:
        """Return the array under a key."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            raise self.fail(key, "must be an array" if key in self.values else "is missing")
        return tuple(cast("list[object]", value))

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return the array of texts under a key."""
        value = self.items(key, default)
        if not all(isinstance(one, str) and one for one in value):
            raise self.fail(key, "must be an array of texts")
        return cast("tuple[str, ...]", value)
