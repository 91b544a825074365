"""Three forms of the program, two solvers, and a search of every schedule: one longest makespan."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from budget import part
from differential.solver_files import SOLVERS, optimum
from sassan.ilp.write import lp, mps
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.program.build import Form
from sassan.makespan.program.engine import Ilp, program
from sassan.makespan.schedule import check
from unit.makespan.cases import case, mixed_case, random_case
from unit.makespan.every_schedule import longest

pytestmark = pytest.mark.slow


def quiet(_: EngineResult) -> None:
    pass


@pytest.mark.parametrize(("solver", "count"), [("highs", part(24, of=2)), ("cbc", part(12, of=2))])
@pytest.mark.parametrize("form", list(Form))
def test_the_program_finds_the_longest_of_all_schedules(form: Form, solver: str, count: int) -> None:
    random = Random(6)
    for number in range(count):
        problem = (mixed_case if number % 3 == 0 else random_case)(random)
        found = Ilp(form, solver).run(problem, Budget(), quiet)
        assert found.schedule is not None
        check(problem, found.schedule)
        assert (found.lower, found.upper, found.proof) == (longest(problem), longest(problem), "optimal")


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("form", list(Form))
def test_whoever_reads_the_files_finds_the_longest_schedule(form: Form, name: str, tmp_path: Path) -> None:
    if not SOLVERS[name][1]():
        pytest.skip(f"{name} is not installed")
    model = program(case("LCL", warps=3, L=1, C=1), 7, form).model
    for suffix, write in (("lp", lp), ("mps", mps)):
        path = tmp_path / f"lcl.{suffix}"
        path.write_text(write(model))
        assert optimum(name, path) == 7
