"""The tutorial says what the commands really do: each of its blocks is run, in order, in one folder.

Those that compile or search, which take as long as all others, are run by `scripts/check_tutorial`, and here in a full run.
"""

import importlib.util
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from budget import FULL, PATIENCE
from cli.shell import SAMPLES
from integrations.tutorial import COMMANDS, COMPILE, INSTALL, OWN, PAGE, PYTHON, TEXT, matches
from sassan.cli import main
from sassan.frontend.cubin.tools import tools

TUTORIAL = PAGE.parent
EVOLVE = re.compile("^sassan evolve")
COMPILES = re.compile(r"^sassan \w+ own\.cu")
ELSEWHERE = re.compile(f"{EVOLVE.pattern}|{COMPILES.pattern}")
INPUTS = re.findall(r"samples/(\S+\.(?:cubin|cu|toml))", INSTALL)
EVOLVES = all(importlib.util.find_spec(name) for name in ("deap", "nvidia")) and importlib.util.find_spec("nvidia.cuda_nvrtc")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")]
of_check_tutorial = pytest.mark.skipif(not FULL, reason="scripts/check_tutorial runs these commands, and SASSAN_FULL=1 here")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for one in INPUTS:
        shutil.copy(SAMPLES / one, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def addresses(picture: Path) -> set[str]:
    return set(re.findall(r"0x[0-9a-f]{4}", picture.read_text("utf-8")))


def run(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints: in this process where no shell is needed."""
    words = shlex.split(command)
    if words[0] == "sassan" and not {">", "||", "|"}.intersection(words):
        capsys.readouterr()
        assert main.run(words[1:]) == 0
        seen = capsys.readouterr()
        return seen.out + seen.err
    here = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False, env=here, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_page_has_commands_of_every_step():
    shown = [shlex.split(command)[1] for command, _ in COMMANDS if command.startswith("sassan")]
    assert set(shown) >= {"analyze", "ipet", "cfg", "listing", "makespan", "report", "check", "evolve"}


def test_the_commands_of_the_page_print_what_it_shows_and_its_python_runs(folder, capsys):
    # One test: each step stands on the files of those before it.
    printed = [(command, shown, run(command, folder, capsys)) for command, shown in COMMANDS if not ELSEWHERE.search(command)]
    assert [(command, told) for command, shown, told in printed if not matches(shown, told)] == []
    assert addresses(folder / "mandelbrot.svg") == addresses(TUTORIAL / "mandelbrot.svg")
    (folder / "page.py").write_text(PYTHON)
    assert runpy.run_path(str(folder / "page.py"))["kernel"].wcet == 1162
    assert (folder / "graph.svg").exists()


@of_check_tutorial
@pytest.mark.skipif(not (EVOLVES or shutil.which("nvcc")), reason="no compiler is installed")
def test_a_source_of_ones_own_is_drawn_as_the_page_shows(folder, capsys):
    (folder / "own.cu").write_text(OWN, "utf-8")
    commands = [(command, shown) for command, shown in COMMANDS if COMPILES.search(command)]
    assert [command for command, shown in commands if not matches(shown, run(command, folder, capsys))] == []
    assert "sums" in (folder / "own.svg").read_text("utf-8")
    assert len((folder / "own.html").read_text("utf-8")) > 50_000


@of_check_tutorial
@pytest.mark.skipif(not EVOLVES, reason="the extra 'evolve' is not installed")
def test_the_search_of_the_page_prints_what_it_shows(folder, capsys):
    command, shown = next(one for one in COMMANDS if EVOLVE.search(one[0]))
    assert matches(shown, run(command, folder, capsys))


@of_check_tutorial
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc is installed")
def test_the_compiler_makes_the_cubin(tmp_path):
    shutil.copy(SAMPLES / "kernels" / "mandelbrot.cu", tmp_path)
    assert subprocess.run(["/bin/sh", "-c", COMPILE], cwd=tmp_path, check=False, timeout=PATIENCE).returncode == 0
    assert (tmp_path / "mandelbrot.cubin").exists()


def test_every_file_that_the_page_links_is_there():
    linked = re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", TEXT)
    assert [one for pair in linked for one in pair if one and not (TUTORIAL / one).exists()] == []
