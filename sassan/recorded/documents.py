"""Reading untrusted JSON files, also gzipped: bounded, without duplicate keys; and typed access to their values, without NaN."""

import gzip
import io
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import cast

from sassan.recorded.faults import LIMIT, bad, has_control_characters, shown
from sassan.recorded.types import Value

GZIP = b"\x1f\x8b"
_MOST = 10**18
_VALUE_LENGTH = 1000


def decompressed(path: str, data: bytes) -> bytes:
    """Return the contents of a gzip file, or other bytes unchanged.

    Raises InputError `bad-recording` if the file is truncated, fails its checksum, or contains more than the limit.
    """
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            out = file.read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise bad(path, "", f"the compressed file is damaged: {error}") from None
    if len(out) > LIMIT:
        raise bad(path, "", f"the compressed file contains more than {LIMIT >> 20} MiB", hint="split the file")
    return out


def text_of(path: str, data: bytes) -> str:
    """Decode text.

    Raises InputError `bad-recording` if it is not UTF-8, or contains NUL bytes.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad(path, f"byte {error.start}", "the text is not UTF-8") from None
    if "\0" in text:
        raise bad(path, f"byte {data.index(0)}", "the text contains a NUL byte")
    return text


def parsed(path: str, text: str) -> object:
    """Parse JSON.

    Raises InputError `bad-recording` with the line and the column.
    """
    try:
        return cast("object", json.loads(text, object_pairs_hook=_unique))
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise bad(path, f"line {error.lineno}, column {error.colno}", problem) from None
    except (ValueError, RecursionError) as error:
        raise bad(path, "", f"unreadable JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"duplicate key '{shown(repeated)}'")
    return out


def table(path: str, place: str, value: object) -> Mapping[str, object]:
    """Return a value, checked to be an object."""
    if not isinstance(value, dict):
        raise bad(path, place, f"expected an object, found {described(value)}")
    return cast("Mapping[str, object]", value)


def items(path: str, place: str, value: object) -> Sequence[object]:
    """Return a value, checked to be an array."""
    if not isinstance(value, list):
        raise bad(path, place, f"expected an array, found {described(value)}")
    return cast("Sequence[object]", value)


def name(path: str, place: str, value: object) -> str:
    """Return a value, checked to be a string without control characters."""
    if not isinstance(value, str) or has_control_characters(value) or len(value) > _VALUE_LENGTH * 10:
        raise bad(path, place, f"expected a name, found {described(value)}")
    return value


def number(path: str, place: str, value: object) -> float:
    """Return a value, checked to be a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST < value < _MOST or not math.isfinite(value):
        raise bad(path, place, f"expected a number, found {described(value)}")
    return float(value)


def duration(path: str, place: str, value: object, factor: float) -> float:
    """Return a value, checked to be a positive time, multiplied by `factor`."""
    time = number(path, place, value)
    if time <= 0:
        raise bad(path, place, f"{described(value)} is not a time: expected a number above 0")
    return time * factor


def scalar(path: str, place: str, value: object) -> Value:
    """Return the value of a tuning parameter, checked to be a number, a string, true or false."""
    if isinstance(value, str):
        return name(path, place, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < _MOST:
        return value
    return number(path, place, value)


def described(value: object) -> str:
    """Return the description of a value in an error."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return shown(json.dumps(value)) if not isinstance(value, int) or abs(value) < _MOST else "a number of too many digits"
