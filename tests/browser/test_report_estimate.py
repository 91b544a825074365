"""The estimate in a report: what binds, the time of instructions and of source lines, one SM over time.

Skipped where playwright, a Chromium or NVRTC is not installed.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from budget import whole
from cli.test_cuda_source import needs_nvrtc, reads_sm_80
from report_pages import Opened, needs_browser, opened
from sassan.cli import main

pytestmark = [*needs_browser, needs_nvrtc, reads_sm_80]

SOURCE = """extern "C" __global__ void smooth(float* y, const float* x)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 16; k++) sum += tile[(threadIdx.x * 2 + k) & 255];
    y[blockIdx.x * 256 + threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def smooth(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("estimate")
    (folder / "k.cu").write_text(SOURCE, "utf-8")
    launch = ("--gpu", "A100-PCIE-40GB", "--block-dim", "256", "--grid", "4096")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SASSAN_CACHE", str(folder / "cache"))
        assert main.run(["report", "k.cu", *launch, "-o", "k.html"]) == 0
    one = opened(chromium, folder / "k.html", (folder / "k.html").read_text("utf-8"))
    one.page.wait_for_selector(".panel.estimate")
    yield one
    one.close()
    assert [url for url in one.asked if not url.startswith("file:")] == []
    assert one.said == []


def test_the_resource_that_binds_stands_first(smooth: Opened):
    assert "bound by shared" in smooth.text(".panel.estimate p")
    shares = smooth.page.locator(".panel.estimate table.bars").first.locator("tbody td:last-child").all_inner_texts()
    numbers = [float(share.strip("<%\u00a0\u202f ")) for share in shares]
    assert numbers == sorted(numbers, reverse=True)
    assert smooth.text(".panel.estimate table.bars tbody td") == "memory"


def test_a_click_on_an_instruction_shows_its_block(smooth: Opened):
    link = smooth.page.locator(".panel.estimate table.listing .link").first
    at = link.inner_text().removeprefix("0x")
    link.click()
    assert at in smooth.page.locator("#block table.listing tbody td:first-child").all_inner_texts()


def test_one_sm_is_drawn_over_time_with_schedulers_units_and_memory(smooth: Opened):
    names = smooth.page.locator(".timeline .end").all_text_contents()
    assert names[:5] == ["warps", "scheduler 1", "scheduler 2", "scheduler 3", "scheduler 4"]
    assert {"lsu", "memory"} <= set(names)
    areas = "[...document.querySelectorAll('.timeline .area')].map((one) => one.getBoundingClientRect().width)"
    assert min(smooth.page.evaluate(areas)) > 300
    assert smooth.page.locator(".timeline .start").first.text_content() == "64 warps"


def test_source_text_stands_beside_machine_code_with_its_time(smooth: Opened):
    assert "for (int k = 0; k < 16; k++) sum +=" in smooth.text(".pane.source .line[data-place='k.cu:7']")
    assert "%" in smooth.text(".pane.source .line[data-place='k.cu:7'] .share")
    smooth.page.click(".pane.source .line[data-place='k.cu:7']")
    marked = "[...document.querySelectorAll('.pane.machine .chosen')].map((one) => one.dataset.place)"
    assert set(smooth.page.evaluate(marked)) == {"k.cu:7"}


@whole("how a page looks at one more size or key")
def test_nothing_is_cut_in_narrow_windows(smooth: Opened):
    for width in (900, 1260, 1600):
        smooth.page.set_viewport_size({"width": width, "height": 900})
        assert smooth.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
