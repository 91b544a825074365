"""One row per kernel and architecture of a folder of samples (DIR/sm_NN/NAME.…): printed as kernels by architectures, written as CSV."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from _lib.written import written
from rich.console import Console
from rich.table import Table

from sassan.errors import SassanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path


class Row(Protocol):
    """What every row has; the rest of a NamedTuple is its own."""

    @property
    def kernel(self) -> str:
        """Return the name of the function."""
        ...

    @property
    def arch(self) -> str:
        """Return the architecture: sm_61."""
        ...


_Any = TypeVar("_Any")
_Row = TypeVar("_Row", bound=Row)


def each(folder: Path, pattern: str, rows_of: Callable[[Path], Iterable[_Any]]) -> Iterator[_Any]:
    """Yield the rows of every file DIR/sm_NN/PATTERN, by architecture and name; refused files are reported on standard error."""
    for place in sorted(folder.glob("sm_*"), key=lambda path: int(path.name[3:])):
        for path in sorted(place.glob(pattern)):
            try:
                yield from rows_of(path)
            except SassanError as error:
                print(f"{place.name}/{path.name}: {error.code}: {error.message}", file=sys.stderr)


def archs_of(table_rows: Iterable[Row]) -> list[str]:
    """Return the architectures of rows, in their order."""
    return list(dict.fromkeys(row.arch for row in table_rows))


def show(title: str, table_rows: Sequence[_Row], cell: Callable[[_Row], str], width: int) -> None:
    """Print a line for each kernel with a cell, so many characters wide, for each architecture."""
    archs = archs_of(table_rows)
    by_place = {(row.kernel, row.arch): row for row in table_rows}
    table = Table("kernel", *archs, title=title, box=None)
    for kernel in sorted({row.kernel for row in table_rows}):
        rows = [by_place.get((kernel, arch)) for arch in archs]
        table.add_row(kernel, *("" if row is None else cell(row) for row in rows))
    Console(width=40 + width * len(archs), markup=False).print(table)


def write(table_rows: Sequence[NamedTuple], fields: Sequence[str], output: Path | None) -> None:
    """Write rows as CSV, None as '', with a note; without an output file, do nothing."""
    if output is None:
        return
    with written(output) as file:
        writer = csv.writer(file)
        writer.writerow(fields)
        writer.writerows(tuple("" if value is None else value for value in row) for row in table_rows)
    print(f"written: {output}")
