"""Every figure of Berezovskyi et al. 2011 and 2013 that shows a result, and the counterexamples to their bounds."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from _lib import makespan_curves, makespan_schedules
from _lib.makespan_cases import Case

from sassan.makespan.engines import load
from sassan.makespan.program.build import Form
from sassan.makespan.program.engine import Ilp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

FIGURE_5 = Case("LLCLL", 6)
FIGURE_6 = Case("LLCLL", 600)
FIGURE_7 = Case("LCLCL", 420, "L=1/2,C=1")
FIGURE_5_WARPS, FIGURE_6_WARPS, FIGURE_7_WARPS = 6, 80, 40
PARTS = {
    "schedules": "schedules: 2011 Figure 2, 2013 Figures 2 to 7",
    "counterexamples": "counterexamples",
    "figure-5": "2011 Figure 5",
    "figure-6": "2011 Figure 6",
    "figure-7": "2011 Figure 7",
    "figure-12": "2013 Figure 12",
}
"""The figures that may be made by themselves, with their titles."""


def run(folder: Path, seconds: float, only: Collection[str] = ()) -> int:
    """Write the figures of `only` (of PARTS; all for none) into a folder; exit status 1 where a counterexample could not be repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    exact, every = load("exact"), load("all")
    missing: list[str] = []
    steps: Mapping[str, Callable[[], object]] = {
        "schedules": lambda: makespan_schedules.figures(folder, exact),
        "counterexamples": lambda: missing.extend(makespan_schedules.counterexamples(folder, every, seconds)),
        "figure-5": lambda: makespan_curves.row_forms(folder, FIGURE_5, FIGURE_5_WARPS, seconds, lambda kind: Ilp(Form(kind))),
        "figure-6": lambda: _convergence(folder, "2011-figure-6", FIGURE_6, FIGURE_6_WARPS, seconds),
        "figure-7": lambda: _convergence(folder, "2011-figure-7", FIGURE_7, FIGURE_7_WARPS, seconds),
        "figure-12": lambda: makespan_curves.annealing(folder, seconds),
    }
    for name, work in steps.items():
        if not only or name in only:
            _step(PARTS[name], work)
    for line in missing:
        print(f"not repeated: {line}", file=sys.stderr)
    print(f"pictures and tables are in {folder}")
    return 1 if missing else 0


def _convergence(folder: Path, name: str, case: Case, most: int, seconds: float) -> None:
    values = makespan_curves.exact_values(case, most, seconds)
    makespan_curves.convergence(folder / name, case, values, most=most, seconds=seconds)


def _step(title: str, work: Callable[[], object]) -> None:
    begin = time.monotonic()
    print(f"{title} …", flush=True)
    work()
    print(f"  {time.monotonic() - begin:.1f} s")
