"""The developer guide is carried out: its files are written, its patches applied to a copy of the source, and what they add is used."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from architectures import describe
from budget import PATIENCE
from cli.shell import ROOT, SAMPLES, Sassan
from docs.pages import DOCS, blocks

GUIDE = DOCS / "developer"
BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
USES = """
import sys
from pathlib import Path
import sassan
from sassan.cli import main
from inferring import bound, counter

assert Path(sassan.__file__).is_relative_to(Path(sys.argv[1])), sassan.__file__
assert main.run(["analyze", sys.argv[2], "--loop-bound", "10", "--model", "stalls"]) == 0
assert [main.run(["hashes", sys.argv[2], *form]) for form in ([], ["--csv"], ["--json"])] == [0, 0, 0]
loop = counter("ISETP.LT.AND P0, PT, R0, 0x5, PT", step="IMADX R0, R0, 0x1, R3", start="MOV R0, RZ\\n MOV R3, 0x1")
print("bound", bound(loop, "sm_130"))
"""


def test_the_sm_of_the_guide_is_analyzed_and_says_what_it_inherits(tmp_path: Path, sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    (text,) = blocks(GUIDE / "add-an-sm.md", "toml")
    describe(monkeypatch, tmp_path / "further", text)
    listing = (SAMPLES / "sm_120" / "saxpy.cuobjdump.sass").read_text("utf-8").replace("sm_120", "sm_130").replace("SM120", "SM130")
    (tmp_path / "saxpy.sass").write_text(listing, "utf-8")
    result = sassan("analyze", tmp_path / "saxpy.sass")
    assert result.status == 0, result.err
    assert "sm_130: code, parameters taken from sm_120" in result.out
    assert "`sm_130: code, parameters taken from sm_120`" in (GUIDE / "add-an-sm.md").read_text("utf-8")


def patched(folder: Path) -> Path:
    """A copy of the source, with what is compiled of it, and with every patch of the guide."""
    for name in ("sassan", "grammars"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
    for page in sorted(GUIDE.glob("add-*.md")):
        for patch in blocks(page, "diff"):
            command = ["git", "apply", "-"]
            done = subprocess.run(command, cwd=folder, input=patch, text=True, capture_output=True, check=False, env=os.environ | {"GIT_DIR": "/dev/null"})
            assert done.returncode == 0, (page.name, done.stderr)
    return folder


@pytest.mark.slow
def test_the_patches_of_the_guide_apply_and_what_they_add_works(tmp_path: Path):
    copy = patched(tmp_path / "copy")
    further = tmp_path / "further"
    (further / "opcodes").mkdir(parents=True)
    sm, table = blocks(GUIDE / "add-an-opcode.md", "toml")
    (further / "sm_130.toml").write_text(sm, "utf-8")
    (further / "opcodes" / "trial.toml").write_text(table, "utf-8")
    path = os.pathsep.join((str(copy), str(ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": path, "SASSAN_ARCHITECTURES": str(further), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", USES, str(copy), str(BFS)]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^bfs_step +sm_61 .* 1359$", done.stdout, re.MULTILINE), "the model of the guide"
    assert "no instruction waits for a barrier or a unit" in done.stdout
    assert re.search(r"^sha256:[0-9a-f]{64}  bfs_step$", done.stdout, re.MULTILINE), "the command of the guide"
    assert "bound 4\n" in done.stdout, "the opcode of the guide"


def test_each_page_of_the_guide_has_its_patch():
    assert {page.stem for page in GUIDE.glob("add-*.md") if blocks(page, "diff") or blocks(page, "toml")} >= {
        "add-an-sm",
        "add-an-opcode",
        "add-a-cost-model",
        "add-a-command",
    }
