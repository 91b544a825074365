"""The README shows what the commands really print."""

import re
import shlex
from pathlib import Path

import pytest

from cli.shell import ROOT, Sassan
from integrations.tutorial import matches
from sassan.frontend.cubin.tools import tools

README = (ROOT / "README.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```console\n\$ sassan (.*)\n((?:.*\n)*?)```$", README, re.MULTILINE)


def test_the_readme_has_an_example():
    assert len(EXAMPLES) >= 1


@pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")
@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_an_example_of_the_readme_prints_what_it_shows(command: str, shown: str, sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    result = sassan(*shlex.split(command))
    assert result.status == 0
    # Bounds get tighter: large figures are not compared, nor the widths of their columns; words and counts are.
    figures = re.sub(r"\b\d{5,}\b|\d+\.\d\d\b", "…", shown)
    assert matches(re.sub(" +", " ", figures), re.sub(" +", " ", result.out))


def test_the_picture_of_the_readme_is_what_the_command_draws(sassan: Sassan, tmp_path: Path):
    sample = ROOT / "samples" / "sm_61" / "bfs_step.cuobjdump.sass"
    assert sassan("cfg", sample, "--loop-bound", "10", "-o", tmp_path / "x.dot").status == 0
    drawn = (ROOT / "samples" / "pictures" / "bfs_step.svg").read_text("utf-8")
    in_svg = set(re.findall(r"0x[0-9a-f]{4}", drawn))
    assert in_svg == set(re.findall(r"0x[0-9a-f]{4}", (tmp_path / "x.dot").read_text("utf-8")))
