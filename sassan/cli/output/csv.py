"""A table as CSV: its heads are the keys in JSON, an unknown value is empty, a source line is `file:line`, a list has blanks.

No text in it can steer a terminal, and none is a formula: a text that a spreadsheet would compute begins with an apostrophe. A cell with a
semicolon is quoted: spreadsheets of many languages divide rows there, and the rest of the cell would be one of its own.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TypeVar, cast

from sassan.cli.output.terminal import out, safe
from sassan.errors import UsageError
from sassan.fields.field import Record, heads, row

S = TypeVar("S")
T = TypeVar("T")
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!-*$|[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$)")
"""How a text begins that a spreadsheet computes: no number, no strokes that stand for nothing."""
_GUARDED = re.compile(r"@!?U?P[0-9T] [A-Z][A-Z0-9_.]*(?=[ ;]|$)(?!.*\w\|['\w])")
"""An instruction with a guard, which a spreadsheet refuses; not one with a word before a stroke, as a call of another program has."""
_INSTRUCTIONS = "text"
"""The column of instructions."""
_DIVIDER = ";"
_OF_LAUNCH = "launch"
"""The column of a launch, which has two in its place."""
_LAUNCH = ("launch_grid", "launch_block")
"""The columns behind all others where rows are of several launches."""


def exclude(*, csv: bool, json: bool) -> None:
    """Refuse two forms at once; raises UsageError."""
    if csv and json:
        raise UsageError("usage", "--csv and --json exclude each other", hint="pass one of them")


def show(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows under their heads; a head that a row does not have is empty."""
    out(text(names, rows))


def of_fields(record: type[Record[S]], subjects: Iterable[S]) -> None:
    """Print results as rows of the columns that the fields of their record declare."""
    show(heads(record), (row(record, subject) for subject in subjects))


def of_parts(record: type[Record[S]], part: type[Record[T]], rows: Iterable[tuple[S, Iterable[T]]], *, alone: bool = False) -> None:
    """Print a row for each part of each result, behind the columns of the result; `alone`: one of the result where it has no part."""
    show(heads(record, part), (cells for subject, parts in rows for cells in _of_parts(record, part, subject, parts, alone=alone)))


def _of_parts(
    record: type[Record[S]], part: type[Record[T]], subject: S, parts: Iterable[T], *, alone: bool
) -> Iterator[Mapping[str, object]]:
    head = row(record, subject)
    cells = [{**head, **row(part, each)} for each in parts]
    yield from cells or ([head] if alone else [])


def text(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return what `show` prints."""
    rows = tuple(map(_launched, rows))
    names = (*(name for name in names if name != _OF_LAUNCH), *(_LAUNCH if any(_LAUNCH[0] in row for row in rows) else ()))
    lines = StringIO(newline="")
    end = f"{_DIVIDER}\n"
    writer = csv.writer(lines, lineterminator=end)  # it quotes what holds a character of the end of a line
    writer.writerow(map(_cell, names))
    writer.writerows([_cell(row.get(name), instruction=name == _INSTRUCTIONS) for name in names] for row in rows)
    return lines.getvalue().replace(end, "\n")  # no cell holds the end of a line


def _launched(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row with the extents of its launch, where it is of one of several, as cells of their own."""
    match row:
        case {"launch": {"grid": grid, "block": block}}:
            return {**row, **dict(zip(_LAUNCH, (grid, block), strict=True))}
        case _:
            return row


def _cell(value: object, *, instruction: bool = False) -> object:
    match value:
        case None:
            return ""
        case {"file": file, "line": line}:
            return _text(f"{file}:{line}")
        case list():
            return _text(" ".join(map(str, cast("list[object]", value))))
        case str():
            return safe(value) if instruction and _GUARDED.match(value) else _text(value)
        case _:
            return value


def _text(text: str) -> str:
    return f"'{safe(text)}" if _FORMULA.match(text) else safe(text)
