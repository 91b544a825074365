"""Pages of the reference that are made from data of the package are those that it makes today (`scripts/docs --reference`)."""

import sys
from importlib import import_module

import pytest

from cli.shell import ROOT

MADE_FROM_DATA = ("architectures", "error-codes", "gpus", "json")
"""The others hold signatures and help, whose form depends on the versions of Python and of libraries."""


@pytest.mark.parametrize("name", MADE_FROM_DATA)
def test_a_page_that_is_made_from_data_is_that_of_today(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts" / "_lib"), *sys.path])
    page = f"reference/{name}.md"
    assert (ROOT / "docs" / page).read_text("utf-8") == import_module("reference").pages()[page], "run scripts/docs --reference"
