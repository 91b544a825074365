"""Pages of the reference that are made from data of the package are those that it makes today (`scripts/docs --reference`)."""

import sys
from importlib import import_module

import pytest

from cli.shell import ROOT

MADE_FROM_DATA = ("architectures", "error-codes", "gpus", "json")
"""The others hold signatures and help, whose form depends on the versions of Python and of libraries."""


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_FROM_DATA)
def test_a_page_that_is_made_from_data_is_that_of_today(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts" / "_lib"), *sys.path])
    page = f"reference/{name}.md"
    assert (ROOT / "docs" / page).read_text("utf-8") == import_module("reference").pages()[page], "run scripts/docs --reference"


def test_the_schemas_are_those_of_the_fields_of_today(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts" / "_lib"), *sys.path])
    made = {name: text for name, text in import_module("json_page").pages("").items() if name.endswith(".json")}
    assert {path.name for path in (ROOT / "docs" / "reference" / "schema").iterdir()} == {name.rpartition("/")[2] for name in made}
    for name, text in made.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == text, "run scripts/docs --reference"
