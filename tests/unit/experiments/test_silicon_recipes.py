"""The reader of recipes: what it gives, and that every mistake is named with its key."""

from pathlib import Path

import pytest

from sassan.errors import InputError
from scripted import scripted

recipes = scripted("silicon_recipes")

GOOD = """
[device]
"Big one" = "RTX 3080"
[kernel.scale]
grid = ["ceil(problem_x / block)"]
parameters = { param_1 = "problem_x" }
only = { mode = 1 }
source = "made up"
"""


def read(folder: Path, text: str):
    (folder / "recipes.toml").write_text(text, encoding="utf-8")
    return recipes.read(folder / "recipes.toml")


def test_a_product_goes_by_its_own_name_or_that_of_the_caches(tmp_path: Path):
    recipes = read(tmp_path, GOOD)
    assert [recipes.product(name).sms for name in ("NVIDIA GeForce RTX 3080", "Big one")] == [68, 68]


def test_an_unknown_product_is_none(tmp_path: Path):
    assert read(tmp_path, GOOD).product("Radeon") is None


def test_a_recipe_has_the_values_of_the_file_and_defaults(tmp_path: Path):
    result = read(tmp_path, GOOD).kernels["scale"]
    assert (result.block, result.grid, result.shared) == ((), ("ceil(problem_x / block)",), "0")
    assert (result.parameters, result.only, result.macros) == ({"param_1": "problem_x"}, {"mode": 1}, {})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("kernel = 3", "kernel"),
        ("[kernels.scale]", "kernels"),
        ("[kernel.scale]", "kernel.scale.source"),
        ('[kernel.scale]\nsource = "x"\ngrids = ["1"]', "kernel.scale.grids"),
        ('[kernel.scale]\nsource = "x"\ngrid = ["1 +"]', "kernel.scale.grid"),
        ('[kernel.scale]\nsource = "x"\ngrid = ["1", "1", "1", "1"]', "kernel.scale.grid"),
        ('[kernel.scale]\nsource = "x"\nshared = 12', "kernel.scale.shared"),
        ('[kernel.scale]\nsource = "x"\nparameters = { param_0 = 3 }', "kernel.scale.parameters.param_0"),
        ('[kernel.scale]\nsource = "x"\nonly = { mode = [1] }', "kernel.scale.only.mode"),
        ("[device]\nA = 3", "device.A"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, where: str):
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert refused.value.code == "bad-recipe"
    assert refused.value.message.startswith(f"recipes.toml: {where}: ")


def test_invalid_toml_is_refused(tmp_path: Path):
    with pytest.raises(InputError) as refused:
        read(tmp_path, "[kernel")
    assert refused.value.code == "bad-recipe"


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(InputError) as refused:
        recipes.read(tmp_path / "none.toml")
    assert refused.value.code == "cannot-read"


def test_the_recipes_of_the_repository_can_be_read():
    assert recipes.read().product("NVIDIA A100-PCIE-40GB").sms == 108
