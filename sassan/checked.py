"""Checked access to TOML and JSON documents: every complaint is an error with a code that names the file and the key.

A `Format` says which errors a kind of document has; `Format.toml` and `Format.json` parse a text into `Fields`, one table with the path of
keys that leads to it. A value of null counts as absent. The values of a hostile text may be long or deeply nested: messages cut them.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar, cast

from sassan.errors import InputError, UsageError
from sassan.source import Source, Span

MOST = 2**63 - 1
"""The largest whole number that is read where the caller names no limit."""
_MARK = "\ufeff"
"""A byte order mark: some editors begin a file with it."""
_LEVELS = 100
"""Tables that a dotted key may name: tomllib takes memory in proportion to the square of them."""
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_LEVELS}}}")
_DIGITS = re.compile(r"[0-9]{4301,}")
"""An integer of more digits than Python reads in decimal."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"|\'[^\']*+\'')
_LONGEST = 1_000_000
"""Characters of one string."""
_SHOWN = 60
"""Characters of a value in a message."""
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PATH = re.compile(r"[A-Za-z0-9_., \[\]-]+", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}", re.ASCII)
S = TypeVar("S", bound=str)


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of document: the code, hint and class of its errors; `syntax` is the code for a text that cannot be parsed.

    `table` is what messages call a table: "an object" in JSON.
    """

    code: str
    hint: str = ""
    syntax: str = ""
    error: type[InputError] | type[UsageError] = InputError
    table: str = "a table"

    def toml(self, name: str, text: str) -> "Fields":
        """Return the document of a TOML text; `name` is the file, for errors."""
        try:
            return Fields(self, name, tomllib.loads(self._plain(name, text)))
        except (ValueError, RecursionError) as error:
            raise self._unparsed(name, text, "TOML", error) from None

    def json(self, name: str, text: str) -> "Fields":
        """Return the document of a JSON text that has to be an object."""
        value = self.json_value(name, text)
        if not isinstance(value, dict):
            raise self.refused(f"{_prefix(name)}must be {self.table}")
        return Fields(self, name, cast("Mapping[str, object]", value))

    def json_value(self, name: str, text: str) -> object:
        """Return the value of a JSON text without a key that stands twice; a syntax error has the place in the text."""
        try:
            return cast("object", json.loads(text.removeprefix(_MARK), object_pairs_hook=_unique))
        except json.JSONDecodeError as error:
            place, message = Span(error.lineno, error.colno, 1), f"{_prefix(name)}not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            raise self.error(self.syntax or self.code, message, source=Source(name, text), span=place, hint=self.hint or None) from None
        except (ValueError, RecursionError) as error:
            raise self._unparsed(name, text, "JSON", error) from None

    def refused(self, message: str) -> InputError | UsageError:
        """Return the error with a message."""
        return self.error(self.code, message, hint=self.hint or None)

    def _plain(self, name: str, text: str) -> str:
        """Return a TOML text without its byte order mark; a key of more tables than tomllib can take is refused."""
        text = text.removeprefix(_MARK)
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") >= _LEVELS and _DOTTED.search(_QUOTED.sub("quoted", line)):
                raise self.error(
                    self.syntax or self.code,
                    f"{_prefix(name)}not TOML that is read here: a key of more than {_LEVELS} tables",
                    source=Source(name, text),
                    span=Span(number, 1, len(line)),
                    hint=self.hint or None,
                )
        return text

    def _unparsed(self, name: str, text: str, language: str, error: Exception) -> InputError | UsageError:
        digits = _DIGITS.search(text) if "integer string conversion" in str(error) else None
        if digits is not None:
            place = Span(text.count("\n", 0, digits.start()) + 1, digits.start() - text.rfind("\n", 0, digits.start()), len(digits[0]))
            message = f"{_prefix(name)}not {language} that is read here: a number of {len(digits[0])} digits"
            return self.error(self.syntax or self.code, message, source=Source(name, text), span=place, hint=self.hint or None)
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return self.error(self.syntax or self.code, f"{_prefix(name)}not {language}: {reason}", hint=self.hint or None)


@dataclass(frozen=True, slots=True)
class Fields:
    """One table of a document; `where` is the path of keys that leads to it, with a dot at its end."""

    format: Format
    name: str
    values: Mapping[str, object]
    where: str = ""

    def __contains__(self, key: str) -> bool:
        """Say whether there is a value under a key."""
        return self.values.get(key) is not None

    def path(self, key: str) -> str:
        """Return the file and the path of a key, as errors name it."""
        return f"{_prefix(self.name)}{self.where}{key if _PATH.fullmatch(key) else quoted(key)}"

    def fail(self, key: str, problem: str) -> InputError | UsageError:
        """Return the error for one key of this table."""
        return self.format.refused(f"{self.path(key)}: {problem}")

    def only(self, *known: str) -> None:
        """Refuse every other key: a misspelt one must not pass as a default."""
        for key in self.values:
            if key not in known:
                raise self.fail(key, f"unknown key (known: {', '.join(known)})")

    def table(self, key: str, *, required: bool = False) -> Self:
        """Return the table under a key, empty where there is none and none is required."""
        value = self._required(key) if required else self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.fail(key, f"must be {self.format.table}")
        return self._inner(key if _BARE.fullmatch(key) else quoted(key), value or {})

    def tables(self, key: str, *, required: bool = False) -> tuple[Self, ...]:
        """Return the array of tables under a key, empty where there is none and none is required."""
        rows = self._required(key, None if required else [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in cast("list[object]", rows)) or (required and not rows):
            raise self.fail(key, f"must be an array of {self.format.table.partition(' ')[2]}s")
        return tuple(self._inner(f"{key}[{index}]", row) for index, row in enumerate(cast("list[object]", rows)))

    def items(self, key: str, default: tuple[object, ...] | None = None) -> tuple[object, ...]:
        """Return the array under a key."""
        value = self._required(key, default)
        if not isinstance(value, list | tuple):
            raise self.fail(key, "must be an array")
        return tuple(cast("Iterable[object]", value))

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the array of strings under a key."""
        value = self.items(key, default)
        if not all(isinstance(item, str) for item in value):
            raise self.fail(key, "must be an array of strings")
        return cast("tuple[str, ...]", value)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the string under a key; without a default there must be one that is not empty."""
        value = self._required(key, default)
        if not isinstance(value, str):
            raise self.fail(key, f"must be a string, not {shown(value)}")
        if not value and default is None:
            raise self.fail(key, "must not be empty")
        if len(value) > _LONGEST:
            raise self.fail(key, f"has {len(value)} characters, at most {_LONGEST} are read")
        return value

    def citation(self, sources: Mapping[str, str]) -> str:
        """Return the texts of the sources that `source` names by one or several of their keys; there must be one."""
        keys = (self.text("source"),) if isinstance(self.values.get("source"), str) else self.texts("source")
        if not keys or any(key not in sources for key in keys):
            raise self.fail("source", f"must name one of the [sources]: {', '.join(sources)}")
        return "; ".join(sources[key] for key in keys)

    def choice(self, key: str, known: Iterable[S], default: S | None = None) -> S:
        """Return the string under a key, one of those that are known; of an enumeration, its member."""
        value = self._required(key, default)
        names = tuple(known)
        if not isinstance(value, str) or value not in names:
            raise self.fail(key, f"must be one of {', '.join(names)}, not {shown(value)}")
        return names[names.index(value)]

    def address(self, key: str) -> int:
        """Return the address under a key, a string such as "0x0158"."""
        return self._address(key, self.text(key))

    def addresses(self, key: str) -> tuple[int, ...]:
        """Return the array of addresses under a key, empty where there is none."""
        return tuple(self._address(f"{key}[{index}]", value) for index, value in enumerate(self.texts(key)))

    def _address(self, key: str, value: str) -> int:
        if _ADDRESS.fullmatch(value) is None:
            raise self.fail(key, f'must be an address such as "0x0158", not {shown(value)}')
        return int(value, 16)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return the truth value under a key."""
        value = self._required(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, f"must be true or false, not {shown(value)}")
        return value

    def whole(self, key: str, default: int | None = None, *, least: int = 1, most: float = MOST) -> int:
        """Return the whole number under a key."""
        return self._whole(key, self._required(key, default), least, most)

    def wholes(self, key: str, *, least: int = 1, most: float = MOST) -> tuple[int, ...]:
        """Return the array of whole numbers under a key, empty where there is none."""
        return tuple(self._whole(f"{key}[{index}]", item, least, most) for index, item in enumerate(self.items(key, ())))

    def _whole(self, key: str, value: object, least: int, most: float) -> int:
        if not _is_whole(value, least, most):
            raise self.fail(key, f"must be {_whole_number(least, most)}, not {shown(value)}")
        return cast("int", value)

    def pair(self, key: str, default: tuple[int, int] | None = None, *, least: int = 1) -> tuple[int, int]:
        """Return the two whole numbers under a key."""
        match self._required(key, default):
            case [int(first), int(second)] if _is_whole(first, least, MOST) and _is_whole(second, least, MOST):
                return first, second
            case value:
                raise self.fail(key, f"must be two whole numbers, {least} or more, not {shown(value)}")

    def number(self, key: str, default: float | None = None, *, least: float, most: float) -> float:
        """Return the number under a key."""
        return self._number(key, self._required(key, default), least, most)

    def numbers(self, key: str, *, least: float, most: float) -> tuple[float, ...]:
        """Return the array of numbers under a key, empty where there is none."""
        return tuple(self._number(f"{key}[{index}]", item, least, most) for index, item in enumerate(self.items(key, ())))

    def _number(self, key: str, value: object, least: float, most: float) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.fail(key, f"must be a number from {least:g} to {most:g}, not {shown(value)}")
        return float(value)

    def _required(self, key: str, default: object = None) -> object:
        value = self.values.get(key)
        if value is None and default is None:
            raise self.fail(key, "is missing")
        return default if value is None else value

    def _inner(self, key: str, value: object) -> Self:
        return type(self)(self.format, self.name, cast("Mapping[str, object]", value), f"{self.where}{key}.")


def _prefix(name: str) -> str:
    return f"{name}: " if name else ""


def _is_whole(value: object, least: int, most: float) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _whole_number(least: int, most: float) -> str:
    return f"a whole number from {least} to {most}" if most < MOST else f"a whole number, {least} or more"


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {shown(name)} stands twice in one object")
    return out


def shown(value: object) -> str:
    """Return a value as a message shows it, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, written in hexadecimal; tables of thousands of levels
        return "a value too large to show"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def quoted(text: str) -> str:
    """Return a TOML basic string: names are untrusted text; a lone surrogate, which TOML has not, becomes U+FFFD."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(char, char if char.isprintable() else _escaped(ord(char))) for char in text) + '"'


def _escaped(point: int) -> str:
    return f"\\U{0xFFFD if 0xD800 <= point <= 0xDFFF else point:08x}"  # noqa: PLR2004 - the surrogates
