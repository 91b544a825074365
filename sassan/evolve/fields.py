"""Checked access to one table of a configuration: every complaint is a UsageError `bad-config` that names the file and the key."""

import tomllib
from collections.abc import Mapping
from typing import cast

from sassan.errors import UsageError

HINT = "sassan/evolve/README.md describes configurations, samples/evolve/ holds some"


class Fields:
    """One TOML table, with the path of keys that leads to it."""

    def __init__(self, name: str, where: str, values: Mapping[str, object]) -> None:
        """Take the values; `name` is the file and `where` the dotted path, for errors."""
        self.name = name
        self.where = where
        self.values = values

    @classmethod
    def parse(cls, name: str, text: str) -> "Fields":
        """Return the whole file."""
        try:
            return cls(name, "", tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise UsageError("bad-config", f"{name}: no TOML: {error}", hint=HINT) from None

    def fail(self, key: str, expected: str) -> UsageError:
        """Return the error for one key of this table."""
        return UsageError("bad-config", f"{self.name}: {self.where}{key}: {expected}", hint=HINT)

    def only(self, *known: str) -> None:
        """Refuse every other key: a misspelt one must not pass as a default."""
        for key in self.values:
            if key not in known:
                raise self.fail(key, f"no such key (known: {', '.join(known)})")

    def table(self, key: str, *, needed: bool = False) -> "Fields":
        """Return the table under a key, empty where there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict) or (needed and key not in self.values):
            raise self.fail(key, "must be a table" if key in self.values else "is missing")
        return Fields(self.name, f"{self.where}{key}.", cast("Mapping[str, object]", value))

    def tables(self, key: str) -> tuple["Fields", ...]:
        """Return the array of tables under a key, at least one."""
        value = self.values.get(key)
        if not isinstance(value, list) or not value:
            raise self.fail(key, f"must be an array of tables: [[{key}]]")
        found: list[Fields] = []
        for index, one in enumerate(cast("list[object]", value)):
            if not isinstance(one, dict):
                raise self.fail(key, f"must be an array of tables: [[{key}]]")
            found.append(Fields(self.name, f"{self.where}{key}[{index}].", cast("Mapping[str, object]", one)))
        return tuple(found)

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

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text under a key."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            raise self.fail(key, "must be a text" if key in self.values else "is missing")
        return value

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

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return the truth value under a key."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, "must be true or false")
        return value

    def choice(self, key: str, known: tuple[str, ...], default: str | None = None) -> str:
        """Return the text under a key, one of those that are known."""
        value = self.text(key, default)
        if value not in known:
            raise self.fail(key, f"{value!r} is none of {', '.join(known)}")
        return value
