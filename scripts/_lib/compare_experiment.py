"""PTX against the machine code that was compiled from it, over every architecture of a folder of samples.

Per kernel and architecture: branches that were matched, how many of them agree, where divergence or reconvergence differs, and what has no
match. The CSV has one line per kernel and architecture; with `details`, every difference is printed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from _lib.sample_tables import archs_of, each, write

from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.app.views import compare_functions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sassan.warpcfg.compare import Comparison


class Row(NamedTuple):
    """The counts of one kernel on one architecture."""

    kernel: str
    arch: str
    matched: int
    agree: int
    divergence_differs: int
    reconvergence_differs: int
    ptx_only: int
    sass_only: int


def run(folder: Path, output: Path | None, *, details: bool) -> int:
    """Print the sums per architecture, and write the CSV."""
    table_rows: list[Row] = []
    for kernel, arch, comparison in _compared(folder):
        table_rows.append(_row(kernel, arch, comparison))
        if details:
            _differences(kernel, arch, comparison)
    print("arch     kernels  matched  agree  divergence  reconvergence  PTX only  SASS only")
    for arch in archs_of(table_rows):
        counts = [row[2:] for row in table_rows if row.arch == arch]
        sums = [sum(column) for column in zip(*counts, strict=True)]
        print(f"{arch:8} {len(counts):7}  {sums[0]:7}  {sums[1]:5}  {sums[2]:10}  {sums[3]:13}  {sums[4]:8}  {sums[5]:9}")
    write(table_rows, Row._fields, output)
    return 0


def rows(folder: Path) -> Iterator[Row]:
    """Yield a row for every kernel with PTX and machine code in DIR/sm_NN."""
    return (_row(*compared) for compared in _compared(folder))


def _compared(folder: Path) -> Iterator[tuple[str, str, Comparison]]:
    settings = Settings()

    def of_file(ptx: Path) -> Iterator[tuple[str, str, Comparison]]:
        sass = ptx.with_name(f"{ptx.stem}.nvdisasm.sass")
        machine = {function.name: function for function in (read_program(str(sass)).functions if sass.exists() else ())}
        for function in read_program(str(ptx)).functions if machine else ():
            if function.name in machine:
                yield function.name, ptx.parent.name, compare_functions(function, machine[function.name], settings)

    return each(folder, "*.ptx", of_file)


def _row(kernel: str, arch: str, comparison: Comparison) -> Row:
    counts = Counter(_verdict(pair.same_divergence, pair.same_reconvergence) for pair in comparison.pairs)
    return Row(
        kernel,
        arch,
        len(comparison.pairs),
        counts["agree"],
        counts["divergence"],
        counts["reconvergence"],
        len(comparison.left_only),
        len(comparison.right_only),
    )


def _verdict(same_divergence: bool, same_reconvergence: bool | None) -> str:
    return "divergence" if not same_divergence else "reconvergence" if same_reconvergence is False else "agree"


def _differences(kernel: str, arch: str, comparison: Comparison) -> None:
    for pair in comparison.pairs:
        verdict = _verdict(pair.same_divergence, pair.same_reconvergence)
        if verdict != "agree":
            print(f"{arch} {kernel}: {verdict}: {pair.left.text} | 0x{pair.right.address:04x} {pair.right.text}")
    for side, alone in (("PTX only", comparison.left_only), ("SASS only", comparison.right_only)):
        for branch in alone:
            print(f"{arch} {kernel}: {side}: 0x{branch.address:04x} {branch.text}")
