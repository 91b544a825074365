import os
import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from sassan.errors import MissingToolError, SelfCheckError, UsageError
from sassan.ilp import solve as solving
from sassan.ilp.answer import SolverAnswer
from sassan.ilp.model import IntegerVariable, Model, Row, check_names, combine, covered, dual_bound, violated
from sassan.ilp.solve import Solution, Status, solve, upper_bound
from sassan.ilp.write import lp, mps

X, Y = IntegerVariable("x0", "how often a runs"), IntegerVariable("x1")
SMALL = Model(
    "small", (X, Y), ((0, 3), (1, 2)), (Row("r0", ((0, 1), (1, 1)), "<=", 4, "a + b <= 4"), Row("r1", ((0, 1), (1, 3)), "<=", 6)), "demo"
)
UNBOUNDED = Model("unbounded", (X, Y), ((0, 3), (1, 2)), (Row("r0", ((0, 1), (1, -1)), "<=", 4),))
INFEASIBLE = Model("infeasible", (X,), ((0, 3),), (Row("r0", ((0, 1),), "<=", -1),))
GAP = Model("gap", (X, Y), ((0, 5), (1, 4)), (Row("r0", ((0, 6), (1, 4)), "<=", 24), Row("r1", ((0, 1), (1, 2)), "<=", 6)))


def test_the_optimum_comes_with_its_values_and_an_exact_proof() -> None:
    assert solve(SMALL) == Solution(Status.OPTIMAL, 12, (4, 0), "dual")


def test_an_unbounded_model_has_no_value() -> None:
    assert solve(UNBOUNDED) == Solution(Status.UNBOUNDED)


def test_an_infeasible_model_has_no_value() -> None:
    assert solve(INFEASIBLE) == Solution(Status.INFEASIBLE)


def test_an_integer_optimum_below_the_relaxed_one_is_taken_from_the_search() -> None:
    assert solve(GAP) == Solution(Status.OPTIMAL, 20, (4, 0), "solver")


def test_an_optimum_within_a_ten_thousandth_is_not_good_enough() -> None:
    # The default gap of HiGHS would accept 99,999 of 100,000 here.
    rows = (Row("r0", ((0, 2),), "<=", 200_001), Row("r1", ((0, 1), (1, 1)), "<=", 100_000))
    assert solve(Model("tight", (X, Y), ((0, 1), (1, 1)), rows)).value == 100_000


def test_an_unknown_solver_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        solve(SMALL, "lindo")
    assert caught.value.code == "unknown-solver"


def test_a_missing_solver_names_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingToolError) as caught:
        solve(SMALL, "glpk")
    assert caught.value.hint == "apt-get install glpk-utils"


def test_a_coefficient_that_no_double_carries_gives_no_value() -> None:
    assert solve(Model("huge", (X,), ((0, 1),), (Row("r0", ((0, 10**13),), "<=", 10**14),))) == Solution(Status.UNPROVEN)


def test_an_answer_that_violates_a_row_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def lies(*_: object, **__: object) -> SolverAnswer:
        return SolverAnswer(Status.OPTIMAL, (9.0, 9.0), (0.0, 0.0))

    monkeypatch.setattr(solving, "_run", lies)
    with pytest.raises(SelfCheckError) as caught:
        solve(SMALL)
    assert caught.value.code == "ilp-answer"


def test_multipliers_prove_a_bound_by_weak_duality() -> None:
    assert dual_bound(SMALL, (Fraction(3), Fraction(0))) == 12


def test_multipliers_that_leave_a_positive_reduced_cost_prove_nothing() -> None:
    assert dual_bound(SMALL, (Fraction(2), Fraction(0))) is None


def test_a_negative_multiplier_of_an_upper_row_proves_nothing() -> None:
    assert dual_bound(SMALL, (Fraction(4), Fraction(-1))) is None


def test_lower_bounds_take_part_in_the_proof() -> None:
    shifted = Model("shifted", (IntegerVariable("x0", lower=2), Y), ((0, -1), (1, 0)), ())
    assert dual_bound(shifted, ()) == -2


def test_the_first_violated_row_is_named() -> None:
    assert violated(SMALL, (5, 0)) == "r0"


def test_a_value_below_its_lower_bound_is_violated() -> None:
    assert violated(SMALL, (-1, 0)) == "x0"


def test_like_terms_are_added_and_zeros_dropped() -> None:
    assert combine([(3, 1), (1, 2), (3, -1), (1, 5)]) == ((1, 7),)


def test_the_lp_file_shows_the_math_above_each_row() -> None:
    assert lp(SMALL) == (
        "\\ demo\n\\ x0: how often a runs\nMaximize\n objective: + 3 x0 + 2 x1\nSubject To\n\\ a + b <= 4\n r0: + 1 x0 + 1 x1 <= 4\n"
        " r1: + 1 x0 + 3 x1 <= 6\nBounds\n x0 >= 0\n x1 >= 0\nGenerals\n x0 x1\nEnd\n"
    )


def test_the_mps_file_minimises_the_negated_objective_and_says_so() -> None:
    text = mps(SMALL)
    assert "* MINIMISE" in text
    assert " x0 objective -3\n" in text


def test_a_comment_cannot_leave_its_line() -> None:
    text = lp(Model("evil", (X,), ((0, 1),), (), "name\nEnd\u2028Maximize"))
    assert [line for line in text.splitlines() if "End" in line or "Max" in line] == ["\\ End", "\\ Maximize", "Maximize", "End"]


def test_two_rows_of_one_name_are_a_defect() -> None:
    with pytest.raises(SelfCheckError):
        check_names(Model("twice", (X,), (), (Row("r0", (), "<=", 1), Row("r0", (), "<=", 2))))


def test_a_name_that_looks_like_an_exponent_is_a_defect() -> None:
    with pytest.raises(SelfCheckError):
        check_names(Model("exponent", (IntegerVariable("e1"),), (), ()))


def test_a_relaxation_is_bounded_from_above_exactly() -> None:
    # The relaxed optimum is 21 at (3, 3/2); row 2 covers both variables.
    cover = Row("r2", ((0, 1), (1, 1)), "<=", 100)
    assert upper_bound(Model("gap", GAP.variables, GAP.objective, (*GAP.rows, cover)), 2) == 21


def test_an_infeasible_relaxation_has_no_bound() -> None:
    assert upper_bound(INFEASIBLE, 0) is None


def test_what_rounding_spoils_is_made_good_by_the_covering_row() -> None:
    # Multipliers (1, 0) leave 2 of x and 1 of y: the covering row r0 takes both away.
    given = (Fraction(1), Fraction(0))
    assert dual_bound(SMALL, given) is None
    fit = covered(SMALL, given, 0)
    assert (fit, dual_bound(SMALL, fit)) == ((Fraction(3), Fraction(0)), 12)


def test_multipliers_of_a_wrong_sign_are_dropped() -> None:
    assert covered(SMALL, (Fraction(3), Fraction(-1)), 0) == (Fraction(3), Fraction(0))


def test_long_denominators_prove_the_same_bound() -> None:
    # 1/p and 1/q of large primes: their common denominator is too long for whole numbers to pay.
    rows = tuple(Row(f"r{index}", ((0, 1),), "<=", 7) for index in range(40))
    many = tuple(Fraction(1, 10**12 + 2 * index + 1) for index in range(40))
    model = Model("long", (X,), ((0, 1),), rows)
    fit = covered(model, many, 0)
    assert sum(fit) == 1
    assert dual_bound(model, fit) == 7


def test_a_caller_that_says_stop_gets_no_value() -> None:
    assert solve(GAP, stop=lambda: True) == Solution(Status.UNPROVEN)
    assert upper_bound(GAP, 0, stop=lambda: True) is None


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_a_model_of_nothing_is_nothing(solver: str) -> None:
    assert solve(Model("empty", (), (), ()), solver).value == 0


def test_an_interrupted_solve_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def interrupted(command: object, folder: Path, limits: object) -> None:
        del command, limits
        made.extend(folder.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(solving, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(SMALL, "cbc")
    assert [path.name for path in made] == ["model.mps"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("solver", "program"), [("glpk", "glpsol"), ("cbc", "cbc")])
def test_a_solver_is_no_program_of_the_current_folder_and_is_killed_when_it_hangs(
    solver: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / program).write_text('#!/bin/sh\ntouch "$(dirname "$0")/ran"\nsleep 60\n')
    (tmp_path / program).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(solving, "_PATIENCE", -1.2)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    with suppress(MissingToolError, SelfCheckError):  # it is not installed, or not done in so little time
        solve(SMALL, solver, time_limit=1)
    assert not (tmp_path / "ran").exists()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SelfCheckError, match="did not finish within") as caught:
        solve(SMALL, solver, time_limit=1)
    assert caught.value.code == "solver-failed"
    assert (tmp_path / "ran").exists()
