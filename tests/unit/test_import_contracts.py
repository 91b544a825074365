"""The contracts of imports in `pyproject.toml` hold, and fail where a package imports what another one wraps."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed: scripts/check runs this test with it")

ROOT = Path(__file__).resolve().parents[2]
WRAPPERS = {
    "anyio": "mcp",
    "deap": "evolve",
    "distributed": "executor",
    "elftools": "frontend",
    "graphviz": "render",
    "highspy": "ilp",
    "jsonschema": "mcp",
    "lark": "frontend",
    "matplotlib": "measure",
    "mcp": "mcp",
    "networkx": "api",
    "numba": "jit",
    "platformdirs": "entries",
    "pulp": "ilp",
    "pyarrow": "batch",
    "pydemumble": "names",
    "pygraphviz": "render",
    "rich": "cli",
    "typer": "cli",
}
EVERYWHERE = {"numpy"}
"""What is no detail of one package."""


def seeded(folder: Path) -> set[str]:
    """Copy the source, with an import of every library in a new module of each package and in each module of none; return these."""
    shutil.copytree(ROOT / "sassan", folder / "sassan", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    places = [place.with_name("seeded.py") for place in (folder / "sassan").glob("*/**/__init__.py")]
    places += [place for place in (folder / "sassan").glob("*.py") if not place.name.startswith("__")]
    for place in places:
        with place.open("a") as file:
            file.writelines(f"import {library}\n" for library in WRAPPERS)
    return {".".join(place.relative_to(folder).with_suffix("").parts) for place in places}


def complaints(folder: Path) -> set[tuple[str, str]]:
    """Return the imports that the contracts forbid in a folder: module and library, or module and package of a higher layer."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return set(re.findall(r"^-\s+(\S+) -> (\S+) \(l\.[0-9, l.]+\)$", done.stdout, re.MULTILINE))


def test_an_import_of_a_library_breaks_a_contract_in_every_package_but_the_one_that_wraps_it(tmp_path: Path) -> None:
    modules = seeded(tmp_path)
    assert len(modules) > len(WRAPPERS)
    expected = {(module, library) for module in modules for library, wrapper in WRAPPERS.items() if module.split(".")[1] != wrapper}
    assert complaints(tmp_path) == expected


def layers() -> list[list[str]]:
    """Return the packages of each layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (known,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [layer.split(" | ") for layer in known]


def test_an_import_from_the_layer_above_breaks_a_contract_in_every_package(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sassan", tmp_path / "sassan", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    expected = set()
    for (above, *_), layer in pairwise(layers()):
        for name in layer:
            folder = tmp_path / "sassan" / name
            module = f"sassan.{name}.seeded" if folder.is_dir() else f"sassan.{name}"
            with (folder / "seeded.py" if folder.is_dir() else folder.with_suffix(".py")).open("a") as file:
                file.write(f"import sassan.{above}\n")
            expected.add((module, f"sassan.{above}"))
    assert {module.split(".")[1] for module, _ in expected} == {path.stem for path in (ROOT / "sassan").iterdir() if is_package(path)} - {
        "cli"
    }
    assert expected <= complaints(tmp_path)


def is_package(path: Path) -> bool:
    """Say whether a path is a package of the program, or a module beside them."""
    return not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").exists())


def test_every_library_that_is_imported_has_a_package_that_wraps_it() -> None:
    import grimp  # noqa: PLC0415 - import-linter is installed

    modules = grimp.build_graph("sassan", include_external_packages=True, cache_dir=None).modules
    libraries = {module for module in modules if module.split(".")[0] not in {"sassan", *sys.stdlib_module_names}}
    assert libraries == WRAPPERS.keys() | EVERYWHERE
