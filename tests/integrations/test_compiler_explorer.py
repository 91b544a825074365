"""The tool of Compiler Explorer, called as its server calls one: arguments, the path of the source, an input, a bare environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from budget import PATIENCE
from cli.shell import ROOT, SAMPLES
from sassan.frontend.cubin.tools import tools

FOLDER = SAMPLES / "integrations" / "compiler-explorer"
SAXPY = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"


REGISTERED = {"testing-tool"}
"""Classes of tools of Compiler Explorer that run a program as it is, and that its server knows (lib/tooling/_all.ts)."""


def settings() -> dict[str, str]:
    """The lines of the shipped properties."""
    lines = (FOLDER / "cuda.local.properties").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line[0] != "#")


def called(folder: Path, *arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run the tool as Compiler Explorer does; HOME is missing, and the folder holds a source."""
    source = folder / "example.cu"
    source.write_text("// compiled before\n", "utf-8")
    options = [
        str(FOLDER / "sassan_tool.py") if option.endswith(".py") else option for option in settings()["tools.sassan.options"].split()
    ]
    words = [sys.executable, *options, *arguments, str(source)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, input=text, capture_output=True, cwd=folder, env=environment, timeout=PATIENCE, check=False)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_listing_on_standard_input_is_printed_with_control_codes_and_nothing_is_written(tmp_path: Path):
    done = called(tmp_path, "-f", "saxpy", text=SAXPY.read_bytes())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("saxpy (sm_80)\naddress  st y w r waits  reuse unit    l instruction\n0x0000    2 - - -")
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["example.cu"]


def test_the_class_of_the_tool_is_one_that_the_server_knows():
    assert settings()["tools.sassan.class"] in REGISTERED


def test_without_an_input_it_says_what_to_do(tmp_path: Path):
    done = called(tmp_path)
    assert done.returncode == 3
    assert "paste the output of nvdisasm -c -hex" in done.stderr


@pytest.mark.slow
def test_without_an_input_the_cubins_of_the_compilation_are_listed(tmp_path: Path):
    if not tools("nvdisasm"):
        pytest.skip("no nvdisasm is installed")
    shutil.copy(SAMPLES / "sm_80" / "saxpy.cubin", tmp_path / "example.sm_80.cubin")
    done = called(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "IMAD" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["example.cu", "example.sm_80.cubin"]


@pytest.mark.slow
def test_garbage_is_one_error(tmp_path: Path):
    done = called(tmp_path, text=b"\x00garbage")
    assert done.returncode == 3
    assert done.stderr.startswith("error[")
    assert "Traceback" not in done.stderr
