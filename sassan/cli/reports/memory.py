"""The report of `memory`: a table of accesses for each function, what it rests on, its gaps."""

from collections.abc import Sequence

from sassan.app.memory import MemoryResult
from sassan.app.memory_fields import AccessFields
from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps
from sassan.fields.kinds import address


def show(results: Sequence[MemoryResult]) -> None:
    """Print the accesses of each function."""
    for place, result in enumerate(results):
        out(("\n" if place else "") + f"{title(result.function, result.analysis.settings.launch)}\n")
        if result.rows:
            table.show(table.of_fields(AccessFields, result.rows))
            for each in result.rows:
                if each.reason:
                    out(f"  {address(each.access.address)} {safe(each.reason)}\n")
        else:
            out("  accesses not known\n" if result.gaps else "  no access of memory\n")
    assumptions.show([text for result in results for text in result.assumptions], every=True)
    list_gaps([(result.function.name, result.gaps) for result in results])
