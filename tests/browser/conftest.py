"""One browser, and one report, for all tests of this folder.

Skipped where playwright is not installed.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from report_pages import BROWSER, EVIL, Opened, documented, function, hostile, opened
from sassan.app import documents
from sassan.app.settings import Settings
from sassan.render.html.page import Page, html


@pytest.fixture(scope="package")
def functions() -> list[dict[str, Any]]:
    settings = Settings(loop_bound=10)
    return [
        documented(function("bfs_step"), "a/bfs_step.sass", settings),
        documented(function("continue_from_inner"), "b/continue.sass", settings),
        documented(hostile(), EVIL, settings),
    ]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    with pytest.importorskip("playwright.sync_api", reason="playwright is not installed").sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shared(chromium: Any, functions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    refused = [{"file": "broken.sass", "code": "unknown-input", "message": "the input is no listing", "hint": "make a text"}]
    text = html(Page("three kernels", documents.tool(), functions, refused))
    one = opened(chromium, tmp_path_factory.mktemp("report") / "report.html", text)
    yield one
    one.close()
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
