"""The same kernels on every architecture of a folder of samples: the results of the compilers, in one table.

Per kernel and architecture: blocks of the warp-level CFG, divergent branches, reactivation edges, WCET under unit cost with one loop bound
for all loops; '-' where a gap forbids it, '' where the kernel is not there. The CSV has one line per kernel and architecture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from _lib.sample_tables import archs_of, each, show, write

from sassan.app.analysis import analyze
from sassan.app.reading import read_program
from sassan.app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sassan.app.result import AnalysisResult


class Row(NamedTuple):
    """A kernel on an architecture; if `wcet` is None, `gaps` has the reasons."""

    kernel: str
    arch: str
    instructions: int
    blocks: int
    divergent: int
    reactivations: int
    wcet: int | None
    gaps: str


def rows(folder: Path, loop_bound: int) -> Iterator[Row]:
    """Yield a row for every function of every nvdisasm listing in DIR/sm_NN; a file that is refused is named."""
    settings = Settings(loop_bound=loop_bound)

    def analyzed(path: Path) -> Iterator[Row]:
        return (_row(analyze(function, settings)) for function in read_program(str(path)).functions)

    return each(folder, "*.nvdisasm.sass", analyzed)


def _row(result: AnalysisResult) -> Row:
    codes = " ".join(sorted({gap.code for gap in result.gaps}))
    function = result.function
    return Row(
        function.name,
        function.arch,
        len(function.instructions),
        len(result.cfg.nodes),
        result.divergent_branches,
        result.reactivation_edges,
        None if codes else result.wcet.value,
        codes,
    )


def run(folder: Path, output: Path | None, loop_bound: int) -> int:
    """Print the table, and write the CSV."""
    table_rows = list(rows(folder, loop_bound))
    show(f"blocks / divergent branches / reactivation edges / WCET, loop bound {loop_bound}", table_rows, _cell, 24)
    _summary(table_rows, archs_of(table_rows))
    write(table_rows, Row._fields, output)
    return 0


def _cell(row: Row) -> str:
    return f"{row.blocks} / {row.divergent} / {row.reactivations} / {'-' if row.wcet is None else row.wcet}"


def _summary(table_rows: Iterable[Row], archs: Iterable[str]) -> None:
    for arch in archs:
        own_rows = [row for row in table_rows if row.arch == arch]
        gapped = [row for row in own_rows if row.wcet is None]
        named = ", ".join(f"{row.kernel} ({row.gaps})" for row in gapped) or "none"
        print(f"{arch}: {len(own_rows)} functions, {len(own_rows) - len(gapped)} with a WCET; gaps: {named}")
