"""Reports in a browser: what their tests open, and how."""

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from sassan.app.analysis import analyze
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.app.views import page_sketch
from sassan.fields.field import document
from sassan.ir import Function
from sassan.render.html.layout import place

BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
needs_browser = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH")]

SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "sm_61"
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
    return {**document(AnalysisFields, found), "graph": graph, "search": SEARCH if found.wcet.value else None}


def hostile() -> Function:
    one = function("saxpy")
    texts = tuple(replace(each, text=EVIL, opcode=each.opcode) for each in one.instructions)
    return replace(one, name=EVIL, instructions=texts)


@dataclass
class Opened:
    """A page, what it asked for, and what its console said."""

    page: Any
    url: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    listeners: list[tuple[str, Any]] = field(default_factory=list)

    def close(self) -> None:
        """Leave the tab, as it was at first, to the next page: a new one takes twice as long to open."""
        for event, listener in self.listeners:
            self.page.remove_listener(event, listener)
        self.page.unroute("**/*")
        self.page.evaluate("localStorage.clear()")
        self.page.emulate_media(media="null", color_scheme="null", reduced_motion="reduce")
        self.page.goto("about:blank")
        _TABS.append(self.page)

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


_TABS: list[Any] = []
"""Tabs that no test uses."""


def _tab(browser: Any) -> Any:
    while _TABS:
        page = _TABS.pop()
        if not page.is_closed() and page.context.browser is browser:
            page.set_viewport_size({"width": 1400, "height": 900})
            return page
    return browser.new_page(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")


def opened(browser: Any, path: Path, text: str) -> Opened:
    path.write_text(text, "utf-8")
    one = Opened(_tab(browser), path.as_uri())
    one.page.set_default_timeout(20_000)
    one.listeners += [
        ("console", lambda message: one.said.append(message.text)),
        ("pageerror", lambda error: one.said.append(str(error))),
        ("dialog", lambda dialog: one.said.append(dialog.message)),
    ]
    for event, listener in one.listeners:
        one.page.on(event, listener)

    def ask(route: Any) -> None:
        one.asked.append(route.request.url)
        route.continue_() if route.request.url.startswith("file:") else route.abort()

    one.page.route("**/*", ask)
    one.page.goto(one.url)
    one.page.wait_for_selector("#main[aria-busy=false]", state="attached")  # the data of a function are unpacked after the page is loaded
    return one


def show(report: Opened, at: int) -> None:
    report.page.click(f"#option-{at}")
    report.page.wait_for_selector(f"#option-{at}[aria-selected=true]")
    report.page.wait_for_selector(".drawing .block[aria-pressed=true]")
