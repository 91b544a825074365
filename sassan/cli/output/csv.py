"""A table as CSV: its heads are the keys in JSON, an unknown value is empty, a source line is `file:line`, a list has blanks.

No text in it can steer a terminal.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import cast

from sassan.cli.output.terminal import out, safe
from sassan.errors import UsageError


def exclude(*, csv: bool, json: bool) -> None:
    """Refuse two forms at once; raises UsageError."""
    if csv and json:
        raise UsageError("usage", "--csv and --json exclude each other", hint="pass one of them")


def show(heads: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows under their heads; a head that a row does not have is empty."""
    out(text(heads, rows))


def text(heads: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return what `show` prints."""
    lines = StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(map(_cell, heads))
    writer.writerows([_cell(row.get(head)) for head in heads] for row in rows)
    return lines.getvalue()


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case {"file": file, "line": line}:
            return safe(f"{file}:{line}")
        case list():
            return safe(" ".join(map(str, cast("list[object]", value))))
        case str():
            return safe(value)
        case _:
            return value
