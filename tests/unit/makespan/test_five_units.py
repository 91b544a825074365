"""Engines over strings that use all five units, against the enumeration of every schedule."""

from random import Random

import pytest

from sassan.makespan.beam.engine import Beam
from sassan.makespan.bounds.engine import Bounds
from sassan.makespan.engine import Budget
from sassan.makespan.exact.engine import Exact
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from unit.makespan.cases import case
from unit.makespan.every_schedule import longest

pytestmark = pytest.mark.slow


def five_units(seed: int) -> Problem:
    random = Random(seed)
    string = "".join(random.sample("LCSDT", 5)) + random.choice("LCSDT")
    capacity = {letter: random.randint(1, 2) for letter in "LCSDT"}
    return case(string, warps=random.randint(2, 4), issue=random.choice((None, 2, 3)), **capacity)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("plain", "quick"), [(0, 1 << 30), (0, 0)], ids=["table", "search"])
def test_the_exact_engine_answers_as_the_enumeration(seed: int, plain: int, quick: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sassan.makespan.exact.engine.PLAIN", plain)
    monkeypatch.setattr("sassan.makespan.exact.engine._QUICK", quick)
    problem = five_units(seed)
    result = Exact().run(problem, Budget(), lambda _: None)
    assert result.schedule is not None
    check(problem, result.schedule)
    assert (result.lower, result.upper) == (longest(problem), longest(problem))


@pytest.mark.parametrize("seed", range(12))
def test_a_beam_that_keeps_every_state_finds_the_longest_and_no_bound_is_below_it(seed: int) -> None:
    problem = five_units(seed)
    result = Beam((1, 1 << 12)).run(problem, Budget(), lambda _: None)
    assert result.schedule is not None
    check(problem, result.schedule)
    upper = Bounds().run(problem, Budget(), lambda _: None).upper
    assert upper is not None
    assert result.lower == longest(problem) <= upper
