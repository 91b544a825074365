"""What `sassan blocks` says: a table per function, its most expensive blocks first where a worst path is known."""

from collections.abc import Sequence

from sassan.app import block_table
from sassan.app.block_table import BlockFields
from sassan.app.result import AnalysisResult
from sassan.cli.output import table
from sassan.cli.output.terminal import out
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps


def show(results: Sequence[AnalysisResult]) -> None:
    """Print the blocks of every function, then the gaps."""
    for result in results:
        bound = f"WCET {result.wcet.value}" if result.wcet.bound and result.wcet.value is not None else "no WCET"
        out(f"{title(result.function, result.settings.launch)}: {bound}, model {result.wcet.model}\n")
        rows = sorted(block_table.rows(result), key=lambda row: -(row.share or 0.0))
        table.show(table.of_fields(BlockFields, rows))
        out("\n")
    list_gaps([(result.function.name, result.gaps) for result in results])
