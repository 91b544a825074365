import pytest

from sassan.evolve.space.shapes import ShapeProblem, extent, holds, names


@pytest.mark.parametrize(
    ("text", "value"), [("64", 64), ("N * 2", 24), ("ceil(100 / N)", 9), ("floor(100 / N)", 8), ("(N - 2) / 5", 2), ("96 / N", 8)]
)
def test_an_extent_is_exact(text, value):
    assert extent(text, {"N": 12}) == value


@pytest.mark.parametrize(
    "text", ["100 / N", "M", "", "1.5", "N ** 2", "__import__('os')", "N.real", "1 / 0", "ceil(N, 2)", "True", "-N", "9" * 300, "(" * 150]
)
def test_invalid_extents_are_refused(text):
    with pytest.raises(ShapeProblem):
        extent(text, {"N": 12})


def test_the_names_of_an_extent_are_genes():
    assert names("ceil(N / (TILE * 2))") == {"N", "TILE"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N <= 12", True),
        ("N * 2 == 25", False),
        ("8 < N < 12", False),
        ("N % 5 == 2 and N // 5 == 2", True),
        ("N > 20 or not N == 12", False),
    ],
)
def test_a_restriction_compares_exactly(text, value):
    assert holds(text, {"N": 12}) is value


@pytest.mark.parametrize("text", ["N", "N + 1", "N in (1, 2)", "N == M", "N % 0 == 1", "not N", "N is 12"])
def test_invalid_restrictions_are_refused(text):
    with pytest.raises(ShapeProblem):
        holds(text, {"N": 12})
