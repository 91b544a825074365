"""What `sassan blocks` says: a table per function, its most expensive blocks first where a worst path is known."""

from collections.abc import Sequence

from sassan.app import block_table
from sassan.app.block_table import BlockRow
from sassan.app.documents import address
from sassan.app.result import AnalysisResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out
from sassan.cli.reports.analysis import NONE, title
from sassan.cli.reports.gaps import list_gaps

_COLUMNS = (
    Column("address"),
    Column("line"),
    Column("instr", number=True),
    Column("cost", number=True),
    Column("executions", number=True),
    Column("share", number=True),
    Column("string"),
)


def show(results: Sequence[AnalysisResult]) -> None:
    """Print the blocks of every function, then the gaps."""
    for result in results:
        bound = f"WCET {result.wcet.value}" if result.wcet.bound and result.wcet.value is not None else "no WCET"
        out(f"{title(result.function, result.settings.launch)}: {bound}, model {result.wcet.model}\n")
        rows = sorted(block_table.rows(result), key=lambda row: -(row.share or 0.0))
        table.show(Table(_COLUMNS, tuple(map(_cells, rows))))
        out("\n")
    list_gaps([(result.function.name, result.gaps) for result in results])


def _cells(row: BlockRow) -> tuple[str, ...]:
    line = f"{row.source.file.rpartition('/')[2]}:{row.source.line}" if row.source is not None else NONE
    share = NONE if row.share is None else f"{row.share:.1%}"
    return (address(row.start), line, str(row.instructions), _number(row.cost), _number(row.executions), share, row.string or "?")


def _number(value: int | None) -> str:
    return NONE if value is None else str(value)
