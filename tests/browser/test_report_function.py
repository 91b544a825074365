"""The page of one function in a browser: gaps, assumptions, numbers, the listing of a block, schedules; hostile texts; paper."""

import re
from pathlib import Path
from typing import Any

import pytest

from budget import some, whole
from report_pages import BFS, EVIL, GAPS, HOSTILE, Opened, documented, function, needs_browser, opened, show
from sassan.app import documents
from sassan.app.settings import Settings
from sassan.machine.launch import LaunchConfiguration
from sassan.render.html.page import Page, html

pytestmark = needs_browser
WIDTHS = (1260, 1300, 1366, 1440)
"""Of windows, in pixels."""
ESTIMATE = {
    "us": 1.0,
    "cycles": 1400.0,
    "gpu": "GTX 1080",
    "bound_by": "issue",
    "occupancy": 1.0,
    "assumed": 0.0,
    "counts": "those of the test",
    "shares": {"issue": 1.0},
    "timeline": {"width": 4, "blocks": 2, "busy": {"scheduler 1": [0.5, 1.0, 0.0], "fma": [0.0, 0.0, 0.001]}, "warps": [1, 2, 0]},
    "assumptions": [],
    "assumption_kinds": [],
}


@whole("how a page looks at one more size or key")
def test_a_line_counts_the_assumptions_and_a_click_shows_all(report: Opened):
    show(report, BFS)
    line = report.page.locator(".assumptions summary")
    assert re.match(r"\d+ assumptions, \d+ assumed: every instruction takes one cycle", line.inner_text())
    assert line.bounding_box()["height"] < 30
    assert report.page.locator(".frame-graph").bounding_box()["y"] < 450
    assert report.page.locator(".assumptions li:visible").count() == 0
    line.click()
    assert report.page.locator(".assumptions li:visible").count() == int(line.inner_text().split()[0])


def test_a_click_shows_a_function_and_its_assumptions_above_its_graph(report: Opened):
    show(report, BFS)
    assert report.text("main h2") == "bfs_step"
    assert report.text(".tile.main strong") == "296"
    places = [report.page.locator(one).bounding_box()["y"] for one in (".assumptions", ".graph", ".loops", ".makespan")]
    assert places == sorted(places)
    assert "every instruction takes one cycle (unit cost)" in report.text(".assumptions")


def test_gaps_stand_above_the_numbers_and_lead_to_their_block(report: Opened):
    show(report, GAPS)
    assert report.page.locator(".panel.gaps").bounding_box()["y"] < report.page.locator(".tiles").bounding_box()["y"]
    assert report.text(".tile.bad strong") == "no bound"
    report.page.click(".panel.gaps button.link")
    assert report.focused == "block-n0138"
    assert "gap indirect-branch" in report.text("#block")


def test_a_click_on_a_block_shows_its_listing_with_control_codes_and_agreement(report: Opened):
    show(report, BFS)
    report.page.click("#block-n0068")
    assert report.text("#block h3").startswith("Block 0x0068 \u2013 0x00b8")
    heads = report.page.locator("#block th").all_inner_texts()
    assert heads == ["address", "st", "y", "w", "r", "waits", "reuse", "unit", "", "live", "instruction"]
    first = report.page.locator("#block tbody tr").first.locator("td").all_inner_texts()
    assert first[0] == "0068"
    assert first[8] == "C"
    assert first[9].isdigit()
    assert "R1" in report.page.locator("#block .register").all_inner_texts()
    assert report.page.url.endswith("#k0/n0068")


def test_a_schedule_and_the_convergence_are_drawn(report: Opened):
    show(report, BFS)
    report.page.wait_for_selector(".band .mark")  # it is drawn once the page knows how wide the window is
    assert report.page.locator(".band .mark").all_text_contents() == ["L", "C", ".", "L", "C"]
    # One warp runs, then two, then one.
    heights = [float(y) for y in re.findall(r"V([\d.]+)H", report.attribute(".band .running", "d"))]
    assert heights == [max(heights), min(heights), max(heights)]
    assert report.attribute(".curve", "aria-label") == (
        "convergence: upper bound (dashed) and longest schedule (solid) in slots, over 0.30 seconds"
    )
    assert "longest makespan: 3 slots, exact" in report.text(".makespan")


def test_loops_say_their_bound_and_where_it_is_from(report: Opened):
    show(report, BFS)
    assert report.page.locator(".loops th").all_inner_texts() == ["head", "bound", "source"], "no column is empty"
    assert report.page.locator(".loops tbody td").all_inner_texts()[:3] == ["0x0158", "10", "--loop-bound"]


def test_hostile_names_and_texts_are_shown_and_do_nothing(report: Opened):
    show(report, HOSTILE)
    assert report.text("main h2") == EVIL.replace("\u202e", "\\u202e")
    assert "<img src=x" in report.page.locator("#block td").last.inner_text()
    assert report.page.locator("img").count() == 0
    assert report.page.title() != "owned"
    assert report.page.evaluate("document.scripts.length") == 5


@whole("how a page looks at one more size or key")
def test_on_paper_there_is_the_function_and_no_tool(report: Opened):
    show(report, GAPS)
    report.page.emulate_media(media="print", color_scheme="dark")
    seen = {one: report.page.locator(one).first.is_visible() for one in ("#side", ".tools", "#theme", ".panel.gaps", ".drawing", "#block")}
    assert seen == {"#side": False, ".tools": False, "#theme": False, ".panel.gaps": True, ".drawing": True, "#block": True}
    assert report.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert report.page.evaluate("getComputedStyle(document.querySelector('.stage')).transform") == "none"


@pytest.mark.parametrize("at", some([BFS, GAPS, HOSTILE], of=3))
def test_a_narrow_window_is_not_scrolled_sideways(report: Opened, at: int):
    report.page.set_viewport_size({"width": 360, "height": 740})
    show(report, at)
    assert report.page.evaluate("document.documentElement.scrollWidth") == 360


def test_one_function_is_shown_at_once(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    one = opened(chromium, tmp_path / "one.html", html(Page("one", documents.tool(), functions[:1])))
    one.page.wait_for_selector(".drawing .block")
    assert one.text("main h2") == "bfs_step"
    assert not one.page.locator("#side").is_visible()
    one.close()


@whole("how a page looks at one more size or key")
def test_a_listing_with_every_column_is_not_cut(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    graph = functions[BFS]["graph"]
    rows = [{**row, "source": "/x/multiply.cu:123", "transactions": "<=32/4", "waste": "", "pattern": ""} for row in graph["rows"]]
    stalls = [{"address": f"0x{row['address']}", "reason": "barrier", "share": 0.015} for row in rows]
    full = {**functions[BFS], "graph": {**graph, "rows": rows}, "estimate": {**ESTIMATE, "stalls": stalls}}
    page = opened(chromium, tmp_path / "full.html", html(Page("full", documents.tool(), [full])))
    page.page.wait_for_selector("#block table")
    assert page.page.locator("#block table.listing th").all_inner_texts()[-5:] == ["trans.", "live", "time", "line", "instruction"]
    for width in WIDTHS:
        page.page.set_viewport_size({"width": width, "height": 900})
        assert page.page.evaluate("document.querySelector('#block').scrollWidth - document.querySelector('#block').clientWidth") == 0
    page.close()


@whole("how a page looks at one more size or key")
def test_a_source_line_stands_on_one_line(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    graph = functions[BFS]["graph"]
    rows = [{**row, "source": f"/x/{'tiled-multiply' if at % 2 else 'helper_functions'}.cuh:{at}"} for at, row in enumerate(graph["rows"])]
    full = {**functions[BFS], "graph": {**graph, "rows": rows}}
    page = opened(chromium, tmp_path / "lines.html", html(Page("lines", documents.tool(), [full])))
    page.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.page.wait_for_selector("#block table")
    lines = """[...document.querySelectorAll("#block table.listing td:nth-last-child(2)")].map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return [/:\\d+$/.test(cell.textContent), text.getClientRects().length];
    })"""
    assert {tuple(each) for each in page.page.evaluate(lines)} == {(True, 1)}
    page.close()


@whole("how a page looks at one more size or key")
def test_the_listing_of_a_block_is_not_cut(report: Opened):
    show(report, BFS)
    widths = "[...document.querySelectorAll('#block, #block table')].map((one) => one.scrollWidth - one.clientWidth)"
    cut = """document.querySelector("#block td:last-child").getBoundingClientRect().right
        > document.querySelector("#block").getBoundingClientRect().right"""
    for width in WIDTHS:
        report.page.set_viewport_size({"width": width, "height": 900})
        assert report.page.evaluate(widths) == [0, 0]
        assert not report.page.evaluate(cut)


def test_the_listing_of_a_launch_has_the_transactions_of_memory(chromium: Any, tmp_path: Path):
    settings = Settings(loop_bound=10, launch=LaunchConfiguration((256, 1, 1)))
    page = opened(
        chromium,
        tmp_path / "launch.html",
        html(Page("launch", documents.tool(), [documented(function("saxpy"), "saxpy.sass", settings)], [])),
    )
    page.page.click(".drawing .block >> nth=-1")
    heads = page.page.locator("#block table.listing th").all_inner_texts()
    assert "trans." in heads
    wasting = page.page.locator("#block table.listing b.gap")
    assert wasting.first.inner_text() == "<=5/4"
    assert wasting.first.get_attribute("title") == "global misaligned\nmay begin inside a sector: at most 5 sectors where 4 suffice"
    page.close()


@whole("how a page looks at one more size or key")
def test_a_listing_too_wide_for_its_place_is_scrolled_where_its_bar_is_seen(report: Opened):
    report.page.set_viewport_size({"width": 1300, "height": 900})
    show(report, BFS)
    wide = """() => {
        const block = document.querySelector("#block");
        block.querySelector("td:last-child").style.minWidth = "40rem";
        const how = [block, block.querySelector(".scroll")].map((one) => getComputedStyle(one).overflowX);
        return [block.scrollWidth > block.clientWidth, ...how];
    }"""
    assert report.page.evaluate(wide) == [True, "auto", "visible"]


@whole("how a page looks at one more size or key")
def test_no_card_cuts_its_number(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    large = {**functions[BFS], "wcet": {**functions[BFS]["wcet"], "value": 123_456_789_012_345}}
    one = opened(chromium, tmp_path / "large.html", html(Page("large", documents.tool(), [large])))
    one.page.wait_for_selector(".tile")
    for width in (3000, 1400, 500):
        one.page.set_viewport_size({"width": width, "height": 900})
        cut = "[...document.querySelectorAll('.tile, .tile *')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert one.page.evaluate(cut) == 0
    one.close()
