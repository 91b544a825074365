"""Three forms of the program, two solvers, and a search of every schedule: one longest makespan."""

from __future__ import annotations

from random import Random

import pytest

from sassan.makespan.engine import Budget, Found
from sassan.makespan.ilp import Ilp
from sassan.makespan.ilp_build import Form
from sassan.makespan.schedule import check
from unit.makespan.cases import mixed_case, random_case
from unit.makespan.every_schedule import longest


def quiet(_: Found) -> None:
    pass


@pytest.mark.parametrize("solver", ["highs", "cbc"])
@pytest.mark.parametrize("form", list(Form))
def test_the_program_finds_the_longest_of_all_schedules(form: Form, solver: str) -> None:
    random = Random(6)
    for number in range(30):
        problem = (mixed_case if number % 3 == 0 else random_case)(random)
        found = Ilp(form, solver).run(problem, Budget(), quiet)
        assert found.schedule is not None
        check(problem, found.schedule)
        assert (found.lower, found.upper, found.proof) == (longest(problem), longest(problem), "optimal")
