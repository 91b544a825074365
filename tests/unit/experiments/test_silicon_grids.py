"""How the launch of a tuned kernel follows from its recipe, its source, or the default."""

import pytest

from sassan.errors import InputError
from sassan.evolve.ranking.grids import derive
from scripted import scripted

grids = scripted("silicon_grids")
Recipe = scripted("silicon_recipes").Recipe

PARAMETERS = ("block_size_x", "block_size_y", "tile_size_x", "tile_size")
VALUES = {"block_size_x": 32, "block_size_y": 4, "tile_size_x": 3, "tile_size": 5}


def kernel(body: str) -> str:
    return f"__global__ void other(float *a) {{ int x = blockIdx.x * tile_size; }}\n__global__ void scale(float *a) {{ {body} }}\n"


def derived(body: str) -> list[tuple[tuple[str, ...], str]]:
    result = derive("scale", kernel(body), PARAMETERS)
    return list(zip(result.divisors, result.origins, strict=True))


def test_without_a_block_index_the_default_is_block_times_tile():
    assert derived("a[0] = 1;") == [(("block_size_x", "tile_size_x"), "default"), (("block_size_y",), "default"), ((), "default")]


@pytest.mark.parametrize(
    "body",
    [
        "int x = blockIdx.x * block_size_x * tile_size + threadIdx.x;",
        "int x = block_size_x * tile_size * blockIdx.x;",
        "int x = blockIdx.x * (tile_size * block_size_x);",
        "if (n) { int x = blockIdx.x * blockDim.x * tile_size; }",
        "int x = blockIdx.x * block_size_x * tile_size; // blockIdx.x * tile_size\n",
    ],
)
def test_the_source_determines_the_parameters_that_a_block_covers(body: str):
    assert derived(body)[0] == (("block_size_x", "tile_size"), "source")


def test_a_part_of_the_default_does_not_replace_it():
    assert derived("int x = (blockIdx.x * block_size_x + threadIdx.x) * tile_size_x;")[0] == (("block_size_x", "tile_size_x"), "default")


@pytest.mark.parametrize(
    "body", ["int x = blockIdx.x * width;", "int x = blockIdx.x * tile_size; int y = blockIdx.x * block_size_x * tile_size_x;"]
)
def test_a_source_that_does_not_say_it_clearly_is_not_believed(body: str):
    assert derived(body)[0] == (("block_size_x", "tile_size_x"), "default")


def launch(recipe, problem=(1000, 10), body: str = ""):
    return grids.shapes(recipe, derive("scale", kernel(body), PARAMETERS), VALUES, problem)


def test_the_grid_covers_the_problem():
    assert launch(Recipe()) == grids.Shapes((32, 4, 1), (11, 3, 1), 0, ())


def test_a_problem_that_divides_evenly_has_no_block_too_many():
    assert launch(Recipe(), (96, 4, 7)).grid == (1, 1, 7)


def test_a_recipe_goes_over_the_default():
    recipe = Recipe(block=("tile_size",), grid=("problem_x / 10", "2"), shared="4 * block_size_x", parameters={"param_2": "problem_y"})
    assert launch(recipe) == grids.Shapes((5, 1, 1), (100, 2, 1), 128, (("param_2", 10),))


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        (Recipe(grid=("problem_x / width",)), (8,)),
        (Recipe(grid=("problem_x / 3",)), (8,)),
        (Recipe(grid=("problem_x / problem_y / 0",)), (8,)),
        (Recipe(), (0,)),
        (Recipe(), ("many",)),
        (Recipe(), (True,)),
    ],
)
def test_an_extent_that_cannot_be_computed_is_an_error(recipe, problem):
    with pytest.raises(InputError) as refused:
        launch(recipe, problem)
    assert refused.value.code == "no-grid"
