"""The report of several functions in a browser: their list, search and order; inputs that were refused; keys and themes."""

from pathlib import Path
from typing import Any

from budget import whole
from report_pages import BFS, EVIL, GAPS, HOSTILE, Opened, needs_browser, opened, show
from sassan.app import documents
from sassan.render.html.page import Page, html

pytestmark = needs_browser


def test_the_overview_lists_every_function_with_its_bound(report: Opened):
    rows = report.page.locator("#all tbody tr").all_inner_texts()
    assert len(rows) == 3
    assert rows[0].split()[:3] == ["bfs_step", "sm_61", "56"]
    assert "none" in rows[1].split("\t")


def test_what_was_refused_and_what_has_gaps_stands_above_everything(report: Opened):
    titles = report.page.locator("main h3").all_inner_texts()
    assert titles[:2] == [
        "1 input refused, and not analyzed",
        "1 of 3 functions with gaps: these have no bound",
    ]
    assert "broken.sass unknown-input: the input is no listing" in report.text("main .gaps")


def test_a_slash_searches_enter_opens_and_escape_clears(report: Opened):
    report.page.keyboard.press("/")
    assert report.focused == "search"
    report.page.keyboard.type("sm_61 INDIRECT")
    assert report.text("#count") == "1 of 3 functions"
    assert len(report.page.locator("#all tbody tr").all()) == 1
    report.page.keyboard.press("Enter")
    report.page.wait_for_selector(".drawing")
    assert report.text("main h2") == "continue_from_inner"
    report.page.keyboard.press("Escape")
    assert report.text("#count") == "3 functions"


@whole("how a page looks at one more size or key")
def test_the_list_is_used_with_the_arrow_keys(report: Opened):
    report.page.locator("#list").focus()
    report.page.keyboard.press("Home")
    report.page.keyboard.press("ArrowDown")
    assert report.attribute("#list", "aria-activedescendant") == "option-1"
    report.page.keyboard.press("Enter")
    report.page.wait_for_selector("#option-1[aria-selected=true]")
    assert report.text("main h2") == "continue_from_inner"


@whole("how a page looks at one more size or key")
def test_functions_are_sorted_by_a_click_on_a_column(report: Opened):
    report.page.click("#all th:has-text('instructions') button")
    assert [text.split("\t")[2] for text in report.page.locator("#all tbody tr").all_inner_texts()] == ["142", "56", "22"]
    assert report.attribute("#all th:nth-child(3)", "aria-sort") == "descending"
    report.page.keyboard.press("Enter")
    assert report.attribute("#all th:nth-child(3)", "aria-sort") == "ascending"
    report.page.select_option("#sort", "input")


@whole("how a page looks at one more size or key")
def test_the_theme_follows_the_system_and_can_be_turned(report: Opened):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = report.page.evaluate(colour)
    report.page.emulate_media(color_scheme="dark")
    dark = report.page.evaluate(colour)
    report.page.click("#theme")
    assert (light, dark, report.page.evaluate(colour)) == ("rgb(244, 245, 247)", "rgb(17, 21, 26)", "rgb(244, 245, 247)")
    report.page.keyboard.press("t")


def test_everything_that_can_be_pressed_has_a_name(report: Opened):
    show(report, BFS)
    unnamed = """[...document.querySelectorAll("button, [role=button], input, select, [role=listbox]")]
        .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)).length"""
    assert report.page.evaluate(unnamed) == 0


@whole("how a page looks at one more size or key")
def test_the_keys_are_listed(report: Opened):
    report.page.keyboard.press("?")
    assert "search functions" in report.text("#keys")
    report.page.keyboard.press("Escape")
    assert report.page.locator("#keys").is_hidden()


CHOSEN = 1297
"""The only one of many functions whose graph is there."""


def test_two_thousand_functions_open_in_one_page_with_rows_for_what_is_seen(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    bare = {**functions[HOSTILE], "search": None, "graph": {**functions[HOSTILE]["graph"], "rows": [], "blocks": [], "edges": []}}
    many = [{**(functions[HOSTILE] if at == CHOSEN else bare), "name": f"kernel_{at}", "file": "k.sass"} for at in range(2000)]
    one = opened(chromium, tmp_path / "many.html", html(Page("many", documents.tool(), many)))
    assert one.text("#count") == "2,000 functions"
    assert one.page.locator("#list [role=option]").count() < 100
    one.page.fill("#search", f"kernel_{CHOSEN}")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector(".drawing .block")
    assert one.text("main h2") == f"kernel_{CHOSEN}"
    assert [url for url in one.asked if not url.startswith("file:")] == []
    one.close()


def test_where_nothing_was_read_the_page_says_so(chromium: Any, tmp_path: Path):
    refused = [{"file": "broken.sass", "code": "unknown-input", "message": "the input is no listing", "hint": None}]
    one = opened(chromium, tmp_path / "none.html", html(Page("none", documents.tool(), [], refused)))
    assert one.text("main h3") == "1 input refused, and not analyzed"
    assert one.page.locator(".tile").all_inner_texts() == ["functions\n0\nnothing was analyzed"]
    assert one.page.locator(".good").count() == 0
    one.page.keyboard.press("j")
    assert one.said == []
    one.close()


def test_functions_of_one_name_say_from_which_file_they_are(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    one, other = functions[BFS], functions[GAPS]
    several = [{**one, "file": "d1/k.sass"}, {**one, "file": "d2/k.sass"}, {**one, "file": f"{EVIL}/k.sass"}, other]
    page = opened(chromium, tmp_path / "alike.html", html(Page("alike", documents.tool(), several)))
    ends = ["d1/k.sass", "d2/k.sass", f"{EVIL.rpartition('/')[2]}/k.sass".replace("\u202e", "\\u202e")]
    assert page.page.locator("#list .where").all_inner_texts() == ends
    assert page.page.locator("#all .where").all_inner_texts() == ends
    assert page.text("#all tbody tr:nth-child(2) td") == "bfs_step\nd2/k.sass"
    assert page.text(".tile:last-child small") == "bfs_step (d1/k.sass)"
    assert page.said == []
    page.close()


@whole("how a page looks at one more size or key")
def test_a_long_name_takes_two_lines_of_the_table_and_is_whole_in_its_tip(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    name = "_Z6kernelIN3foo3barEE" * 240
    long = {**functions[BFS], "name": name}
    page = opened(chromium, tmp_path / "long.html", html(Page("long", documents.tool(), [long, functions[GAPS]])))
    rows = [page.page.locator("#all tbody tr").nth(at).bounding_box()["height"] for at in (0, 1)]
    assert rows[0] < 2.5 * rows[1]
    assert page.attribute("#all a.name", "title") == f"{name}\na/bfs_step.sass"
    page.close()


@whole("how a page looks at one more size or key")
def test_a_second_escape_leaves_the_search(report: Opened):
    report.page.keyboard.press("/")
    report.page.keyboard.type("sm_61 INDIRECT")
    report.page.keyboard.press("Escape")
    assert (report.focused, report.page.input_value("#search")) == ("search", "")
    report.page.keyboard.press("Escape")
    assert report.focused == ""
    report.page.keyboard.press("?")
    assert report.page.locator("#keys").is_visible()
    report.page.keyboard.press("Escape")


@whole("how a page looks at one more size or key")
def test_what_is_refused_does_not_look_good(report: Opened):
    assert report.text(".tile:nth-child(2)").split("\n") == ["bounded", "2", "1 function with gaps, 1 input refused"]
    assert report.attribute(".tile:nth-child(2)", "class") == "tile bad"
