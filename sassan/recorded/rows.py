"""Rows of a CSV text with their line numbers, and the sizes and numbers in their cells."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sassan.recorded.faults import bad, bad_line, shown
from sassan.recorded.types import Size

_SIZE = re.compile(r"\(?\s*(\d{1,10})(?:\s*[,x]\s*(\d{1,10}))?(?:\s*[,x]\s*(\d{1,10}))?\s*\)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,30}(\.\d{0,30})?([eE][+-]?\d{1,3})?", re.ASCII)
_MOST_BLOCKS, _MOST_THREADS = (1 << 31) - 1, 1024
_FIELD = 1 << 17
"""Maximum number of characters of a cell."""


class CsvRow(NamedTuple):
    """The cells of a row, and its first line, counted from 1."""

    line: int
    cells: tuple[str, ...]


def rows(path: str, lines: Iterable[str], first: int = 1) -> Iterator[CsvRow]:
    """Yield the rows of lines, the first of which is line `first` of the file.

    Raises InputError `bad-recording` for an unterminated quotation or a cell that is too long.
    """
    reader = csv.reader(lines, strict=True)
    before = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise bad(path, f"line {first + before}", f"not CSV: {error}") from None
        if cells is None:
            return
        if cells:
            yield CsvRow(first + before, tuple(cells))
        before = reader.line_num


def size(path: str, row: CsvRow, text: str, name: str) -> Size | None:
    """Return a size such as `256,1,1`, `(256, 1, 1)`, `16x16` or `256`, None for an empty cell."""
    if not text.strip(" "):
        return None
    match = _SIZE.fullmatch(text.strip(" "))
    if match is None or len(text) > _FIELD:
        raise bad_line(path, row.line, f"'{shown(text)}' is not a {name}: expected X,Y,Z")
    x, y, z = (int(extent) if extent else 1 for extent in match.groups())
    threads = name == "block" and x * y * z > _MOST_THREADS
    if not all(0 < extent <= _MOST_BLOCKS for extent in (x, y, z)) or threads:
        raise bad_line(path, row.line, f"a {name} of {x} x {y} x {z} cannot be launched")
    return x, y, z


def number(path: str, row: CsvRow, text: str, name: str) -> float | None:
    """Return a non-negative number, None for an empty cell."""
    if not text.strip(" "):
        return None
    if _NUMBER.fullmatch(text.strip(" ")) is None:
        raise bad_line(path, row.line, f"'{shown(text)}' in the column {name} is not a non-negative number")
    value = float(text.strip(" "))
    if value == float("inf"):
        raise bad_line(path, row.line, f"'{shown(text)}' in the column {name} is too large")
    return value


def whole(path: str, row: CsvRow, text: str, name: str) -> int | None:
    """Return a non-negative integer, None for an empty cell."""
    value = number(path, row, text, name)
    if value is not None and not value.is_integer():
        raise bad_line(path, row.line, f"'{shown(text)}' in the column {name} is not an integer")
    return None if value is None else int(value)
