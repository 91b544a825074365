"""Whatever solver reads the LP or the MPS file, and whatever solver runs in process, there is one optimum."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from budget import part, some
from differential.solver_files import SOLVERS, optimum
from sassan.errors import SassanError
from sassan.ilp.model import IntegerVariable, Model, Row, combine
from sassan.ilp.solve import SOLVERS as IN_PROCESS
from sassan.ilp.solve import Status, solve
from sassan.ilp.write import lp, mps
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.wcet import WcetProblem, problem
from sassan.timing import UnitCostModel
from unit.ipet.brute import graph, random_program

WRITERS = {"lp": lp, "mps": mps}
FILES = [pytest.param(name, form, id=f"{name}-{form}") for name in SOLVERS for form in WRITERS]


def random_model(seed: int) -> Model:
    """A small bounded model: rows with positive coefficients over every variable."""
    random = Random(seed)
    count = random.randint(1, 6)
    rows = tuple(
        Row(f"r{index}", combine((variable, random.randint(1, 9)) for variable in range(count)), "<=", random.randint(0, 60), "some row")
        for index in range(random.randint(1, 4))
    )
    objective = combine((variable, random.randint(0, 9)) for variable in range(count))
    return Model(
        "random", tuple(IntegerVariable(f"x{index}", f"unknown {index}") for index in range(count)), objective, rows, "a random model"
    )


def random_systems(seeds: range) -> list[WcetProblem]:
    """IPET systems of random programs that the exploration accepts."""
    found: list[WcetProblem] = []
    for seed in seeds:
        ops = random_program(Random(seed), 10)
        try:
            cfg = graph(ops)
        except SassanError:
            continue
        if not cfg.gaps:
            found.append(problem(cfg, UnitCostModel(), bounds_of(cfg, None, 3)))
    return found


def optima(models: list[Model], name: str, form: str, folder: Path) -> list[int | None]:
    if not SOLVERS[name][1]():
        pytest.skip(f"{name} is not installed")
    found: list[int | None] = []
    for index, model in enumerate(models):
        path = folder / f"{index}.{form}"
        path.write_text(WRITERS[form](model))
        found.append(optimum(name, path))
    return found


@pytest.mark.parametrize(("name", "form"), FILES)
def test_random_models_have_the_same_optimum_in_every_solver(name: str, form: str, tmp_path: Path) -> None:
    models = [random_model(seed) for seed in range(part(24, of=1))]
    assert optima(models, name, form, tmp_path) == [solve(model).value for model in models]


@pytest.mark.parametrize(("name", "form"), some(FILES, of=3))
def test_systems_of_random_programs_have_the_same_optimum_in_every_solver(name: str, form: str, tmp_path: Path) -> None:
    models = [one.model for one in random_systems(range(part(200, of=3))) if one.model is not None]
    solved = [(model, solve(model)) for model in models]
    bounded = [(model, solution.value) for model, solution in solved if solution.status is Status.OPTIMAL]
    assert len(bounded) > 5
    assert optima([model for model, _ in bounded], name, form, tmp_path) == [value for _, value in bounded]


@pytest.mark.parametrize("name", [name for name in IN_PROCESS if name != "highs"])
def test_solvers_in_process_agree_with_highs(name: str) -> None:
    if not SOLVERS[name][1]():
        pytest.skip(f"{name} is not installed")
    models = [random_model(seed) for seed in range(100, 115)]
    assert [solve(model, name).value for model in models] == [solve(model).value for model in models]


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_model_is_written_as_the_same_bytes(form: str) -> None:
    assert WRITERS[form](random_model(7)) == WRITERS[form](random_model(7))
