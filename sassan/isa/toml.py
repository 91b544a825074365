"""Typed access to one TOML table file: every complaint is an InputError `bad-table` that names the file and the key."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar, cast

from sassan.errors import InputError

Toml = Mapping[str, object]
E = TypeVar("E", bound=StrEnum)


def bad_table(name: str, key: str, expected: str) -> InputError:
    """Return the error for a table file that does not hold what it must."""
    return InputError("bad-table", f"{name}: {key}: expected {expected}")


class Section:
    """One TOML table of a file, with the path of keys that leads to it."""

    def __init__(self, name: str, where: str, values: Toml) -> None:
        """Take the values; `name` is the file and `where` the dotted path, for errors."""
        self.name = name
        self.where = where
        self.values = values

    @classmethod
    def parse(cls, name: str, text: str) -> "Section":
        """Return the whole file; `name` is what errors call it."""
        try:
            return cls(name, "", tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise bad_table(name, "file", f"TOML ({error})") from error

    def only(self, *keys: str) -> None:
        """Refuse every key that is not one of these: a misspelt key must not pass as a default."""
        for key in self.values:
            if key not in keys:
                raise self.fail(key, f"no such key (known: {', '.join(keys)})")

    def fail(self, key: str, expected: str) -> InputError:
        """Return the error for one key of this table."""
        return bad_table(self.name, f"{self.where}{key}", expected)

    def section(self, key: str) -> "Section":
        """Return the table under `key`, empty when there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(key, "a table")
        return Section(self.name, f"{self.where}{key}.", cast("Toml", value))

    def sections(self, key: str) -> list["Section"]:
        """Return the tables of the array under `key`, named by their place."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.fail(key, "an array of tables")
        out: list[Section] = []
        for index, one in enumerate(cast("list[object]", value)):
            if not isinstance(one, dict):
                raise self.fail(f"{key}[{index}]", "a table")
            out.append(Section(self.name, f"{self.where}{key}[{index}].", cast("Toml", one)))
        return out

    def strings(self, key: str) -> tuple[str, ...]:
        """Return the array of strings under `key`, empty when there is none."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.fail(key, "an array of strings")
        out: list[str] = []
        for one in cast("list[object]", value):
            if not isinstance(one, str):
                raise self.fail(key, "an array of strings")
            out.append(one)
        return tuple(out)

    def string(self, key: str, default: str | None = None) -> str:
        """Return the string under `key`; without a default it must be there."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.fail(key, "a string")
        return value

    def count(self, key: str, default: int | None = None) -> int:
        """Return the number of registers under `key`; without a default it must be there."""
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.fail(key, "a number of registers")
        return value

    def flag(self, key: str) -> bool:
        """Return the truth value under `key`, false when there is none."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.fail(key, "true or false")
        return value

    def choice(self, key: str, kind: type[E], default: E) -> E:
        """Return the member of `kind` that the string under `key` names."""
        text = self.string(key, default.value)
        if text not in [one.value for one in kind]:
            raise self.fail(key, f"one of {', '.join(one.value for one in kind)}")
        return kind(text)
