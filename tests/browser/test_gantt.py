"""Gantt charts: the overview and the zoom of a report, and a drawing that librsvg shows as a browser does."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from budget import PATIENCE
from report_pages import needs_browser
from sassan.cli import main
from sassan.render.gantt import Chart
from sassan.render.gantt_svg import svg

pytestmark = needs_browser
BFS = Path(__file__).resolve().parents[2] / "samples" / "sm_61" / "bfs_step.cuobjdump.sass"


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1600, "height": 1000})
    page.set_default_timeout(20_000)
    yield page
    page.close()


def test_a_click_in_the_overview_shows_that_part_at_any_zoom(page: Any, tmp_path: Path):
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    assert main.run(["report", str(BFS), "--loop-bound", "2", "-W", "24", "-o", str(tmp_path / "r.html"), "-q"]) == 0
    page.goto((tmp_path / "r.html").as_uri())
    strip, lens = page.locator(".overview"), page.locator(".lens")
    slots = int(strip.get_attribute("aria-valuemax"))
    assert strip.locator(".cell").count() > 64
    assert lens.get_by_label("zoom into the schedule").is_visible()  # before any click
    assert int(strip.get_attribute("aria-valuenow")) == 1
    strip.click()  # in its middle

    def shown() -> int:
        return int(float(strip.locator(".window").get_attribute("width")))

    first, wide = int(strip.get_attribute("aria-valuenow")), shown()
    assert abs(first + wide / 2 - slots / 2) < slots / 50
    assert lens.locator(".mark").count() > 0
    lens.get_by_label("zoom out of the schedule").click()
    assert 1.8 * wide < shown() < 2.2 * wide
    assert lens.locator(".mark").count() == 0  # too narrow for letters
    lens.get_by_label("zoom into the schedule").click()
    assert shown() == wide
    strip.focus()
    page.keyboard.press("ArrowRight")
    assert first < int(strip.get_attribute("aria-valuenow")) <= first + wide
    assert page.locator(".gantt > .band").count() == 0
    page.get_by_text(f"Show all {slots:,} slots below each other").click()
    assert page.locator(".gantt > .band").count() > 1
    assert said == []


def test_librsvg_shows_a_chart_as_a_browser_does(page: Any, tmp_path: Path):
    program = shutil.which("rsvg-convert")
    if program is None:
        pytest.skip("librsvg is not installed")
    chart, by_librsvg, by_browser = (tmp_path / name for name in ("x.svg", "rsvg.png", "browser.png"))
    rows = tuple("." * warp + "LCCS" * 20 + "~" * (warp % 5) + "C" for warp in range(64))
    slots = max(map(len, rows))
    chart.write_text(svg(Chart(tuple(row.ljust(slots) for row in rows), slots)), "utf-8")
    subprocess.run([program, str(chart), "-o", str(by_librsvg)], check=True, timeout=PATIENCE)
    page.goto(chart.as_uri())
    page.screenshot(path=str(by_browser))
    left, right = (plt.imread(path)[:, :, :3] for path in (by_librsvg, by_browser))
    height, width = (min(sizes) for sizes in zip(left.shape[:2], right.shape[:2], strict=True))
    assert min(height, width) > 500
    differs = np.abs(left[:height, :width] - right[:height, :width]).max(axis=2) > 0.5
    assert differs.mean() < 0.01
