"""Python 3.11.0 to 3.11.4 lose matches of possessive and atomic groups (python/cpython#106052): every listing was refused there."""

import re
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).resolve().parents[2] / "sassan").rglob("*.py"))
PATTERN = re.compile(r'^\s*(?:\w+ = re\.compile\()?r[fb]?".*(?:(?<!\\)\)[*+?]\+|\(\?>)', re.MULTILINE)


@pytest.mark.parametrize("text", ['    r"(?:ab?)*+"', 'X = re.compile(r"(?>a)")', '    r"(a)?+b"'])
def test_the_search_finds_them(text: str):
    assert PATTERN.search(text)


@pytest.mark.parametrize("text", ['    r"[ab]*+c"', '    r"(?:ab?)*"', r'    r"\)++"'])
def test_the_search_finds_nothing_else(text: str):
    assert not PATTERN.search(text)


def test_no_pattern_has_a_possessive_group():
    assert len(SOURCES) > 100
    assert [path.name for path in SOURCES if PATTERN.search(path.read_text("utf-8"))] == []
