"""Every figure of the 2011 and 2013 papers that shows a result, and the counterexamples to their bounds."""

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
    from collections.abc import Callable
    from pathlib import Path

FIGURE_5 = Case("LLCLL", 6)
FIGURE_6 = Case("LLCLL", 600)
FIGURE_7 = Case("LCLCL", 420, "L=1/2,C=1")
FIGURE_5_WARPS, FIGURE_6_WARPS, FIGURE_7_WARPS = 6, 80, 40


def run(folder: Path, seconds: float) -> int:
    """Write all figures into a folder; exit status 1 where a counterexample could not be repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    exact, every = load("exact"), load("all")
    _step("schedules: 2011 Figure 2, 2013 Figures 2 to 7", lambda: makespan_schedules.figures(folder, exact))
    missing: list[str] = []
    _step("counterexamples", lambda: missing.extend(makespan_schedules.counterexamples(folder, every, seconds)))
    _step("2011 Figure 5", lambda: makespan_curves.row_forms(folder, FIGURE_5, FIGURE_5_WARPS, seconds, lambda kind: Ilp(Form(kind))))
    _step("2011 Figure 6", lambda: _convergence(folder, "2011-figure-6", FIGURE_6, FIGURE_6_WARPS, seconds))
    _step("2011 Figure 7", lambda: _convergence(folder, "2011-figure-7", FIGURE_7, FIGURE_7_WARPS, seconds))
    _step("2013 Figure 12", lambda: makespan_curves.annealing(folder, seconds))
    for line in missing:
        print(f"not repeated: {line}", file=sys.stderr)
    print(f"pictures and tables are in {folder}")
    return 1 if missing else 0


def _convergence(folder: Path, name: str, case: Case, most: int, seconds: float) -> None:
    values = makespan_curves.exact_values(case, most, seconds)
    makespan_curves.convergence(folder, name, case, values, seconds)


def _step(title: str, work: Callable[[], object]) -> None:
    begin = time.monotonic()
    print(f"{title} …", flush=True)
    work()
    print(f"  {time.monotonic() - begin:.1f} s")
