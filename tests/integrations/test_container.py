"""The container file of samples/integrations: what can be held of it without a container engine."""

import re
import shutil
import subprocess
import tomllib

import pytest

from budget import PATIENCE, whole
from cli.shell import ROOT, SAMPLES
from sassan.cli import main

FILE = SAMPLES / "integrations" / "container" / "Dockerfile"
LINES = [line.partition(" ")[::2] for line in FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def value(instruction: str) -> str:
    return next(text for name, text in LINES if name == instruction)


def test_the_linter_of_container_files_has_nothing_to_say():
    program = shutil.which("hadolint")
    if program is None:
        pytest.skip("hadolint is not installed (dependency group check)")
    done = subprocess.run([program, "--no-color", str(FILE)], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_installs_extras_that_there_are_for_a_python_that_is_tested():
    assert re.findall(r"/checkout\[(\w+)\]", FILE.read_text("utf-8")) == ["cubin"]
    assert "cubin" in PROJECT["optional-dependencies"]
    version = value("FROM").partition(":")[2].partition("-")[0]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def test_its_context_has_what_the_package_is_built_from():
    kept = [line[1:] for line in FILE.with_name("Dockerfile.dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert all((ROOT / path).exists() for path in kept)
    needed = {"sassan", "grammars", "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], "scripts/_lib"}
    assert needed == set(kept)


def test_no_command_runs_as_root_and_a_run_without_arguments_prints_the_help(capsys: pytest.CaptureFixture[str]):
    names = [name for name, _ in LINES]
    assert value("USER") == "1000"
    assert "--uid 1000 " in value("RUN")
    assert names.index("USER") < names.index("ENTRYPOINT")
    (program,), arguments = tomllib.loads(f"a = {value('ENTRYPOINT')}")["a"], tomllib.loads(f"a = {value('CMD')}")["a"]
    assert program == "sassan"
    assert main.run(arguments) == 0
    assert capsys.readouterr().out.startswith("Usage: sassan ")


@whole("everything is compiled anew")
@pytest.mark.slow
def test_the_searches_are_compiled_in_it():
    (command,) = [text for name, text in LINES if name == "RUN" and text.startswith("sassan ")]
    assert main.run(command.split()[1:]) == 0
