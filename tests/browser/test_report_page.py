"""The report in a browser: clicks, keys, search, zoom, themes and paper; nothing is fetched, nothing of the input runs.

Skipped where playwright or a Chromium is not installed. One browser serves the whole file.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from sassan.app import documents
from sassan.app.analysis import analyze
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.app.views import page_sketch
from sassan.ir import Function
from sassan.machine.launch import Launch
from sassan.render.html.layout import place
from sassan.render.html.page import Page, html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH")]

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "sm_61"
EVIL = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>\u202e"
BFS, GAPS, HOSTILE = 0, 1, 2
SEARCH: dict[str, Any] = {
    "label": "if every warp takes this path",
    "string": "LC",
    "units": "2 warps, per slot L=1 C=1",
    "verdict": "longest makespan: 3 slots, exact",
    "lower": 3,
    "upper": 3,
    "engines": [{"name": "exact", "lower": 3, "upper": 3, "seconds": 0.01, "proof": "exhaustive"}],
    "trace": [[0.1, None, 4], [0.2, 3, 4], [0.3, 3, 3]],
    "chart": {"slots": 3, "shown": 3, "rows": [[[0, 1, "L"], [1, 1, "C"]], [[0, 1, "."], [1, 1, "L"], [2, 1, "C"]]]},
    "why": "",
    "assumptions": ["the SM is work-conserving"],
    "assumption_kinds": ["assumed"],
}


def function(name: str) -> Function:
    return read_program(str(SAMPLES / f"{name}.cuobjdump.sass")).functions[0]


def documented(function: Function, file: str, settings: Settings) -> dict[str, Any]:
    found = analyze(function, replace(settings, warps=2), file)
    sketch = page_sketch(found)
    graph = sketch.record(next(place([sketch.text])))
    return {**documents.analysis(found), "graph": graph, "search": SEARCH if found.wcet.value else None}


def hostile() -> Function:
    one = function("saxpy")
    texts = tuple(replace(each, text=EVIL, opcode=each.opcode) for each in one.instructions)
    return replace(one, name=EVIL, instructions=texts)


@pytest.fixture(scope="module")
def functions() -> list[dict[str, Any]]:
    settings = Settings(loop_bound=10)
    return [
        documented(function("bfs_step"), "a/bfs_step.sass", settings),
        documented(function("continue_from_inner"), "b/continue.sass", settings),
        documented(hostile(), EVIL, settings),
    ]


@dataclass
class Opened:
    """A page, what it asked for, and what its console said."""

    page: Any
    url: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def attribute(self, selector: str, name: str) -> str | None:
        return self.page.locator(selector).first.get_attribute(name)

    @property
    def focused(self) -> str:
        return self.page.evaluate("document.activeElement.id")

    @property
    def scale(self) -> int:
        return int(self.text("#scale").removesuffix(" %"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Any, path: Path, text: str, **options: Any) -> Opened:
    path.write_text(text, "utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900}, reduced_motion="reduce", **options)
    one = Opened(page, path.as_uri())
    one.page.set_default_timeout(20_000)
    one.page.on("console", lambda message: one.said.append(message.text))
    one.page.on("pageerror", lambda error: one.said.append(str(error)))
    one.page.on("dialog", lambda dialog: one.said.append(dialog.message))

    def ask(route: Any) -> None:
        one.asked.append(route.request.url)
        route.continue_() if route.request.url.startswith("file:") else route.abort()

    one.page.route("**/*", ask)
    one.page.goto(one.url)
    return one


@pytest.fixture(scope="module")
def shared(chromium: Any, functions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    refused = [{"file": "broken.sass", "code": "unknown-input", "message": "the input is no listing", "hint": "make a text"}]
    text = html(Page("three kernels", documents.tool(), functions, refused))
    one = opened(chromium, tmp_path_factory.mktemp("report") / "report.html", text)
    yield one
    one.page.close()
    # Whatever was clicked above, nothing was fetched and nothing went wrong.
    assert [url for url in one.asked if not url.startswith("file:")] == []
    assert one.said == []


@pytest.fixture
def report(shared: Opened) -> Opened:
    """Return the page as it is at first: the overview, no search, nothing zoomed."""
    shared.page.set_viewport_size({"width": 1400, "height": 900})
    shared.page.emulate_media(media="screen", color_scheme="light")
    shared.page.evaluate("localStorage.clear()")
    # Another document in between: a changed hash alone would not load the page again.
    shared.page.goto("about:blank")
    shared.page.goto(shared.url)
    shared.page.wait_for_selector("#all")
    return shared


def show(report: Opened, at: int) -> None:
    report.page.click(f"#option-{at}")
    report.page.wait_for_selector(f"#option-{at}[aria-selected=true]")
    report.page.wait_for_selector(".drawing .block[aria-pressed=true]")


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


def test_a_drag_moves_the_graph_and_chooses_nothing(report: Opened):
    show(report, BFS)
    report.page.keyboard.press("0")
    before = report.page.locator("#block-n0008").bounding_box()
    chosen = report.attribute(".block[aria-pressed=true]", "id")
    x, y = before["x"] + 20, before["y"] + 10
    report.page.mouse.move(x, y)
    report.page.mouse.down()
    report.page.mouse.move(x + 60, y + 40, steps=3)
    report.page.mouse.up()
    after = report.page.locator("#block-n0008").bounding_box()
    assert (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (60, 40)
    assert report.attribute(".block[aria-pressed=true]", "id") == chosen


def test_keys_zoom_in_out_and_fit(report: Opened):
    show(report, BFS)
    assert report.scale == 100
    report.page.keyboard.press("+")
    assert report.scale == 125
    report.page.keyboard.press("-")
    assert report.scale == 100
    report.page.keyboard.press("0")
    assert report.scale < 100
    box, frame = (report.page.locator(one).bounding_box() for one in (".stage", ".frame-graph"))
    assert box["height"] <= frame["height"]


def test_the_wheel_zooms_with_control_and_scrolls_without(report: Opened):
    show(report, BFS)
    report.page.locator(".drawing").hover()
    report.page.keyboard.down("Control")
    report.page.mouse.wheel(0, -200)
    report.page.keyboard.up("Control")
    report.page.wait_for_function("parseInt(document.querySelector('#scale').textContent) > 100")
    scale = report.scale
    report.page.mouse.wheel(0, 200)
    report.page.wait_for_function("scrollY > 0")
    assert report.scale == scale


def test_arrow_keys_go_from_block_to_block_and_enter_to_the_listing(report: Opened):
    show(report, BFS)
    report.page.keyboard.press("0")
    report.page.click("#block-n0008")
    report.page.keyboard.press("ArrowDown")
    assert report.focused == "block-n0068"
    assert report.attribute("#block-n0068", "aria-pressed") == "true"
    report.page.keyboard.press("Enter")
    assert report.focused == "block"
    report.page.keyboard.press("Escape")
    assert report.focused == "block-n0068"


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


def test_the_list_is_used_with_the_arrow_keys(report: Opened):
    report.page.locator("#list").focus()
    report.page.keyboard.press("Home")
    report.page.keyboard.press("ArrowDown")
    assert report.attribute("#list", "aria-activedescendant") == "option-1"
    report.page.keyboard.press("Enter")
    report.page.wait_for_selector("#option-1[aria-selected=true]")
    assert report.text("main h2") == "continue_from_inner"


def test_functions_are_sorted_by_a_click_on_a_column(report: Opened):
    report.page.click("#all th:has-text('instructions') button")
    assert [text.split("\t")[2] for text in report.page.locator("#all tbody tr").all_inner_texts()] == ["142", "56", "22"]
    assert report.attribute("#all th:nth-child(3)", "aria-sort") == "descending"
    report.page.keyboard.press("Enter")
    assert report.attribute("#all th:nth-child(3)", "aria-sort") == "ascending"
    report.page.select_option("#sort", "input")


def test_the_heat_map_and_the_worst_path_can_be_switched(report: Opened):
    show(report, BFS)
    fill = "getComputedStyle(document.querySelector('#block-n0158 .frame:not(.outer)')).fill"
    hot = report.page.evaluate(fill)
    assert report.attribute("#look-heat", "aria-pressed") == "true"
    report.page.click("#look-heat")
    worst = report.page.evaluate(fill)
    report.page.keyboard.press("w")
    plain = report.page.evaluate(fill)
    report.page.keyboard.press("w")
    report.page.click("#look-heat")
    assert report.attribute("#look-heat", "aria-pressed") == "true"
    assert report.page.evaluate(fill) == hot
    assert len({worst, hot, plain}) == 3


def test_the_theme_follows_the_system_and_can_be_turned(report: Opened):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = report.page.evaluate(colour)
    report.page.emulate_media(color_scheme="dark")
    dark = report.page.evaluate(colour)
    report.page.click("#theme")
    assert (light, dark, report.page.evaluate(colour)) == ("rgb(244, 245, 247)", "rgb(17, 21, 26)", "rgb(244, 245, 247)")
    report.page.keyboard.press("t")


def test_a_schedule_and_the_convergence_are_drawn(report: Opened):
    show(report, BFS)
    report.page.wait_for_selector(".band .mark")  # it is drawn once the page knows how wide the window is
    assert report.page.locator(".band .mark").all_text_contents() == ["L", "C", ".", "L", "C"]
    assert report.attribute(".curve", "aria-label") == (
        "convergence: upper bound (dashed) and longest schedule (solid) in slots, over 0.30 seconds"
    )
    assert "longest makespan: 3 slots, exact" in report.text(".makespan")


def test_loops_say_their_bound_and_where_it_is_from(report: Opened):
    show(report, BFS)
    assert report.page.locator(".loops tbody td").all_inner_texts()[:3] == ["0x0158", "10", "--loop-bound"]


def test_hostile_names_and_texts_are_shown_and_do_nothing(report: Opened):
    show(report, HOSTILE)
    assert report.text("main h2") == EVIL.replace("\u202e", "\\u202e")
    assert "<img src=x" in report.page.locator("#block td").last.inner_text()
    assert report.page.locator("img").count() == 0
    assert report.page.title() != "owned"
    assert report.page.evaluate("document.scripts.length") == 5


def test_on_paper_there_is_the_function_and_no_tool(report: Opened):
    show(report, GAPS)
    report.page.emulate_media(media="print", color_scheme="dark")
    seen = {one: report.page.locator(one).first.is_visible() for one in ("#side", ".tools", "#theme", ".panel.gaps", ".drawing", "#block")}
    assert seen == {"#side": False, ".tools": False, "#theme": False, ".panel.gaps": True, ".drawing": True, "#block": True}
    assert report.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert report.page.evaluate("getComputedStyle(document.querySelector('.stage')).transform") == "none"


@pytest.mark.parametrize("at", [BFS, GAPS, HOSTILE])
def test_a_narrow_window_is_not_scrolled_sideways(report: Opened, at: int):
    report.page.set_viewport_size({"width": 360, "height": 740})
    show(report, at)
    assert report.page.evaluate("document.documentElement.scrollWidth") == 360


def test_everything_that_can_be_pressed_has_a_name(report: Opened):
    show(report, BFS)
    unnamed = """[...document.querySelectorAll("button, [role=button], input, select, [role=listbox]")]
        .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)).length"""
    assert report.page.evaluate(unnamed) == 0


def test_the_keys_are_listed(report: Opened):
    report.page.keyboard.press("?")
    assert "search functions" in report.text("#keys")
    report.page.keyboard.press("Escape")
    assert report.page.locator("#keys").is_hidden()


def test_a_link_to_a_block_opens_it(report: Opened):
    report.page.evaluate("location.hash = 'k0/n0228'")
    report.page.wait_for_selector("#block-n0228[aria-pressed=true]")
    assert report.text("#block h3").startswith("Block 0x0228")


def test_one_function_is_shown_at_once(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    one = opened(chromium, tmp_path / "one.html", html(Page("one", documents.tool(), functions[:1])))
    one.page.wait_for_selector(".drawing .block")
    assert one.text("main h2") == "bfs_step"
    assert not one.page.locator("#side").is_visible()
    one.page.close()


def test_three_hundred_functions_open_in_one_page(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    many = [{**functions[at % 3], "name": f"kernel_{at:03d}"} for at in range(300)]
    one = opened(chromium, tmp_path / "many.html", html(Page("many", documents.tool(), many)))
    assert one.text("#count") == "300 functions"
    assert one.page.locator("#list [role=option]").count() < 100
    one.page.fill("#search", "kernel_297")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector(".drawing .block")
    assert one.text("main h2") == "kernel_297"
    assert [url for url in one.asked if not url.startswith("file:")] == []
    one.page.close()


def test_where_nothing_was_read_the_page_says_so(chromium: Any, tmp_path: Path):
    refused = [{"file": "broken.sass", "code": "unknown-input", "message": "the input is no listing", "hint": None}]
    one = opened(chromium, tmp_path / "none.html", html(Page("none", documents.tool(), [], refused)))
    assert one.text("main h3") == "1 input refused, and not analyzed"
    assert one.page.locator(".tile").all_inner_texts() == ["functions\n0\nnothing was analyzed"]
    assert one.page.locator(".good").count() == 0
    one.page.keyboard.press("j")
    assert one.said == []
    one.page.close()


def test_a_graph_without_a_layout_shows_its_blocks_in_a_table(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    graph = functions[BFS]["graph"]
    bare = {**graph, "note": "no layout was found", "ends": [], "boxes": [], "blocks": [{**one, "box": None} for one in graph["blocks"]]}
    bare["edges"] = [{**one, "path": [], "label": None} for one in graph["edges"]]
    one = opened(chromium, tmp_path / "bare.html", html(Page("bare", documents.tool(), [{**functions[BFS], "graph": bare}])))
    assert one.text(".note") == "no layout was found"
    one.page.keyboard.press("+")
    one.page.click(".blocks button:has-text('0068')")
    assert one.text("#block h3") == "Block 0x0068 \u2013 0x00b8"
    assert one.said == []
    one.page.close()


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
    page.page.close()


def test_a_long_name_takes_two_lines_of_the_table_and_is_whole_in_its_tip(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    name = "_Z6kernelIN3foo3barEE" * 240
    long = {**functions[BFS], "name": name}
    page = opened(chromium, tmp_path / "long.html", html(Page("long", documents.tool(), [long, functions[GAPS]])))
    rows = [page.page.locator("#all tbody tr").nth(at).bounding_box()["height"] for at in (0, 1)]
    assert rows[0] < 2.5 * rows[1]
    assert page.attribute("#all a.name", "title") == f"{name}\na/bfs_step.sass"
    page.page.close()


@pytest.mark.parametrize("width", [1260, 1300, 1366, 1440])
def test_the_listing_of_a_block_is_not_cut(report: Opened, width: int):
    report.page.set_viewport_size({"width": width, "height": 900})
    show(report, BFS)
    widths = "[...document.querySelectorAll('#block, #block table')].map((one) => one.scrollWidth - one.clientWidth)"
    assert report.page.evaluate(widths) == [0, 0]
    cut = """document.querySelector("#block td:last-child").getBoundingClientRect().right
        > document.querySelector("#block").getBoundingClientRect().right"""
    assert not report.page.evaluate(cut)


def test_the_listing_of_a_launch_has_the_transactions_of_memory(chromium: Any, tmp_path: Path):
    settings = Settings(loop_bound=10, launch=Launch((256, 1, 1)))
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
    page.page.close()


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


def test_a_long_graph_begins_at_its_worst_block_and_fit_shows_all_of_it(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    graph = functions[BFS]["graph"]
    long = {**functions[BFS], "graph": {**graph, "height": 40_000}}
    one = opened(chromium, tmp_path / "tall.html", html(Page("tall", documents.tool(), [long])))
    one.page.wait_for_selector(".map")
    frame, worst = (one.page.locator(each).bounding_box() for each in (".frame-graph", "#block-n0158"))
    assert one.attribute("#block-n0158", "aria-pressed") == "true"
    assert one.scale == 100
    assert frame["y"] <= worst["y"] < worst["y"] + worst["height"] <= frame["y"] + frame["height"]
    one.page.keyboard.press("0")
    drawing = one.page.locator(".stage").bounding_box()
    assert drawing["y"] >= frame["y"]
    assert 40_000 * one.scale / 100 <= 1.3 * frame["height"], "the scale is rounded to a whole number of percent"
    one.page.close()


def test_no_card_cuts_its_number(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    large = {**functions[BFS], "wcet": {**functions[BFS]["wcet"], "value": 123_456_789_012_345}}
    one = opened(chromium, tmp_path / "large.html", html(Page("large", documents.tool(), [large])))
    one.page.wait_for_selector(".tile")
    for width in (3000, 1400, 500):
        one.page.set_viewport_size({"width": width, "height": 900})
        cut = "[...document.querySelectorAll('.tile, .tile *')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert one.page.evaluate(cut) == 0
    one.page.close()


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


def test_what_is_refused_does_not_look_good(report: Opened):
    assert report.text(".tile:nth-child(2)").split("\n") == ["bounded", "2", "1 function with gaps, 1 input refused"]
    assert report.attribute(".tile:nth-child(2)", "class") == "tile bad"


def test_a_loop_is_one_block_after_a_click_and_opens_where_it_is_needed(report: Opened):
    show(report, BFS)
    blocks, (low, *_) = report.page.locator(".block[data-id]"), report.page.locator(".drawing").get_attribute("viewBox").split()[3:]
    whole = blocks.count()
    report.page.locator(".handle").first.click()
    assert (report.attribute(".fold", "aria-label") or "").startswith("loop, 3 blocks · ")
    assert blocks.count() == whole - 3
    assert float(report.page.locator(".drawing").get_attribute("viewBox").split()[3]) < float(low)
    edges = [(edge.get_attribute("data-src"), edge.get_attribute("data-dst")) for edge in report.page.locator(".edge").all()]
    fold = report.attribute(".fold", "data-fold")
    assert (fold, fold) not in edges
    assert {True} == {any(edge[side] == fold for edge in edges) for side in (0, 1)}
    report.page.focus(".fold")
    report.page.keyboard.press("Enter")
    assert (blocks.count(), report.page.locator(".fold").count()) == (whole, 0)
    # A block inside that is looked for opens what hides it.
    report.page.click("text=Fold >> nth=0")
    inside = report.page.locator(".loops button.link").first
    inside.click()
    assert report.page.locator(".fold").count() == 0


SWITCH = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry cases(.param .u64 p)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x; mov.f32 %f1, 0f00000000;
"""


def test_equal_cases_of_a_large_switch_are_one_block_at_first(chromium: Any, tmp_path: Path):
    names = [f"L{number}" for number in range(80)]
    bodies = "".join(f"{name}: add.f32 %f1, %f1, 0f3f{at:06x}; bra.uni END;\n" for at, name in enumerate(names))
    text = f"{SWITCH}ts: .branchtargets {', '.join(names)};\nbrx.idx %r2, ts;\n{bodies}END: st.global.f32 [%rd1], %f1; ret;\n}}\n"
    (tmp_path / "k.ptx").write_text(text, "utf-8")
    (one,) = read_program(str(tmp_path / "k.ptx")).functions
    page = opened(chromium, tmp_path / "p.html", html(Page("cases", documents.tool(), [documented(one, "k.ptx", Settings())], [])))
    assert (page.attribute(".fold", "aria-label") or "").startswith("80 equal cases")
    assert page.page.locator(".block[data-id]").count() < 10
    width = float(page.attribute(".drawing", "viewBox").split()[2])  # type: ignore[union-attr]
    page.page.locator(".fold").click()
    assert page.page.locator(".block[data-id]").count() > 80
    assert float(page.attribute(".drawing", "viewBox").split()[2]) > 5 * width  # type: ignore[union-attr]
    page.page.locator(".handle").first.click()
    assert page.page.locator(".block[data-id]").count() < 10
    assert page.said == []
