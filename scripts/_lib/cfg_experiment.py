"""The evaluation of Jeanmougin et al. 2023 (section 4) on a folder of dumps.

Section 4.1: how many kernels get a graph and a WCET, divergence arcs per kernel, build times, beside the paper's figures.
Section 4.2: how many WCETs grow tenfold or more when a part of the abstract domain is switched off, under three systems: the paper's own
(its experiment, no bound), sassan's without the rows on pushed sides and on threads, and sassan's. A WCET that is lost altogether (a system
without an optimum, or a gap) counts as grown. The CSV has one line per kernel.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, field
from itertools import islice
from statistics import quantiles
from time import perf_counter
from typing import TYPE_CHECKING

from _lib.written import written

from sassan import frontend
from sassan.errors import SassanError
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.rows import NO_ARRIVAL_ROWS, NO_PUSH_ROWS, NO_THREAD_ROWS
from sassan.ipet.wcet import Setup, problem, wcet
from sassan.isa import tables
from sassan.timing import UnitCostModel
from sassan.warpcfg import Options, explore
from sassan.warpcfg.graph import EdgeKind, WarpCfg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sassan.ir import Function

ABLATIONS = ("acyclic-stack", "no-groups", "no-agreement", "active-only")
PAPER = {"acyclic-stack": "25 %", "no-groups": "15 %", "no-agreement": "52 %", "active-only": "37 %"}
SYSTEMS = {
    "paper": Setup(paper=True, time_limit=60),
    "no-new-rows": Setup(without=frozenset({NO_PUSH_ROWS, NO_ARRIVAL_ROWS, NO_THREAD_ROWS}), time_limit=60),
    "push-rows": Setup(without=frozenset({NO_ARRIVAL_ROWS, NO_THREAD_ROWS}), time_limit=60),
    "all-rows": Setup(time_limit=60),
}
SEVERE = 10


@dataclass
class Kernel:
    """The figures of one kernel: `values[system, ablation]` is a WCET or None, ablation '' is the whole domain."""

    file: str
    name: str
    instructions: int
    blocks: int
    arcs: int
    milliseconds: float
    gaps: str
    values: dict[tuple[str, str], int | None] = field(default_factory=dict[tuple[str, str], int | None])


def functions(folder: Path) -> Iterator[tuple[str, Function]]:
    """Yield every function of every dump under a folder; refused files are reported.

    Of several dumps of one kernel the one of nvdisasm is taken: it shows jump tables and calls between sections.
    """
    taken: set[Path] = set()
    for kind in (".nvdisasm.sass", ".cuobjdump.sass", ".nvdisasm-hex.sass", ".sass", ".txt"):
        for path in sorted(file for file in folder.rglob(f"*{kind}") if file.is_file()):
            stem = path.with_name(path.name.split(".")[0])
            if stem in taken:
                continue
            taken.add(stem)
            yield from _read(path)


def _read(path: Path) -> Iterator[tuple[str, Function]]:
    try:
        for function in frontend.read(frontend.load(str(path))).functions:
            yield path.name, function
    except SassanError as error:
        print(f"{path.name}: {error.code}: {error.message}", file=sys.stderr)


def graph(function: Function, ablation: str) -> WarpCfg | None:
    """Return the graph of a function with a part of the domain switched off ('': none), or None if that fails."""
    try:
        return explore(function, tables.load(function.arch).facts, Options(ablate=frozenset({ablation} - {""})))
    except SassanError as error:
        print(f"{function.name} {ablation}: {error.code}: {error.message}", file=sys.stderr)
        return None


def value(cfg: WarpCfg | None, setup: Setup, bound: int) -> int | None:
    """Return the WCET of a graph under one system, or None."""
    if cfg is None:
        return None
    try:
        return wcet(problem(cfg, UnitCostModel(), bounds_of(cfg, None, bound), setup)).value
    except SassanError as error:
        print(f"{cfg.function.name}: {error.code}: {error.message}", file=sys.stderr)
        return None


def measured(file: str, function: Function, bound: int) -> Kernel | None:
    """Return all figures of one function."""
    start = perf_counter()
    whole = graph(function, "")
    took = 1000 * (perf_counter() - start)
    if whole is None:
        return None
    arcs = sum(edge.kind is EdgeKind.DIVERGE for edge in whole.edges)
    gaps = " ".join(sorted({gap.code for gap in whole.gaps}))
    kernel = Kernel(file, function.name, len(function.instructions), len(whole.nodes), arcs, took, gaps)
    for ablation in ("", *ABLATIONS):
        cfg = whole if not ablation else graph(function, ablation)
        for system, setup in SYSTEMS.items():
            kernel.values[system, ablation] = None if whole.gaps else value(cfg, setup, bound)
    return kernel


def severe(kernels: list[Kernel], system: str, ablation: str) -> str:
    """Return the share of kernels whose WCET grows tenfold, or is lost, without a part of the domain."""
    known = [(kernel.values[system, ""], kernel.values[system, ablation]) for kernel in kernels]
    known = [pair for pair in known if pair[0] is not None]
    grown = sum(after is None or after >= SEVERE * before for before, after in known if before is not None)
    return f"{100 * grown / len(known):.0f} % of {len(known)}" if known else "-"


def report(kernels: list[Kernel]) -> None:
    """Print the tables of sections 4.1 and 4.2."""
    bounded = sum(kernel.values["all-rows", ""] is not None for kernel in kernels)
    few = sum(kernel.arcs <= 4 for kernel in kernels)  # noqa: PLR2004  # the paper's "4 or less"
    times = sorted(kernel.milliseconds for kernel in kernels)
    third = quantiles(times, n=4)[2] if len(times) > 1 else times[0]
    print(f"{'':38}{'paper':>22}{'here':>22}")
    print(f"{'kernels with a graph and a WCET':38}{'37 of 57':>22}{f'{bounded} of {len(kernels)}':>22}")
    print(f"{'with at most 4 divergence arcs':38}{'34 of 37':>22}{f'{few} of {len(kernels)}':>22}")
    most = sorted((kernel.arcs for kernel in kernels), reverse=True)[:3]
    print(f"{'most divergence arcs':38}{'39, 19, 12':>22}{', '.join(map(str, most)):>22}")
    print(f"{'graph built in: 75 % below':38}{'90 ms':>22}{f'{third:.1f} ms':>22}")
    print(f"{'graph built in: longest':38}{'1300 ms':>22}{f'{times[-1]:.0f} ms':>22}")
    print()
    print(f"{'WCET 10 times larger without':24}{'paper says':>12}" + "".join(f"{system:>16}" for system in SYSTEMS))
    for ablation in ABLATIONS:
        print(f"{ablation:24}{PAPER[ablation]:>12}" + "".join(f"{severe(kernels, system, ablation):>16}" for system in SYSTEMS))
    lost = {system: sum(kernel.values[system, ""] is None and not kernel.gaps for kernel in kernels) for system in SYSTEMS}
    print(f"{'no optimum, whole domain':24}{'':12}" + "".join(f"{count:>16}" for count in lost.values()))


KEYS = tuple((system, ablation) for system in SYSTEMS for ablation in ("", *ABLATIONS))


def row(kernel: Kernel) -> list[object]:
    """Return the line of a kernel in the CSV."""
    values = ("" if kernel.values[key] is None else kernel.values[key] for key in KEYS)
    return [kernel.file, kernel.name, kernel.instructions, kernel.blocks, kernel.arcs, kernel.gaps, *values]


def write(kernels: list[Kernel], path: Path) -> None:
    """Write one line per kernel."""
    with written(path) as out:
        table = csv.writer(out)
        names = (f"{system}:{ablation or 'whole'}" for system, ablation in KEYS)
        table.writerow(["file", "function", "instructions", "blocks", "arcs", "gaps", *names])
        table.writerows(map(row, kernels))


def run(folder: Path, output: Path | None, loop_bound: int, every: int = 1) -> int:
    """Measure the kernels under a folder, all or one of `every` so many, print the tables, write the CSV."""
    chosen = islice(functions(folder), 0, None, every)
    measurements = (measured(file, function, loop_bound) for file, function in chosen)
    kernels = [kernel for kernel in measurements if kernel is not None]
    if not kernels:
        print(f"no function to analyze under {folder}", file=sys.stderr)
        return 3
    report(kernels)
    if output is not None:
        write(kernels, output)
    return 0
