"""The tables of `analyze --explain`: where the WCET and the bound of the grid come from."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sassan.app.explain import Explanation, explain
from sassan.app.result import AnalysisResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out
from sassan.cli.reports.analysis import which
from sassan.fields.field import NONE
from sassan.fields.kinds import address
from sassan.ir import SourceLine

_ROWS = 8
"""Blocks, instructions and accesses that a table shows: the largest; --json has all."""
_PLACE = (Column("address"), Column("line"))


def show(results: Sequence[AnalysisResult]) -> None:
    """Print where the bounds of each function come from."""
    for result in results:
        known, wcet = explain(result), result.wcet.value
        if known is None or wcet is None:
            continue
        unit = result.quantity
        out(f"\nwhere the bounds of {label(result.function.name)}{which(result.settings.launch)} come from:\n\n")
        _table(unit, (Column("WCET"),), ((reason,) for reason, _ in known.reasons), [cycles for _, cycles in known.reasons], wcet)
        _table(
            unit,
            (*_PLACE, Column("count", number=True), Column("cost", number=True), Column("mostly")),
            ((*_place(block.address, block.source), str(block.count), str(block.cost), block.reason) for block in known.blocks[:_ROWS]),
            [block.cycles for block in known.blocks[:_ROWS]],
            wcet,
        )
        _table(
            unit,
            (*_PLACE, Column("instruction", widest=24), Column("reason")),
            ((*_place(part.address, part.source), part.opcode, part.reason) for part in known.instructions[:_ROWS]),
            [part.cycles for part in known.instructions[:_ROWS]],
            wcet,
        )
        _grid(unit, known)


def _grid(unit: str, known: Explanation) -> None:
    grid = sum((cycles for _, cycles in known.terms), Fraction(0))
    if not known.terms:
        return
    _table(unit, (Column("grid"),), ((name,) for name, _ in known.terms), [cycles for _, cycles in known.terms], grid)
    rows = [
        (*_place(access.address, access.source), access.opcode, str(access.executions), str(access.sectors))
        for access in known.accesses[:_ROWS]
    ]
    cycles = [access.cycles for access in known.accesses[:_ROWS]]
    if known.buffers:
        rows.append((NONE, NONE, "buffers, once each way", NONE, NONE))
        cycles.append(known.buffers)
    columns = (*_PLACE, Column("memory", widest=24), Column("per warp", number=True), Column("sectors", number=True))
    _table(unit, columns, rows, cycles, grid)


def _table(
    unit: str, columns: tuple[Column, ...], rows: Iterable[tuple[str, ...]], cycles: Sequence[int | Fraction], whole: int | Fraction
) -> None:
    """Print rows behind their cycles (or instructions: the `unit`) and the share of the whole; nothing where there are none."""
    if not cycles:
        return
    numbers = [(f"{float(each):.0f}", f"{float(each / whole):.1%}" if whole else NONE) for each in cycles]
    table.show(
        Table(
            (Column(unit, number=True), Column("share", number=True), *columns),
            tuple((*pair, *row) for pair, row in zip(numbers, rows, strict=True)),
        )
    )
    out("\n")


def _place(at: int, source: SourceLine | None) -> tuple[str, str]:
    return address(at), f"{source.file.rpartition('/')[2]}:{source.line}" if source is not None else NONE
