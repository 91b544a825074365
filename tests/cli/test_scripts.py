"""The scripts that people run by hand: they are there, they can be run, and a shell can read them."""

import os
import subprocess

import pytest

from budget import PATIENCE
from cli.shell import ROOT

SHELL = ["scripts/demo", "scripts/test", "scripts/check", ".ci/run", "scripts/_lib/environment.sh"]


@pytest.mark.parametrize("name", SHELL)
def test_a_shell_can_read_it(name: str):
    done = subprocess.run(["/usr/bin/env", "bash", "-n", str(ROOT / name)], capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", SHELL[:-1])
def test_it_can_be_run(name: str):
    assert os.access(ROOT / name, os.X_OK)
    assert (ROOT / name).read_text("utf-8").startswith("#!/usr/bin/env bash\n")


def test_no_script_installs_anything_outside_its_environment():
    text = (ROOT / "scripts" / "_lib" / "environment.sh").read_text("utf-8")
    assert "sudo" not in text
    assert [line for line in text.splitlines() if "pip install" in line and ".venv/bin/python" not in line] == []
