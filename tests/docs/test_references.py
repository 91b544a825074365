"""Every link of a page, and every page, section, proof, picture and paper that code or documentation names, is there."""

import os
import re
from pathlib import Path

import pytest

from docs.pages import DOCS, ROOT, anchors, headings, markdown, prose, sources, tracked

_LINK = re.compile(r"""(?:\]\(|src=")([^)"\s]+)""")
_PAGE = re.compile(r"(?<![\w/.-])((?:\.\./)*[\w-][\w./-]*\.md)\b(?:, \"([^\"]+)\")?")
_PAPER = re.compile(r"\b([A-Z][a-z]+(?:[- ]?[A-Z][a-z]+)?)(?: et al\.?| and [A-Z][a-z]+),? \(?((?:19|20)\d\d)\b")
_MODULE = re.compile(r"(?<![\w./-])((?:[\w-]+/)*[\w-]+\.py)\b")
_OF_USERS = {"train.py"}
_WRITTEN_BY_TESTS = {"summary.md", "X.md", "OLD.md"}


def fits(page: Path, anchor: str) -> bool:
    return not anchor or page.suffix != ".md" or anchor in anchors(page)


@pytest.mark.parametrize("page", markdown(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path):
    dangling = []
    for link in _LINK.findall(prose(page.read_text("utf-8"))):
        target, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        file = Path(os.path.normpath(page.parent / target)) if target else page
        if not file.exists() or not file.is_relative_to(ROOT) or not fits(file, anchor):
            dangling.append(link)
    assert dangling == []


def page_of(place: Path, name: str) -> Path | None:
    folders = (place.parent, place.parent.parent, ROOT, ROOT / "sassan", DOCS, DOCS / "reference", DOCS / "developer")
    return next((file for folder in folders if (file := folder / name).is_file()), None)


def test_every_page_and_section_that_code_or_a_page_names_is_there():
    named = [*sources(), *((page, _LINK.sub("", page.read_text("utf-8"))) for page in markdown() if page.name != "CHANGELOG.md")]
    dangling = []
    for place, text in named:
        for name, section in _PAGE.findall(text) if ".md" in text else ():
            if name in _WRITTEN_BY_TESTS:
                continue
            page = page_of(place, name)
            known = page is not None and (not section or section in headings(page) or f"**{section}" in page.read_text("utf-8"))
            if not known:
                dangling.append((place.relative_to(ROOT).as_posix(), name, section))
    assert dangling == []


def test_every_paper_that_is_cited_stands_in_the_bibliography():
    known = (DOCS / "bibliography.md").read_text("utf-8")
    lines = known.split("\n* ")
    cited = {found for _, text in sources() for found in _PAPER.findall(text)}
    cited |= {found for page in markdown() if page.name != "CHANGELOG.md" for found in _PAPER.findall(page.read_text("utf-8"))}
    assert len(cited) > 10
    assert sorted(f"{name} {year}" for name, year in cited if not any(name in line and year in line for line in lines)) == []


def test_a_proof_has_the_number_that_is_cited():
    numbers = {page.name: found.group(1) for page in (DOCS / "proofs").glob("*.md") if (found := re.match(r"# Proof (\d+):", page.read_text("utf-8")))}
    assert sorted(map(int, numbers.values())) == [number + 1 for number in range(len(numbers))]
    cited = [found for page in markdown() for found in re.findall(r"\[Proof (\d+)\]\([^)]*?([\w-]+\.md)", page.read_text("utf-8"))]
    assert len(cited) > 5
    assert [one for one in cited if numbers.get(one[1]) != one[0]] == []
    table = dict(re.findall(r"^\| (\d+) \| \[[^\]]*\]\(([\w-]+\.md)\)", (DOCS / "proofs" / "README.md").read_text("utf-8"), re.MULTILINE))
    assert {page: number for number, page in table.items()} == numbers


def test_the_code_and_the_tests_behind_a_proof_are_there_and_the_code_cites_it():
    rows = re.findall(r"^\| \d+ \| \[[^\]]*\]\(([\w-]+\.md)\) \| (.*) \| (.*) \|$", (DOCS / "proofs" / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 5
    for proof, code, tests in rows:
        for path in re.findall(r"`([^`]+)`", code + tests):
            assert (ROOT / path).exists(), path
        for path in re.findall(r"`([^`]+)`", code):
            assert f"docs/proofs/{proof}" in (ROOT / path).read_text("utf-8"), (path, proof)


def test_every_file_that_a_page_names_is_there():
    named = {
        (page.relative_to(ROOT).as_posix(), path)
        for page in markdown()
        if page.name != "CHANGELOG.md"
        for path in re.findall(r"`((?:sassan|samples|scripts|tests|grammars)/[\w./-]*)`", page.read_text("utf-8"))
    }
    assert len(named) > 40
    assert sorted(one for one in named if not (ROOT / one[1]).exists() and not re.search("NN|NAME", one[1])) == []


def test_every_module_that_a_page_or_the_code_names_is_there():
    known = {"/".join(path.parts[first:]) for path in (path.relative_to(ROOT) for path in tracked()) for first in range(len(path.parts))}
    texts = [(page, prose(page.read_text("utf-8"))) for page in markdown() if page.name != "CHANGELOG.md"]
    texts += [one for one in sources() if one[0].suffix == ".py" and "tests" not in one[0].relative_to(ROOT).parts]
    named = {(place.relative_to(ROOT).as_posix(), name) for place, text in texts for line in text.splitlines() if ".py" in line for name in _MODULE.findall(line)}
    assert len(named) > 200
    assert sorted(one for one in named if one[1] not in known | _OF_USERS and "NAME" not in one[1]) == []
