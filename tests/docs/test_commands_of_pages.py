"""Every command that a page shows prints what the page shows."""

import re
import shlex
from pathlib import Path

import pytest

from cli.shell import ROOT, Sassan
from docs.pages import blocks, markdown
from integrations.tutorial import PAGE as TUTORIAL
from integrations.tutorial import matches
from sassan.cli.group import SUMMARIES, command
from sassan.frontend.cubin.tools import tools

PAGES = [page for page in markdown() if page != TUTORIAL]
SHOWN = [
    pytest.param(command, shown, id=f"{page.stem}: {command[:60]}", marks=[pytest.mark.slow] if ".cubin" in command else [])
    for page in PAGES
    for block in blocks(page, "console")
    for command, shown in re.findall(r"^\$ sassan (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def test_guides_show_commands():
    assert len(SHOWN) >= 10


@pytest.mark.parametrize(("line", "shown"), SHOWN)
def test_a_command_prints_what_its_page_shows(line: str, shown: str, sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    if ".cubin" in line and not tools("nvdisasm"):
        pytest.skip("no nvdisasm is installed")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    status = int(found.group(1)) if (found := re.search(r"^status (\d+)\n\Z", shown, re.MULTILINE)) else 0
    result = sassan(*shlex.split(line))
    assert result.status == status, result.err
    assert matches(re.sub(r"^status \d+\n\Z", "", shown, flags=re.MULTILINE), result.out), result.out


def mentioned(page: Path) -> list[list[str]]:
    """The words of every `sassan COMMAND …` that a page mentions in a span or a block."""
    text = page.read_text("utf-8")
    spans = re.findall(r"`(sassan [a-z][^`\n]*)`", text) + re.findall(r"^(?:\$ |    |  )?(?:[A-Z_]+=\S+ |cuobjdump .* \| )?(sassan [a-z-]+ .*)$", text, re.MULTILINE)
    return [re.split(r"\s+", span.partition("  #")[0])[1:] for span in spans]


@pytest.mark.parametrize("page", [page for page in markdown() if page.name != "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_that_a_page_mentions_is_there_with_its_options(page: Path):
    wrong = []
    for first, *rest in mentioned(page):
        name, *words = rest if first == "experiment" and rest and rest[0] in SUMMARIES else (first, *rest)
        known = {option for parameter in command(name).params for option in parameter.opts} | {"-h", "--help"} if name in SUMMARIES else set()
        options = [re.sub(r"[=,.;:)]+.*$", "", word) for word in words[: words.index("--") if "--" in words else None] if re.match(r"--?[A-Za-z]", word)]
        if name not in SUMMARIES and not (page.parent.name == "developer" and name == "hashes"):
            wrong.append(name)
        wrong += [f"{name} {option}" for option in options if name in SUMMARIES and option not in known]
    assert wrong == []
