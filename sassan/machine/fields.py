"""Checked access to one table of a TOML file of the user: every complaint names the file and the key."""

import tomllib
from collections.abc import Mapping
from typing import ClassVar, Self, cast

from sassan.errors import InputError, UsageError

HINT = "sassan/machine/README.md describes machine files"


class Fields:
    """One TOML table, with the path of keys that leads to it.

    A complaint is an `error` with `code` and `hint`: here those of machine files, in a subclass those of another kind of file.
    """

    error: ClassVar[type[InputError] | type[UsageError]] = InputError
    code: ClassVar[str] = "bad-machine"
    hint: ClassVar[str] = HINT

    def __init__(self, name: str, where: str, values: Mapping[str, object]) -> None:
        """Take the values; `name` is the file and `where` the dotted path, for errors."""
        self.name = name
        self.where = where
        self.values = values

    @classmethod
    def parse(cls, name: str, text: str) -> Self:
        """Return the whole file."""
        try:
            return cls(name, "", tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise cls.error(cls.code, f"{name}: no TOML: {error}", hint=cls.hint) from error

    def fail(self, key: str, expected: str) -> InputError | UsageError:
        """Return the error for one key of this table."""
        return self.error(self.code, f"{self.name}: {self.where}{key}: {expected}", hint=self.hint)

    def only(self, *known: str) -> None:
        """Refuse every other key: a misspelt one must not pass as a default."""
        for key in self.values:
            if key not in known:
                raise self.fail(key, f"no such key (known: {', '.join(known)})")

    def table(self, key: str, *, needed: bool = False) -> Self:
        """Return the table under a key, empty where there is none and none is `needed`."""
        value = self.values.get(key, {})
        if not isinstance(value, dict) or (needed and key not in self.values):
            raise self.fail(key, "must be a table" if key in self.values else "is missing")
        return type(self)(self.name, f"{self.where}{key}.", cast("Mapping[str, object]", value))

    def tables(self, key: str) -> tuple[Self, ...]:
        """Return the array of tables under a key, empty where there is none."""
        value = self.values.get(key, [])
        rows = cast("list[object]", value) if isinstance(value, list) else [None]
        found: list[Self] = []
        for index, one in enumerate(rows):
            if not isinstance(one, dict):
                raise self.fail(key, f"must be an array of tables: [[{key}]]")
            found.append(type(self)(self.name, f"{self.where}{key}[{index}].", cast("Mapping[str, object]", one)))
        return tuple(found)

    def whole(self, key: str, default: int | None = None) -> int:
        """Return the positive whole number under a key."""
        return self._positive(key, self.values.get(key, default))

    def _positive(self, key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.fail(key, f"must be a positive whole number, not {value!r}" if value is not None else "is missing")
        return value

    def pair(self, key: str) -> tuple[int, int]:
        """Return the two positive whole numbers under a key."""
        match self.values.get(key):
            case [first, second]:
                return self._positive(key, first), self._positive(key, second)
            case value:
                raise self.fail(key, f"must be two positive whole numbers, not {value!r}" if value is not None else "is missing")

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text under a key."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            raise self.fail(key, "must be a text" if key in self.values else "is missing")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the array of texts under a key, empty where there is none."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
            raise self.fail(key, "must be an array of texts")
        return tuple(cast("list[str]", value))

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
