"""The tables of `analyze --explain`: where the WCET and the bound of the grid come from."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sassan.app.explain import AccessPartFields, BlockPartFields, Explanation, InstructionPartFields, ReasonFields, TermFields, explain
from sassan.app.result import AnalysisResult
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out
from sassan.cli.reports.analysis import which
from sassan.fields.field import NONE

_ROWS = 8
"""Blocks, instructions and accesses that a table shows: the largest; --json has all."""


def show(results: Sequence[AnalysisResult]) -> None:
    """Print where the bounds of each function come from."""
    for result in results:
        known, wcet = explain(result), result.wcet.value
        if known is None or wcet is None:
            continue
        unit = result.quantity
        out(f"\nwhere the bounds of {label(result.function.name)}{which(result.settings.launch)} come from:\n\n")
        blocks, instructions = known.blocks[:_ROWS], known.instructions[:_ROWS]
        _table(unit, table.of_fields(ReasonFields, known.reasons), [cycles for _, cycles in known.reasons], wcet)
        _table(unit, table.of_fields(BlockPartFields, blocks), [block.cycles for block in blocks], wcet)
        _table(unit, table.of_fields(InstructionPartFields, instructions), [part.cycles for part in instructions], wcet)
        _grid(unit, known)


def _grid(unit: str, known: Explanation) -> None:
    grid = sum((cycles for _, cycles in known.terms), Fraction(0))
    if not known.terms:
        return
    _table(unit, table.of_fields(TermFields, known.terms), [cycles for _, cycles in known.terms], grid)
    accesses = known.accesses[:_ROWS]
    shown = table.of_fields(AccessPartFields, accesses, heads={"instruction": "memory"})
    cycles = [access.cycles for access in accesses]
    if known.buffers:
        shown = replace(shown, rows=(*shown.rows, (NONE, NONE, "buffers, once each way", NONE, NONE)))
        cycles.append(known.buffers)
    _table(unit, shown, cycles, grid)


def _table(unit: str, shown: Table, cycles: Sequence[int | Fraction], whole: int | Fraction) -> None:
    """Print rows behind their cycles (or instructions: the `unit`) and the share of the whole; nothing where there are none."""
    if not cycles:
        return
    numbers = [(f"{float(each):.0f}", f"{float(each / whole):.1%}" if whole else NONE) for each in cycles]
    table.show(
        Table(
            (Column(unit, number=True), Column("share", number=True), *shown.columns),
            tuple((*pair, *row) for pair, row in zip(numbers, shown.rows, strict=True)),
        )
    )
    out("\n")
