"""The site is built from the pages, strictly and without a network."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from budget import PATIENCE
from cli.shell import ROOT
from docs.pages import DOCS


def test_every_page_has_its_place_in_the_site():
    # A plain reading of the file: the extra `docs` is not needed.
    listed = {line.rsplit(" ", 1)[-1] for line in (ROOT / "mkdocs.yml").read_text("utf-8").splitlines() if line.endswith(".md")}
    assert listed == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra 'docs' is not installed")
def test_the_site_is_built_with_search_and_loads_nothing_from_elsewhere(tmp_path: Path):
    code = "import sys; sys.path.insert(0, 'scripts/_lib'); import site_build; from pathlib import Path; sys.exit(not site_build.build(Path(sys.argv[1])))"
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE, env=os.environ | {"NO_COLOR": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "search" / "search_index.json").is_file()
    page = (tmp_path / "site" / "reference" / "gap-codes.html").read_text("utf-8")
    assert 'src="http' not in page
    assert "fonts.googleapis" not in page
