"""The report of `memory`: a table of accesses for each function, what it rests on, its gaps."""

from collections.abc import Iterator, Mapping, Sequence

from sassan.app import documents
from sassan.app.documents import address
from sassan.app.memory import AccessRow, MemoryResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import NONE, title
from sassan.cli.reports.gaps import list_gaps

_COLUMNS = (
    Column("address"),
    Column("line"),
    Column("instruction", widest=24),
    Column("space"),
    Column("pattern"),
    Column("trans.", number=True),
    Column("ideal", number=True),
    Column("exec.", number=True),
)


def show(results: Sequence[MemoryResult]) -> None:
    """Print the accesses of each function."""
    for place, result in enumerate(results):
        out(("\n" if place else "") + f"{title(result.function, result.analysis.settings.launch)}\n")
        if result.rows:
            lines = any(row.source is not None for row in result.rows)
            shown = [_cells(each) for each in result.rows]
            kept = [place for place, column in enumerate(_COLUMNS) if lines or column.title != "line"]
            table.show(Table(tuple(_COLUMNS[place] for place in kept), tuple(tuple(cells[place] for place in kept) for cells in shown)))
            for row in result.rows:
                if row.reason:
                    out(f"  {address(row.access.address)} {safe(row.reason)}\n")
        else:
            out("  accesses not known\n" if result.gaps else "  no access of memory\n")
    assumptions.show([text for result in results for text in result.assumptions], every=True)
    list_gaps([(result.function.name, result.gaps) for result in results])


def _cells(row: AccessRow) -> tuple[str, ...]:
    access, count = row.access, row.access.transactions
    transactions = NONE if count is None else str(count.most) if count.exact else f"<= {count.most}"
    line = f"{row.source.file.rpartition('/')[2]}:{row.source.line}" if row.source is not None else NONE
    return (
        address(access.address),
        line,
        access.opcode,
        access.space.value,
        access.pattern.value,
        transactions,
        NONE if access.ideal is None else str(access.ideal),
        NONE if row.executions is None else str(row.executions),
    )


HEADS = (
    *("name", "arch", "file", "address", "opcode", "space", "bytes", "pattern", "stride", "sectors", "passes", "ideal"),
    *("collisions", "executions", "exact", "base", "reason", "source"),
)
"""The columns of CSV."""


def flat(result: MemoryResult) -> Iterator[Mapping[str, documents.Value]]:
    """Yield the rows of CSV."""
    for each in result.rows:
        yield {**documents.head(result.analysis), **_document(each)}


def row(result: MemoryResult) -> Mapping[str, documents.Value]:
    """Return what the document says of one function."""
    return {
        **documents.head(result.analysis),
        "accesses": [_document(each) for each in result.rows],
        **documents.assumptions(result.assumptions),
        "gaps": documents.gaps(result.gaps),
    }


def _document(row: AccessRow) -> Mapping[str, documents.Value]:
    access = row.access
    return {
        "address": address(access.address),
        "opcode": access.opcode,
        "space": access.space.value,
        "bytes": access.bytes or None,
        "pattern": access.pattern.value,
        "stride": access.stride,
        "sectors": access.sectors.most if access.sectors is not None else None,
        "passes": access.passes.most if access.passes is not None else None,
        "ideal": access.ideal,
        "collisions": access.collisions,
        "executions": row.executions,
        "exact": access.exact,
        "base": access.base or None,
        "reason": row.reason or None,
        "source": {"file": row.source.file, "line": row.source.line} if row.source is not None else None,
    }
