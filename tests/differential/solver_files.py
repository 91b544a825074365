"""Run the solvers themselves on the files that sassan writes: the optimum that each reads out of an LP or MPS file, as an integer."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from pulp.apis import PULP_CBC_CMD

from budget import PATIENCE


def highs(path: Path) -> int | None:
    import highspy  # noqa: PLC0415  # each solver only where it runs

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.readModel(str(path))
    solver.run()
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return round(solver.getInfo().objective_function_value) if optimal else None


def scip(path: Path) -> int | None:
    from pyscipopt import Model  # noqa: PLC0415  # each solver only where it runs

    model = Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    return round(model.getObjVal()) if model.getStatus() == "optimal" else None


def _run(program: str, *arguments: str) -> str:
    return subprocess.run([which(program) or program, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


def _cbc() -> str:
    return which("cbc") or PULP_CBC_CMD.pulp_cbc_path


def cbc(path: Path) -> int | None:
    told = _run(_cbc(), str(path), "ratioGap", "0", "solve", "quit")
    found = re.search(r"^Result - Optimal solution found\s+Objective value: +(-?[\d.eE+]+)", told, re.MULTILINE)
    return round(float(found[1])) if found else None


def glpk(path: Path) -> int | None:
    out = path.with_suffix(".glpk")
    # Its integer presolver does not end on systems of a thousand rows.
    _run("glpsol", "--lp" if path.suffix == ".lp" else "--freemps", str(path), "--nointopt", "-w", str(out))
    found = re.search(r"^s mip \d+ \d+ o (\S+)", out.read_text(), re.MULTILINE)
    return round(float(found[1])) if found else None


SOLVERS: dict[str, tuple[Callable[[Path], int | None], Callable[[], bool]]] = {
    "highs": (highs, lambda: True),
    "scip": (scip, lambda: _has("pyscipopt")),
    "cbc": (cbc, lambda: which(_cbc()) is not None),
    "glpk": (glpk, lambda: which("glpsol") is not None),
}


def _has(module: str) -> bool:
    return find_spec(module) is not None


def optimum(name: str, path: Path) -> int | None:
    """The optimum of the maximisation, whichever file it is read from: an MPS file holds the negated objective."""
    value = SOLVERS[name][0](path)
    if value is None or path.suffix == ".lp":
        return None if value is None else abs(value)
    return -value
