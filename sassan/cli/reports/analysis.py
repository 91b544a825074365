"""The report of `analyze` and `ipet`: a table of numbers, the worst paths, the assumptions, the gaps."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sassan.app.analysis_fields import AnalysisFields
from sassan.app.result import AnalysisResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import cut, heading, label, out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.fields.field import NONE
from sassan.fields.kinds import extents
from sassan.ir import Function
from sassan.machine.launch import LaunchConfiguration
from sassan.timing import Quantity

NAME = Column("function", widest=24, names=True)
_WIDEST_LAUNCH = 120


def title(function: Function, launch: LaunchConfiguration, more: str = "") -> str:
    """Return the head of what is printed of a function: its name and architecture, and of one of several launches which it is."""
    return f"{heading(function.name)} ({function.arch}{more}){which(launch)}"


def which(launch: LaunchConfiguration) -> str:
    """Return what tells one of several launches from the others, with a comma; '' of another one."""
    return f", {cut(str(launch), _WIDEST_LAUNCH)}" if launch.recorded else ""


def show(results: Sequence[AnalysisResult], *, every: bool = False) -> None:
    """Print the report of `analyze`; `every`: all assumptions."""
    if not results:
        return
    _numbers(results)
    of_launches(results)
    paths(results)
    assumptions.of_results(results, every=every)
    gaps(results)


def _numbers(results: Sequence[AnalysisResult]) -> None:
    warps = sorted({result.makespan.residents.warps for result in results if result.makespan})
    grids = any(result.makespan.grid for result in results if result.makespan)
    # A bound of a grid is none on a GPU whose memory is the bottleneck: it is never printed without that.
    unlimited = grids and all(result.settings.gpu is None and result.quantity is Quantity.CYCLES for result in results)
    known = (("full SM", bool(warps)), ("grid", grids), ("the grid has", unlimited))
    shown = table.of_fields(
        AnalysisFields,
        results,
        without=[head for head, present in known if not present],
        heads={
            "WCET": "WCET" if all(result.wcet.bound for result in results) else "(not a bound)",
            "full SM": f"{warps[0]} warps" if len(warps) == 1 else "full SM",
        },
    )
    columns, rows = list(shown.columns), list(shown.rows)
    if any(result.settings.launch.recorded for result in results):
        columns[1:1] = [Column("grid"), Column("block")]
        rows = [
            (row[0], *(extents(each) if each else NONE for each in (result.settings.launch.grid, result.settings.launch.block)), *row[1:])
            for row, result in zip(rows, results, strict=True)
        ]
    table.show(Table(tuple(columns), tuple(rows)))


def of_launches(results: Sequence[AnalysisResult]) -> None:
    """Print how many warps are resident, and the bound in the partition model, where they were asked for."""
    rows = [(result, text) for result in results for text in _launch(result)]
    if rows:
        _section("launch:")
    for result, text in rows:
        out(f"  {label(result.function.name, 30)}{which(result.settings.launch)}: {safe(text)}\n")


def _launch(analysis: AnalysisResult) -> Iterator[str]:
    makespan, residency = analysis.makespan, analysis.residency
    known = residency.occupancy if residency is not None else None
    if known is not None:
        limited = ", ".join(known.limited_by)
        yield f"{known.blocks} blocks of {known.block_warps} warps on an SM (limited by {limited})"
    elif residency is not None:
        yield f"occupancy not known: {residency.why}"
    scheduled = analysis.scheduled
    if scheduled is not None and scheduled.cycles is not None and makespan is not None and makespan.bound.value is not None:
        ratio = makespan.bound.value / max(scheduled.cycles, 1)
        yield f"a schedule takes {scheduled.cycles} cycles ({scheduled.rule}), no path more than {makespan.bound.value}: {ratio:.2f} times"
    elif scheduled is not None:
        yield f"no schedule: {scheduled.why}"
    if makespan is not None and makespan.partition is not None:
        yield f"partition model: {NONE if makespan.partition.value is None else makespan.partition.value}"


def paths(results: Sequence[AnalysisResult]) -> None:
    """Print the string of each worst path, or why there is none."""
    columns = (NAME, Column("worst path, or gaps"))
    rows = tuple((result.function.name, str(result.worst_path or _codes(result))) for result in results)
    _section()
    table.show(Table(columns, rows))


def _codes(analysis: AnalysisResult) -> str:
    if not analysis.gaps:
        return f"({analysis.wcet.note or analysis.wcet.status})"
    count = Counter(gap.code for gap in analysis.gaps)
    return "gaps: " + ", ".join(f"{number} {code}" for code, number in sorted(count.items()))


def gaps(results: Sequence[AnalysisResult]) -> None:
    """Print the gaps of results by cause."""
    list_gaps([(result.function.name, result.gaps) for result in results])


def _section(title: str = "") -> None:
    out("\n" + (f"{title}\n" if title else ""))
