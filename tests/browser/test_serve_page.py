"""The page of `sassan serve` in a browser: links between source, PTX and machine code, and what follows an edit.

Skipped where playwright, a Chromium or NVRTC is not installed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from budget import whole
from cli.test_cuda_source import needs_nvrtc
from cli.test_serve import SOURCE, served, write_sources
from report_pages import needs_browser

pytestmark = [*needs_browser, needs_nvrtc]

CHOSEN = "[...document.querySelectorAll('.pane.{} .chosen')].map((one) => one.dataset.place)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that is served: a test leaves its sources as they were, but for the last one."""
    return write_sources(tmp_path_factory.mktemp("served") / "src")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SASSAN_CACHE", str(folder.parent / "cache"))
        with served(folder, "--arch", "sm_80") as (_, port):
            yield port


@pytest.fixture
def page(chromium: Any, port: int) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(60_000)
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector(".pane.source .linked")
    yield page
    assert {url.split("/")[2] for url in requests if not url.startswith("data:")} == {f"127.0.0.1:{port}"}
    assert said == []
    page.close()


def chosen(page: Any, pane: str) -> list[str]:
    return page.evaluate(CHOSEN.format(pane))


def test_a_click_on_a_source_line_marks_its_ptx_and_its_machine_code(page: Any):
    page.click(".pane.source .line[data-place='k.cu:4']")
    assert chosen(page, "source") == ["k.cu:4"]
    assert page.evaluate("getComputedStyle(document.querySelector('.pane.source .line')).whiteSpace") == "pre"
    assert set(chosen(page, "ptx")) == set(chosen(page, "machine")) == {"k.cu:4"}
    colours = "new Set([...document.querySelectorAll('.line.chosen')].map((one) => getComputedStyle(one).backgroundColor)).size"
    assert page.evaluate(colours) == 1


def test_arrow_keys_go_from_line_to_line_and_an_address_leads_to_its_block(page: Any):
    page.locator(".pane.machine .lines").focus()
    page.keyboard.press("ArrowDown")
    first = chosen(page, "source")
    page.keyboard.press("ArrowDown")
    assert len(first) == 1
    assert chosen(page, "source") != first
    page.click(".pane.machine .line button >> nth=0")
    assert page.evaluate("document.activeElement.classList.contains('block')")


def test_a_source_that_does_not_compile_is_named_and_the_last_good_view_stays(page: Any, folder: Path):
    page.click(".pane.source .line[data-place='k.cu:4']")
    (folder / "k.cu").write_text(SOURCE.replace("FACTOR;", "FACTOR"), "utf-8")
    page.wait_for_selector(".panel.gaps:has-text('compile-failed')")
    assert "k.cu:5" in page.locator(".panel.gaps").inner_text()
    assert "FACTOR;" in page.locator(".pane.source").inner_text()
    assert chosen(page, "source") == ["k.cu:4"]
    (folder / "k.cu").write_text(SOURCE, "utf-8")
    page.wait_for_selector(".panel.gaps", state="detached")


@whole("an edit that does not compile, and the one that mends it, are looked at above")
def test_an_edit_is_analyzed_and_the_chosen_line_stays(page: Any, folder: Path):
    page.click(".pane.source .line[data-place='k.cu:4']")
    before = page.locator(".pane.machine .linked").count()
    (folder / "k.cu").write_text(SOURCE.replace("x[threadIdx.x]", "x[threadIdx.x * 3]").replace("scale", "scale3"), "utf-8")
    page.wait_for_selector("h2:has-text('scale3')")
    page.wait_for_selector(".pane.machine .linked")
    assert "threadIdx.x * 3" in page.locator(".pane.source").inner_text()
    assert page.locator(".pane.machine .linked").count() >= before
    # A header is a part of what includes it.
    (folder / "factor.h").write_text("#define FACTOR (2 + threadIdx.y)\n", "utf-8")
    page.wait_for_selector(".pane.machine .line:has-text('SR_TID.Y')")
