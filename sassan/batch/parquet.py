"""The results of a batch as a Parquet table: a row for each line, its numbers in columns, for DuckDB, pandas or Polars.

A Parquet file ends with its index, so that it cannot grow by lines: it is made of the file of results when the batch is done, and holds
what the table of a library asks for. Everything else of a function stays in its line, which `file`, `sha256` and `function` find.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sassan import files
from sassan.errors import MissingToolError, UsageError, is_full, no_space
from sassan.extras import install

_ROWS = 10_000
"""Rows that are in memory at once."""
_TEXTS = ("file", "name", "demangled", "arch")
_COUNTS = ("instructions", "blocks", "edges", "registers", "divergent_branches", "reactivation_edges")
_INPUT = {"sha256": "string", "function": "int64", "functions": "int64"}
_COLUMNS: dict[str, str] = {
    **dict.fromkeys(_TEXTS, "string"),
    **_INPUT,
    **dict.fromkeys(_COUNTS, "int64"),
    "wcet": "double",
    "wcet_status": "string",
    "model": "string",
    "makespan_lower": "double",
    "makespan_upper": "double",
    "warps": "int64",
    "grid_upper": "double",
    "grid_us": "double",
    "loops": "int64",
    "unbounded_loops": "int64",
    "gaps": "list<string>",
    "worst_path": "string",
    "error": "string",
    "message": "string",
}
"""Names and types of the columns, in their order."""


def check() -> None:
    """Raise MissingToolError `pyarrow-missing` where no Parquet file can be written."""
    _pyarrow()


def write(results: Path, table: Path) -> int:
    """Write the lines of a file of results as a Parquet table, whole or not at all, and return how many rows it has.

    Raises UsageError `cannot-write`, StorageError `no-space`, MissingToolError `pyarrow-missing`.
    """
    arrow = _pyarrow()
    schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in _COLUMNS.items()])
    count = 0

    def into(file: BinaryIO) -> None:
        nonlocal count
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        rows = _rows(results)
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            while part := list(islice(rows, _ROWS)):
                writer.write_table(arrow.Table.from_pylist(part, schema=schema))
                count += len(part)

    try:
        files.write(table, into)
    except OSError as error:
        if is_full(error):
            raise no_space(f"'{table}'", error) from None
        raise UsageError("cannot-write", f"cannot write '{table}': {error.strerror or error}") from None
    return count


def _pyarrow() -> Any:  # noqa: ANN401 - a library without types
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingToolError("pyarrow-missing", "pyarrow, which writes Parquet, is not installed", hint=install("parquet")) from error
    return pa


def _type(arrow: Any, kind: str) -> object:  # noqa: ANN401 - a library without types
    """Return a type of pyarrow."""
    return arrow.list_(arrow.string()) if kind == "list<string>" else getattr(arrow, "float64" if kind == "double" else kind)()


def _rows(results: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each line but the first, which tells the settings."""
    with results.open("rb") as lines:
        next(lines, None)
        for line in lines:
            yield row(json.loads(line))


def row(line: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a line of results; what it does not say is None."""
    wcet, makespan, grid, error = ({**(line.get(key) or {})} for key in ("wcet", "makespan", "grid", "error"))
    loops, gaps = line.get("loops"), line.get("gaps")
    return {
        **{name: line.get(name) for name in (*_TEXTS, *_COUNTS)},
        **{name: line.get("input", {}).get(name) for name in _INPUT},
        "wcet": wcet.get("value"),
        "wcet_status": wcet.get("status"),
        "model": line.get("settings", {}).get("model"),
        "makespan_lower": makespan.get("lower"),
        "makespan_upper": makespan.get("upper"),
        "warps": makespan.get("warps"),
        "grid_upper": grid.get("upper"),
        "grid_us": grid.get("us"),
        "loops": None if loops is None else len(loops),
        "unbounded_loops": None if loops is None else sum(loop.get("bound") is None for loop in loops),
        "gaps": None if gaps is None else sorted({gap["code"] for gap in gaps}),
        "worst_path": line.get("strings", {}).get("worst_path"),
        "error": error.get("code"),
        "message": error.get("message"),
    }
