from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.ilp import highs
from sassan.ilp.basis import Basis, multipliers
from sassan.ilp.model import IntegerVariable, Model, Row, combine, dual_bound
from sassan.ilp.solve import Solution, Status, solve

X, Y = IntegerVariable("x0"), IntegerVariable("x1")
GAP = Model("gap", (X, Y), ((0, 5), (1, 4)), (Row("r0", ((0, 6), (1, 4)), "<=", 24), Row("r1", ((0, 1), (1, 2)), "<=", 6)))


def test_a_basis_has_one_multiplier_per_row_and_none_on_rows_with_slack() -> None:
    # 6 u = 5; the reduced cost of x1 is 4 - 4 u > 0.
    assert multipliers(GAP, Basis((0,), (0,))) == [Fraction(5, 6), 0]
    assert dual_bound(GAP, (Fraction(5, 6), Fraction(0))) is None


def test_equations_of_several_unknowns_are_eliminated() -> None:
    # 6 u + v = 5 and 4 u + 2 v = 4.
    assert multipliers(GAP, Basis((0, 1), (0, 1))) == [Fraction(3, 4), Fraction(1, 2)]


def test_dependent_equations_determine_nothing() -> None:
    twice = Model("twice", (X, Y), ((0, 1), (1, 1)), tuple(Row(f"r{index}", ((0, 1), (1, 1)), "<=", 4) for index in range(2)))
    assert multipliers(twice, Basis((0, 1), (0, 1))) is None


def test_too_few_equations_determine_nothing() -> None:
    assert multipliers(GAP, Basis((0,), (0, 1))) is None


def test_a_multiplier_that_no_rounding_meets_is_exact() -> None:
    large = 1_000_003
    assert solve(Model("large", (X,), ((0, 1),), (Row("r0", ((0, large),), "<=", 3 * large),))) == Solution(Status.OPTIMAL, 3, (3,), "dual")


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw a model whose every variable is bounded; 0 satisfies it."""
    size = draw(st.integers(1, 5))
    factors = st.lists(st.integers(-9, 9), min_size=size, max_size=size)
    rows = [Row(f"r{index}", combine(enumerate(draw(factors))), "<=", draw(st.integers(0, 99))) for index in range(draw(st.integers(0, 5)))]
    cover = Row("cover", tuple((index, 1) for index in range(size)), "<=", draw(st.integers(0, 99)))
    return Model("drawn", tuple(IntegerVariable(f"x{index}") for index in range(size)), combine(enumerate(draw(factors))), (*rows, cover))


@pytest.mark.slow
@given(models())
def test_the_basis_of_a_relaxed_optimum_proves_it(model: Model) -> None:
    relaxed = highs.run(model, integer=False)
    assert relaxed.basis is not None
    basis = relaxed.basis()
    assert basis is not None
    exact = multipliers(model, basis)
    assert exact is not None
    bound = dual_bound(model, exact)
    assert bound is not None
    assert float(bound) == pytest.approx(sum(factor * relaxed.values[index] for index, factor in model.objective), abs=1e-6)
