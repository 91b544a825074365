"""The page of bounds against silicon shows the figures of the last run: `scripts/docs --reference` writes it."""

import csv
import re
import tomllib
from pathlib import Path

import pytest

from docs.pages import DOCS, ROOT
from scripted import scripted

silicon_page = scripted("silicon_page")


def test_the_page_is_that_of_the_figures():
    text = (DOCS / "reference" / "silicon.md").read_text("utf-8")
    assert text == silicon_page.page(f"{text.splitlines()[2]}\n")


def test_other_pages_quote_its_figures():
    with silicon_page.BOUNDS.open(encoding="utf-8", newline="") as file:
        rows = {row["source"]: row for row in csv.DictReader(file) if row["model"] == "control"}
    bounded = sum(round(int(row["n"]) * float(row["bounded_share"])) for source, row in rows.items() if ", " not in source)
    assert {int(row["below"]) for row in rows.values()} == {0}
    assert f"[none of {bounded}](docs/reference/silicon.md) recorded launches took longer" in (ROOT / "README.md").read_text("utf-8")
    median = float(rows["programs"]["ratio_median"])
    assert f"with them it is {median:.2f} times the measured time" in (DOCS / "proofs/gpu-memory.md").read_text("utf-8")


def test_the_figures_say_of_which_code_they_are():
    made = tomllib.loads(scripted("silicon_experiment").made_with())
    assert re.fullmatch(r"[0-9a-f]{7,}\+?", made["commit"])


def test_new_figures_make_another_page_and_predictions_have_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = scripted("silicon_rows")
    measured = {"block": "256", "grid": "4", "registers": 8, "measured_us": 1.0, "measured_cycles": 100.0, "gaps": ""}
    figures = {"bound_cycles": 90, "estimate_cycles": 110.0, "roofline_cycles": 50.0}
    some = [rows.Row(source="one", model="control", name="k", **measured, **figures)]
    rows.write(rows.summaries(some), tmp_path / "silicon.csv")
    rows.write(rows.judgements(some, frozenset()), tmp_path / "silicon_predictions.csv")
    monkeypatch.setattr(silicon_page, "BOUNDS", tmp_path / "silicon.csv")
    monkeypatch.setattr(silicon_page, "PREDICTIONS", tmp_path / "silicon_predictions.csv")
    page = silicon_page.page("")
    assert "1 of 1 measurements have a bound, and 1 refute it" in page
    assert "| one | control | 1 | 100% | 0.90 | 0.90 | 0.90 | 0.90 | 1 | - |" in page
    assert "| one | control | estimate | 1 | 10% | 1.10 | 100% | - | - | - |" in page
    assert "before bounds held for the memory" not in page
