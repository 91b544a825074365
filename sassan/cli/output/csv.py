"""A table as CSV: the same heads as its keys in JSON, an unknown value is empty."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from sassan.cli.output.terminal import out


def show(heads: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows under their heads; a head that a row does not have is empty."""
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(row.get(head)) for head in heads] for row in rows)
    out(text.getvalue())


def _cell(value: object) -> object:
    return "" if value is None else value
