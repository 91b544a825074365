"""The launches of a program in a report: their sum, a deadline, the certificate; and that wide and narrow windows show all of it.

Skipped where playwright or a Chromium is not installed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from budget import some, whole
from report_pages import BFS, Opened, needs_browser, opened
from sassan.app import documents
from sassan.render.html.page import Page, html

pytestmark = needs_browser

Show = Callable[..., Opened]
ESTIMATE: dict[str, Any] = {
    "cycles": 1000.0, "us": 20.004, "gpu": "a GPU", "bound_by": "dram", "shares": {"dram": 0.9, "issue": 0.3}, "occupancy": 0.5, "rows": {},
    "stalls": [{"address": "0x0168", "reason": "long_scoreboard", "share": 0.75}, {"address": "0x0068", "reason": "wait", "share": 0.2}],
    "assumed": 0.1, "counts": "warps of the launch that were run",
    "timeline": {"width": 16, "blocks": 2, "warps": [4, 4], "busy": {"dram": [0.9, 0.9]}},
}  # fmt: skip


def launch(us: float | None, *, count: int = 1, gaps: tuple[str, ...] = (), kernel: str = "_Z8bfs_stepPi") -> dict[str, Any]:
    cycles = None if us is None else int(1000 * us)
    shape = {"grid": [8, 1080, 1], "block": [256, 1, 1], "shared": 0}
    times = {"cycles": cycles, "us": us, "estimate_us": 20.004, "bound_by": "dram"}
    return {"function": 0, "kernel": kernel, **shape, "count": count, **times, "gaps": list(gaps)}


def sequence(rows: list[dict[str, Any]], deadline: float | None = None, cut: str = "") -> dict[str, Any]:
    bounded = all(row["us"] is not None for row in rows)
    total = sum(row["count"] for row in rows)
    return {
        "program": "./a.out", "file": "launches.toml", "cut": cut, "notes": ["no kernel ran"], "launches": rows, "total": total,
        "bounded": sum(row["count"] for row in rows if row["us"] is not None), "estimated": total,
        "cycles": sum(row["count"] * row["cycles"] for row in rows) if bounded else None,
        "us": sum(row["count"] * row["us"] for row in rows) if bounded else None,
        "estimate_us": 20.004 * total, "deadline_us": deadline,
        "assumptions": [
            {"text": "nothing else is on the GPU", "kind": "assumed", "kernels": []},
            {"text": "a row is shorter than 9", "kind": "checked", "kernels": ["bfs_step"]},
        ],
    }  # fmt: skip


@pytest.fixture
def page(chromium: Any, functions: list[dict[str, Any]], tmp_path: Path) -> Iterator[Show]:
    """Return how to open the page of a sequence; whatever it shows, its script says nothing."""
    shown: list[Opened] = []

    def show(*rows: dict[str, Any], **more: Any) -> Opened:
        one = {**functions[BFS], "estimate": ESTIMATE}
        text = html(Page("a program", documents.tool(), [one, functions[1]], sequence=sequence(list(rows), **more)))
        shown.append(opened(chromium, tmp_path / f"{len(shown)}.html", text))
        return shown[-1]

    yield show
    for one in shown:
        assert one.said == []
        one.close()


def tiles(one: Opened) -> list[str]:
    return one.page.locator(".sequence .tile").all_inner_texts()


def test_the_overview_begins_with_the_launches_and_their_sum(page: Show):
    one = page(launch(100.001), launch(50.0, count=3))
    assert one.text(".sequence h3") == "Sequence: 4 launches of ./a.out, one after the other"
    # Bounds are rounded up.
    assert tiles(one) == [
        "bound of the sum\n250.01 us\nat most, under the assumptions below",
        "estimate of the sum\n80.02 us\nwhat to expect, no bound",
    ]
    rows = [[cell.strip().replace("\u00d7", "x") for cell in row.split("\t")] for row in one.page.locator("#launches tr").all_inner_texts()]
    assert rows[1] == ["1", "bfs_step", "8 x 1080 x 1", "256 x 1 x 1", "1", "100.01", "100.01", "", "40\xa0%", "20.00", "20.00", "dram"]
    assert rows[2][4:9] == ["3", "50.00", "150.00", "", "60\xa0%"]
    assert [cell for cell in rows[3] if cell] == ["sum", "4", "250.01", "80.02"]
    one.page.click("#launches a.name")
    one.page.wait_for_selector(".drawing .block")


@pytest.mark.parametrize(
    ("deadline", "tile"),
    [
        (250.0, "deadline 250.00 us\nmet\n0.00 us left by the bound"),
        (249.99, "deadline 249.99 us\nmissed\nby 0.01 us in the bound"),
    ],
)
def test_a_deadline_is_met_where_the_bound_is_not_above_it(page: Show, deadline: float, tile: str):
    one = page(launch(100.0), launch(50.0, count=3), deadline=deadline)
    assert tiles(one)[2] == tile


@whole("how a page looks at one more size or key")
def test_without_every_bound_no_deadline_is_met(page: Show):
    one = page(launch(100.0), launch(None, gaps=("unbounded-loop",)), deadline=1e6)
    assert [tiles(one)[at] for at in (0, 2)] == [
        "bound of the sum\nnone\n1 launch without a bound",
        "deadline 1,000,000.00 us\nnot shown\n1 launch without a bound",
    ]
    assert "unbounded-loop" in one.text("#launches tr:nth-child(2) .gap")


def test_of_a_recording_that_was_cut_off_no_deadline_is_met(page: Show):
    one = page(launch(100.0), deadline=1e6, cut="after 60 s")
    assert tiles(one)[2] == "deadline 1,000,000.00 us\nnot shown\nthe recording was cut off"


def test_the_certificate_counts_assumptions_by_what_backs_them(page: Show):
    one = page(launch(100.0))
    assert one.text(".assumptions h3") == "Certificate: the bound of the sum holds under 2 assumptions (1 assumed, 1 checked)"
    assert "launches of launches.toml · no kernel ran" in one.text(".assumptions p")
    assert one.page.locator(".assumptions li:visible").all_inner_texts() == ["nothing else is on the GPU"]
    one.page.click(".assumptions summary:has-text('1 checked')")
    assert one.page.locator(".assumptions li:visible").all_inner_texts()[1] == "a row is shorter than 9 (bfs_step)"


def test_kernels_that_only_parameters_distinguish_keep_them(page: Show):
    one = page(launch(1.0, kernel="_Z3runPfi"), launch(2.0, kernel="_Z3runPii"), launch(3.0))
    assert one.page.locator("#launches a.name").all_inner_texts() == ["run(float*, int)", "run(int*, int)", "bfs_step"]


def test_the_heat_map_shows_the_bound_first_and_can_show_the_estimate(page: Show):
    one = page(launch(100.0))
    one.page.click("#launches a.name")
    one.page.wait_for_selector(".drawing .block")
    heat = "(id) => getComputedStyle(document.querySelector(id)).getPropertyValue('--heat')"
    assert one.text("#heat-by option:checked") == "share of the WCET"
    assert one.text(".heat-key").startswith("share of the WCET: 0 to ")
    bound = one.page.evaluate(heat, "#block-n0068")
    one.page.select_option("#heat-by", "1")
    assert one.text(".heat-key") == "share of the estimated time: 0 to 75\xa0%; below 1 % faded"
    assert (one.page.evaluate(heat, "#block-n0158"), one.page.evaluate(heat, "#block-n0068")) == ("100%", "27%")
    assert bound != "27%"


WIDER = """[...document.querySelectorAll("main *")].filter((one) => {
    const style = getComputedStyle(one);
    return style.overflowX !== "visible" && !["SUMMARY"].includes(one.tagName) && one.scrollWidth > one.clientWidth + 1;
}).map((one) => `${one.tagName}.${one.className.baseVal ?? one.className}`)"""


@pytest.mark.parametrize("width", some([1400, 3000]))
def test_nothing_is_clipped(page: Show, width: int):
    one = page(launch(123456.789), launch(50.0, count=3), deadline=1e6)
    one.page.set_viewport_size({"width": width, "height": 1000})
    assert one.page.evaluate(WIDER) == []
    one.page.click("#launches a.name")
    one.page.wait_for_selector(".drawing .block")
    assert one.page.evaluate(WIDER) == []


@whole("how a page looks at one more size or key")
def test_in_a_wide_window_the_graph_has_no_more_room_than_it_needs_and_the_estimate_stands_beside_it(page: Show):
    one = page(launch(100.0))
    one.page.set_viewport_size({"width": 3000, "height": 1000})
    one.page.click("#launches a.name")
    one.page.wait_for_selector(".drawing .block")
    graph, estimate, frame, drawing = (
        one.page.locator(each).bounding_box() for each in (".panel.graph", ".panel.estimate", ".frame-graph", ".stage")
    )
    assert (graph["y"], graph["x"] + graph["width"] < estimate["x"]) == (estimate["y"], True)
    assert frame["width"] < drawing["width"] + 160
    assert frame["height"] < max(drawing["height"] + 60, 760)
