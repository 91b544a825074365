"""`scripts/experiments`: the schedules that the papers print (the curves need an optional extra: drawn by hand), and the table of times."""

import csv
import shutil
import sys
from pathlib import Path

import pytest

from cli.shell import ROOT
from sassan.makespan.engines import load

pytestmark = pytest.mark.slow


@pytest.fixture
def schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """Run the part of the experiment that draws schedules; return its table by figure."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import makespan_schedules  # noqa: PLC0415

    makespan_schedules.figures(tmp_path, load("exact"))
    assert len(list(tmp_path.glob("*.svg"))) == 12
    with (tmp_path / "schedules.csv").open(encoding="utf-8") as file:
        return {row["figure"]: row for row in csv.DictReader(file)}


def test_the_schedules_of_the_papers_are_made_again_and_judged(schedules: dict[str, dict[str, str]]):
    assert {name: (row["slots"], row["longest possible"], row["validator"].partition(":")[0]) for name, row in schedules.items()} == {
        "2011-figure-2": ("9", "9", "accepted"),
        "2013-figure-2": ("8", "9", "accepted"),
        "2013-figure-3": ("9", "9", "refused"),
        "2013-figure-5": ("9", "9", "accepted"),
        "2013-figure-6": ("8", "8", "accepted"),
        "2013-figure-7": ("8", "8", "accepted"),
    }


def test_the_suite_of_the_benchmark_has_its_instances(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib.makespan_suite import suite  # noqa: PLC0415

    names = [case.name for case in suite()]
    assert len(names) == len(set(names)) == 83


def test_the_table_of_times_has_every_model_and_what_dominates_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import times_experiment  # noqa: PLC0415

    for arch in ("sm_61", "sm_80"):
        (tmp_path / arch).mkdir()
        for tool in ("cuobjdump", "nvdisasm"):
            for name in ("saxpy", "nested_if"):
                shutil.copy(ROOT / "samples" / arch / f"{name}.{tool}.sass", tmp_path / arch)
    assert times_experiment.run(tmp_path, tmp_path / "times.csv", 10, {}) == 0
    with (tmp_path / "times.csv").open(encoding="utf-8") as file:
        result = {(row["kernel"], row["arch"]): row for row in csv.DictReader(file)}
    assert [result["saxpy", "sm_61"][key] for key in ("unit", "table", "control", "gaps")] == ["22", "1330", "775", ""]
    assert [result["nested_if", "sm_80"][key] for key in ("unit", "table", "control", "gaps")] == ["121", "10611", "9436", ""]
