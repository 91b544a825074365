"""JSON files that nobody checked, gzip allowed: bounded, without a key that stands twice; and typed access to their parts, without NaN."""

import gzip
import io
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import cast

from sassan.recorded.faults import LIMIT, bad, shown, steers
from sassan.recorded.types import Value

GZIP = b"\x1f\x8b"
_MOST = 10**18
_VALUE_LENGTH = 1000


def decompressed(path: str, data: bytes) -> bytes:
    """Return what a gzip file holds, or the bytes themselves where they are none.

    Raises InputError `bad-recording` where it is cut off, fails its checksum, or holds more than the limit.
    """
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            out = file.read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise bad(path, "", f"the compressed file is damaged: {error}") from None
    if len(out) > LIMIT:
        raise bad(path, "", f"the compressed file holds more than {LIMIT >> 20} MiB", hint="split the file")
    return out


def text_of(path: str, data: bytes) -> str:
    """Return the text that these bytes are.

    Raises InputError `bad-recording` where they are not UTF-8, or hold NUL bytes.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad(path, f"byte {error.start}", "the text is not UTF-8") from None
    if "\0" in text:
        raise bad(path, f"byte {data.index(0)}", "the text holds a NUL byte")
    return text


def parsed(path: str, text: str) -> object:
    """Return the value that a JSON text is.

    Raises InputError `bad-recording` with the line and the column.
    """
    try:
        return cast("object", json.loads(text, object_pairs_hook=_unique))
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise bad(path, f"line {error.lineno}, column {error.colno}", what) from None
    except (ValueError, RecursionError) as error:
        raise bad(path, "", f"not JSON that can be read: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{shown(twice)}' stands twice in one object")
    return out


def table(path: str, place: str, value: object) -> Mapping[str, object]:
    """Return a value that has to be an object."""
    if not isinstance(value, dict):
        raise bad(path, place, f"expected an object, found {described(value)}")
    return cast("Mapping[str, object]", value)


def items(path: str, place: str, value: object) -> Sequence[object]:
    """Return a value that has to be an array."""
    if not isinstance(value, list):
        raise bad(path, place, f"expected an array, found {described(value)}")
    return cast("Sequence[object]", value)


def name(path: str, place: str, value: object) -> str:
    """Return a value that has to be a text without control characters."""
    if not isinstance(value, str) or steers(value) or len(value) > _VALUE_LENGTH * 10:
        raise bad(path, place, f"expected a name, found {described(value)}")
    return value


def number(path: str, place: str, value: object) -> float:
    """Return a value that has to be a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST < value < _MOST or not math.isfinite(value):
        raise bad(path, place, f"expected a number, found {described(value)}")
    return float(value)


def duration(path: str, place: str, value: object, factor: float) -> float:
    """Return a value that has to be a time above zero, times `factor`."""
    time = number(path, place, value)
    if time <= 0:
        raise bad(path, place, f"{described(value)} is no time: expected a number above 0")
    return time * factor


def scalar(path: str, place: str, value: object) -> Value:
    """Return a value that may be one of a tuning parameter: a number, a text, true or false."""
    if isinstance(value, str):
        return name(path, place, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < _MOST:
        return value
    return number(path, place, value)


def described(value: object) -> str:
    """Return a value as an error may show it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return shown(json.dumps(value)) if not isinstance(value, int) or abs(value) < _MOST else "a number of too many digits"
