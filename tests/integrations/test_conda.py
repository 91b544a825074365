"""The conda recipe of samples/integrations: it asks for what the package asks for, under the names of conda-forge."""

import re
import tomllib
from pathlib import Path

import pytest

from cli.shell import ROOT, SAMPLES
from sassan import __version__

FILE = SAMPLES / "integrations" / "conda" / "recipe.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RENAMED = {"graphviz": "python-graphviz", "nvidia-cuda-nvdisasm": "cuda-nvdisasm", "nvidia-cuda-cuobjdump": "cuda-cuobjdump"}


def listed(section: str) -> set[str]:
    """Return the packages of a section of the requirements, without spaces."""
    lines = FILE.read_text("utf-8").split(f"\n  {section}:\n")[1].splitlines()
    kept = []
    for line in lines:
        if not line.startswith(("    - ", "  #")):
            break
        kept += [line.removeprefix("    - ").replace(" ", "")] * line.startswith("    - ")
    return set(kept)


def named(packages: list[str]) -> set[str]:
    plain = [re.sub(r"[\s]|;.*", "", package) for package in packages]
    return {RENAMED.get(name := re.match(r"[\w-]+", each)[0], name) + each.removeprefix(name) for each in plain}


def test_the_recipe_asks_for_what_the_package_asks_for():
    project = PROJECT["project"]
    needed = named(project["dependencies"])
    assert listed("run") == needed | {"python>=${{python_min}}"}
    assert listed("host") == needed | named(PROJECT["build-system"]["requires"]) | {"pip", "python${{python_min}}.*"}
    assert listed("run_constraints") == named(project["optional-dependencies"]["cubin"])
    text = FILE.read_text("utf-8")
    assert f'version: "{__version__}"' in text
    assert all(f"- {name} = {place}\n" in text for name, place in project["scripts"].items())


def test_it_can_be_rendered():
    stage0 = pytest.importorskip("rattler_build.stage0")
    variants = pytest.importorskip("rattler_build.variant_config")
    recipe = stage0.Stage0Recipe.from_file(Path(FILE))
    assert len(recipe.render(variants.VariantConfig({"python_min": ["3.11"]}))) == 1
