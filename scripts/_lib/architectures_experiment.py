"""The same kernels over every architecture of a folder of samples: what the compilers make of them, in one table.

Per kernel and architecture: blocks of the warp-level CFG, divergent branches, reactivation edges, WCET under unit cost with one loop bound
for all loops; '-' where a gap forbids it, '' where the kernel is not there. The CSV has one line per kernel and architecture.
"""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from sassan import pipeline
from sassan.errors import SassanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class Row(NamedTuple):
    """One kernel on one architecture; `wcet` None: `gaps` say why."""

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
    settings = pipeline.Settings(loop_bound=loop_bound)
    for place in sorted(folder.glob("sm_*"), key=lambda path: int(path.name[3:])):
        for path in sorted(place.glob("*.nvdisasm.sass")):
            try:
                functions = pipeline.read(str(path)).functions
            except SassanError as error:
                print(f"{path.name}: {error.code}: {error.message}", file=sys.stderr)
                continue
            for function in functions:
                yield _row(pipeline.analyze(function, settings))


def _row(found: pipeline.Analysis) -> Row:
    codes = " ".join(sorted({gap.code for gap in found.gaps}))
    function = found.function
    return Row(
        function.name,
        function.arch,
        len(function.instructions),
        len(found.cfg.nodes),
        found.divergent_branches,
        found.reactivation_edges,
        None if codes else found.wcet.value,
        codes,
    )


def run(folder: Path, output: Path | None, loop_bound: int) -> int:
    """Print the table, and write the CSV."""
    found = list(rows(folder, loop_bound))
    archs = list(dict.fromkeys(row.arch for row in found))
    by_place = {(row.kernel, row.arch): row for row in found}
    table = Table("kernel", *archs, title=f"blocks / divergent branches / reactivation edges / WCET, loop bound {loop_bound}", box=None)
    for kernel in sorted({row.kernel for row in found}):
        table.add_row(kernel, *(_cell(by_place.get((kernel, arch))) for arch in archs))
    Console(width=40 + 24 * len(archs), markup=False).print(table)
    _summary(found, archs)
    if output is not None:
        _write(found, output)
        print(f"written: {output}")
    return 0


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.blocks} / {row.divergent} / {row.reactivations} / {'-' if row.wcet is None else row.wcet}"


def _summary(found: Iterable[Row], archs: Iterable[str]) -> None:
    for arch in archs:
        mine = [row for row in found if row.arch == arch]
        gapped = [row for row in mine if row.wcet is None]
        named = ", ".join(f"{row.kernel} ({row.gaps})" for row in gapped) or "none"
        print(f"{arch}: {len(mine)} functions, {len(mine) - len(gapped)} with a WCET; gaps: {named}")


def _write(found: Iterable[Row], output: Path) -> None:
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(tuple("" if value is None else value for value in row) for row in found)
