"""Tables: rich on a terminal, plain aligned text elsewhere; both carry the same cells."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sassan.cli.output.terminal import colourful, cut, is_terminal, label, labels, out, safe, width
from sassan.fields.field import NONE, Record, cells, titles
from sassan.fields.kinds import NAME
from sassan.names import middle

S = TypeVar("S")
_GAP = 2
_LAST = 20
"""Characters that the last column has at least."""
_NAME = 12
"""Characters that a name has at least."""
_NOTHING = ("", "-")
"""Cells that say nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, whether its cells are numbers (they stand to the right), and the width that they are cut to; 0 is not a limit.

    The cells of a column with `tone` are coloured by the style that it returns for them, '' for none; those of a column of `names` are
    shown demangled, as `label` spells them. No cell is cut that fits the terminal.
    """

    title: str
    number: bool = False
    widest: int = 0
    tone: Callable[[str], str] | None = None
    names: bool = False
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a column of names, how each is shown in its width; the others are called by `label`."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose last column gets what is left of the terminal's width, or its own; cells are untrusted text.

    A terminal that is too narrow gets it without the columns that say nothing, with shorter names, or else as a list: no number is cut.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def of_fields(
    record: type[Record[S]], subjects: Sequence[S], *, without: Collection[str] = (), heads: Mapping[str, str] | None = None
) -> Table:
    """Return a table with the columns that the fields of a record declare, but those `without`; `heads` has other names of some."""
    by_head = {each.head: each for _, each in record.columns}
    known = [cells(record, subject) for subject in subjects]
    empty = [head for head, each in by_head.items() if each.sparse and all(row[head] == NONE for row in known)]
    kept = [by_head[head] for head in titles(record) if head not in without and head not in empty]
    columns = tuple(
        Column((heads or {}).get(each.head, each.head), number=each.kind.number, widest=each.widest, names=each.kind is NAME)
        for each in kept
    )
    return Table(columns, tuple(tuple(row[each.head] for each in kept) for row in known))


def show(table: Table) -> None:
    """Print a table; nothing in its cells can steer the terminal."""
    table = replace(table, columns=_distinct(table, table.columns))
    if is_terminal(sys.stdout) and _needed(table) > width():
        table = _with_short_names(_without_empty(table))
        if _needed(table) > width():
            out(_list(table))
            return
    columns = _distinct(table, _widened(table))
    rows = [tuple(_cell(column, text) for column, text in zip(columns, row, strict=True)) for row in table.rows]
    widths = [max(len(column.title), *(len(row[k]) for row in rows), 0) for k, column in enumerate(table.columns)]
    rest = max(width() - sum(widths[:-1]) - _GAP * (len(widths) - 1), len(table.columns[-1].title), table.columns[-1].widest, _LAST)
    rows = [(*row[:-1], cut(row[-1], rest)) for row in rows]
    widths[-1] = min(widths[-1], rest)
    if colourful(sys.stdout):
        _styled(table.columns, rows)
    else:
        out(_plain(table.columns, rows, widths))


def _needed(table: Table) -> int:
    """Return the least width of a table in which no cell is cut further than its column says; the last one may be cut to a few words."""
    columns = table.columns
    widths = [max(len(column.title), *(len(_cell(column, row[k])) for row in table.rows), 0) for k, column in enumerate(columns)]
    last = widths[-1] if columns[-1].number else min(widths[-1], max(len(columns[-1].title), _LAST))
    return sum(widths[:-1]) + last + _GAP * (len(widths) - 1)


def _without_empty(table: Table) -> Table:
    """Return the table without the columns that say nothing in any row."""
    kept = [k for k in range(len(table.columns)) if not k or any(row[k] not in _NOTHING for row in table.rows)]
    return Table(tuple(table.columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in table.rows))


def _with_short_names(table: Table) -> Table:
    """Return the table with a first column of names that is as much narrower as the terminal needs, and as names can stand."""
    first, *rest = table.columns
    if not first.names:
        return table
    shown = max((len(_cell(first, row[0])) for row in table.rows), default=0)
    widest = max(shown - max(_needed(table) - width(), 0), len(first.title), _NAME)
    columns = (replace(first, widest=min(widest, shown)), *rest)
    return replace(table, columns=_distinct(table, columns)) if widest < shown else table


def _list(table: Table) -> str:
    """Return the rows one below the other: the first cell, then a line for each other that says something."""
    first, *rest = table.columns
    size = max((len(column.title) for column in rest), default=0)
    lines: list[str] = []
    for row in table.rows:
        lines.append(_cell(replace(first, widest=0, shown={}), row[0]))
        for column, text in zip(rest, row[1:], strict=True):
            if text not in _NOTHING:
                lines.append(f"  {column.title.ljust(size)}  {_cell(replace(column, widest=0, shown={}), text)}")
    return "".join(f"{line}\n" for line in lines)


def _widened(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table, those that cut their cells as wide as the terminal allows."""
    widths = [max([len(column.title), *(len(_cell(column, row[k])) for row in table.rows)]) for k, column in enumerate(table.columns)]
    free = width() - sum(widths) - _GAP * (len(widths) - 1)
    columns: list[Column] = []
    for k, column in enumerate(table.columns):
        whole = max((len(_cell(replace(column, widest=0, shown={}), row[k])) for row in table.rows), default=0)
        more = min(max(whole - column.widest, 0), max(free, 0)) if column.widest else 0
        free -= more
        columns.append(replace(column, widest=column.widest + more, shown={}))
    return tuple(columns)


def _distinct(table: Table, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return columns in which different names are shown by different texts."""
    return tuple(
        replace(column, shown=labels(dict.fromkeys(row[k] for row in table.rows), column.widest)) if column.names else column
        for k, column in enumerate(columns)
    )


def _cell(column: Column, text: str) -> str:
    if column.names:
        return column.shown.get(text) or label(text, column.widest)
    plain = safe(text)
    return middle(plain, column.widest) if column.widest else plain


def _plain(columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    lines = [[column.title for column in columns], *rows]
    return "".join(_line(columns, widths, line) + "\n" for line in lines)


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str]) -> str:
    padded = (text.rjust(size) if column.number else text.ljust(size) for column, size, text in zip(columns, widths, cells, strict=True))
    return (" " * _GAP).join(padded).rstrip()


def _styled(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - for a terminal only
    from rich.table import Table as Styled  # noqa: PLC0415 - for a terminal only
    from rich.text import Text  # noqa: PLC0415 - for a terminal only

    styled = Styled(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for k, column in enumerate(columns):
        styled.add_column(column.title, justify="right" if column.number else "left", no_wrap=True, style="cyan" if k == 0 else None)
    for row in rows:
        styled.add_row(*(Text(cell, style=column.tone(cell) if column.tone else "") for column, cell in zip(columns, row, strict=True)))
    console = Console(width=max(width(), 40))
    with console.capture() as captured:
        console.print(styled)
    out(captured.get())
