"""A new user's sequence: three launches of one program, a deadline, one page, and the gate that fails when the grid grows."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan
from cli.test_launches import launch
from cli.test_report_page import head
from edits import edited
from sassan.app.builds.gates import GateRule

pytestmark = [pytest.mark.slow, pytest.mark.skipif("max-total-us" not in list(GateRule), reason="no gate holds the time of all launches")]

PROJECT = """files = ["mandelbrot.sass"]
launches = "launches.toml"
gpu = "GTX 1080"
[check]
max-total-us = 15
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    edited(SAMPLES / "sm_61" / "mandelbrot.nvdisasm.sass", tmp_path / "mandelbrot.sass")
    (tmp_path / "sassan.toml").write_text(PROJECT, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_launches_a_deadline_one_page_and_the_gate_that_fails_when_the_grid_grows(sassan: Sassan, folder: Path):
    def sums(grid: int) -> tuple[float, float, int]:
        (folder / "launches.toml").write_text(launch(9) + launch(9, grid=grid) + launch(2), "utf-8")
        shown = head(sassan("report", "-o", "-").out)["sequence"]
        assert {each["kind"] for each in shown["assumptions"]} == {"assumed", "published", "checked"}
        assert shown["us"] == pytest.approx(sum(row["us"] for row in shown["launches"]))
        return round(shown["us"], 2), shown["deadline_us"], sassan("check").status

    assert sums(8) == (13.6, 15, 0)
    assert sums(800) == (21.57, 15, 1)
    assert "max-total-us" in sassan("check").out
