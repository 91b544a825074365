"""The graph of a report in a browser: zoom, moves, choice of a block, colours, folding."""

from pathlib import Path
from typing import Any

from budget import whole
from report_pages import BFS, Opened, documented, needs_browser, opened, show
from sassan.app import documents
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.render.html.page import Page, html

pytestmark = needs_browser


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


@whole("how a page looks at one more size or key")
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


@whole("how a page looks at one more size or key")
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


@whole("how a page looks at one more size or key")
def test_blocks_below_one_percent_fade_in_the_heat_map(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    graph = functions[BFS]["graph"]
    blocks = [{**block, "share": 0.001 if block["id"] == "n0068" else block["share"]} for block in graph["blocks"]]
    one = opened(
        chromium, tmp_path / "cool.html", html(Page("cool", documents.tool(), [{**functions[BFS], "graph": {**graph, "blocks": blocks}}]))
    )
    opacity = "(id) => Number(getComputedStyle(document.querySelector(id)).opacity)"
    assert one.page.evaluate(opacity, "#block-n0068") < 1
    assert one.page.evaluate(opacity, "#block-n0158") == 1
    one.page.click("#look-heat")
    assert one.page.evaluate(opacity, "#block-n0068") == 1
    one.close()


def test_a_link_to_a_block_opens_it(report: Opened):
    report.page.evaluate("location.hash = 'k0/n0228'")
    report.page.wait_for_selector("#block-n0228[aria-pressed=true]")
    assert report.text("#block h3").startswith("Block 0x0228")


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
    one.close()


@whole("how a page looks at one more size or key")
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
    one.close()


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


def width_of(one: Opened) -> float:
    return float(str(one.attribute(".drawing", "viewBox")).split()[2])


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
    width = width_of(page)
    page.page.locator(".fold").click()
    assert page.page.locator(".block[data-id]").count() > 80
    assert width_of(page) > 5 * width
    page.page.locator(".handle").first.click()
    assert page.page.locator(".block[data-id]").count() < 10
    assert page.said == []


@whole("how a page looks at one more size or key")
def test_long_edges_have_no_dashes_and_no_move_is_animated(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path):
    # Dashes of a hundred long edges, or a transition of a large drawing, took a browser a minute.
    graph = functions[BFS]["graph"]
    edges = [{**edge, "path": [[x, 20 * y] for x, y in edge["path"]]} for edge in graph["edges"]]
    one = opened(
        chromium, tmp_path / "long.html", html(Page("long", documents.tool(), [{**functions[BFS], "graph": {**graph, "edges": edges}}]))
    )
    one.page.emulate_media(reduced_motion="no-preference")
    one.page.wait_for_selector(".edge.long")
    dashes = "(some) => [...new Set([...document.querySelectorAll(some)].map((one) => getComputedStyle(one).strokeDasharray))]"
    assert one.page.evaluate(dashes, ".edge.long path") == ["none"]
    assert len(one.page.evaluate(dashes, ".edge:not(.long) path")) > 1
    assert one.page.evaluate("getComputedStyle(document.querySelector('.stage')).transitionDuration") == "0s"
    one.close()
