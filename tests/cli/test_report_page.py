"""`sassan report`: what it writes, and what it refuses before the work."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from cli.test_cuda_source import needs_nvrtc, reads_sm_80

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
SUM = SAMPLES / "sm_61" / "reduce_shared.cuobjdump.sass"
BARRIER = SAMPLES / "sm_61" / "barrier_reduce.cuobjdump.sass"


def head(text: str) -> dict[str, Any]:
    return json.loads(re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0])


def packed(text: str, name: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(re.findall(rf'id="{name}">(.*?)</script>', text)[0])))


def detail(text: str, at: int = 0) -> dict[str, Any]:
    return packed(text, f"detail-{at}")


def test_the_page_holds_what_analyze_says(sassan: Sassan, tmp_path: Path):
    out = tmp_path / "report.html"
    result = sassan("report", BFS, "--loop-bound", "10", "-W", "16", "-o", out)
    assert (result.status, result.out, result.err) == (0, "", f"wrote {out}\n")
    analyzed = sassan("analyze", BFS, "--loop-bound", "10", "-W", "16", "--json").document["functions"][0]
    shown = detail(out.read_text("utf-8"))
    del analyzed["profile"]  # of baselines
    assert {key: shown[key] for key in analyzed} == analyzed
    assert head(out.read_text("utf-8"))["title"] == "bfs_step.cuobjdump.sass"


def test_standard_output_gets_the_page_and_nothing_else(sassan: Sassan):
    result = sassan("report", SAXPY, "-o", "-", "--title", "a <b>title</b>")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("<!doctype html>\n")
    assert result.out.endswith("</html>\n")
    assert "<title>a &lt;b&gt;title&lt;/b&gt;</title>" in result.out


def test_the_same_input_gives_the_same_bytes(sassan: Sassan):
    assert sassan("report", SAXPY, BFS, "-o", "-").out == sassan("report", SAXPY, BFS, "-o", "-").out


def test_a_page_of_ptx_has_the_rows_that_the_input_spells_out(sassan: Sassan):
    ptx = SAMPLES / "ptx" / "nvrtc_8.4" / "calls_nested.ptx"
    graph = detail(sassan("report", ptx, "--loop-bound", "2", "-o", "-").out)["graph"]
    used = {at for block in graph["blocks"] for at in block["rows"]}
    assert used == set(range(len(graph["rows"])))


def test_a_schedule_of_the_warps_is_shown_with_what_it_is(sassan: Sassan):
    found = detail(sassan("report", SAXPY, "-W", "2", "-o", "-").out)["search"]
    assert found["chart"]["slots"] == found["lower"]
    assert found["lower"] <= found["upper"]
    assert found["verdict"] == f"this execution takes {found['lower']} slots, and none more than {found['upper']}"
    assert found["engines"][1]["proof"] == "one execution that is possible; --engine all searches for the longest"
    assert found["trace"] == []


def test_an_engine_leaves_a_trace_of_its_bounds(sassan: Sassan):
    found = detail(sassan("report", SAXPY, "-W", "2", "--engine", "bounds", "--time-limit", "0.1", "-o", "-").out)["search"]
    assert found["engines"][0]["name"] == "bounds"
    assert found["trace"][-1][2] is not None
    assert found["chart"] is None
    assert found["why"] == "no schedule was found in the time given"


def test_block_barriers_have_no_schedule_and_the_page_says_why(sassan: Sassan):
    found = detail(sassan("report", BARRIER, "-W", "2", "-o", "-").out)["search"]
    assert found["chart"] is None
    assert (
        found["why"]
        == "block barriers that may open in different orders, and those of one partition, are not searched: an upper bound, and no schedule"
    )


def test_a_kernel_whose_barriers_open_in_one_order_has_a_schedule(sassan: Sassan):
    found = detail(sassan("report", SUM, "-W", "4", "--block-dim", "64", "-o", "-").out)["search"]
    assert found["lower"] is not None
    assert "|" in {mark for row in found["chart"]["rows"] for _, _, mark in row}


def test_without_warps_there_is_no_schedule(sassan: Sassan):
    assert detail(sassan("report", SAXPY, "-o", "-").out)["search"] is None


def test_a_refused_file_is_named_in_the_page_and_in_the_status(sassan: Sassan, tmp_path: Path):
    bad = tmp_path / "bad.sass"
    bad.write_text("nothing", "utf-8")
    result = sassan("report", SAXPY, bad, "-o", "-")
    assert (result.status, result.codes) == (3, ["unknown-input"])
    assert [(one["file"], one["code"]) for one in head(result.out)["refused"]] == [(str(bad), "unknown-input")]


def test_gaps_of_a_chosen_function_are_status_3_and_the_page_is_written(sassan: Sassan, tmp_path: Path):
    out = tmp_path / "report.html"
    result = sassan("report", BFS, "-f", "bfs_step", "-o", out, "-q")
    assert (result.status, result.codes) == (3, ["gaps"])
    assert head(out.read_text("utf-8"))["functions"][0]["gaps"] == ["unbounded-loop"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-o", "report.pdf"], "output-format"),
        (["-o", "no/such/folder/report.html"], "unwritable-output"),
        (["-o", "-", "--time-limit", "1"], "usage"),
        ([], "usage"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(sassan: Sassan, arguments: list[str], code: str):
    result = sassan("report", "no-such-file.sass", *arguments)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_an_interrupt_leaves_the_old_page_and_no_half_one(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "report.html"
    out.write_text("the old page", "utf-8")

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("sassan.cli.commands.report.html", interrupt)
    assert sassan("report", SAXPY, "-o", out).status == 130
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert out.read_text("utf-8") == "the old page"


def test_report_has_every_option_of_analyze_but_those_of_its_text(sassan: Sassan):
    options = [set(re.findall(r"--[a-z][a-z-]+", sassan(command, "--help").out)) for command in ("analyze", "report")]
    assert options[0] - options[1] == {"--json", "--csv", "--assumptions", "--explain", "--gaps", "--schedule"}


def test_the_help_fits_80_columns(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in sassan("report", "--help").out.splitlines() if len(line) > 80] == []


TIMES = "kernel,grid,block,cycles\nsaxpy,1024,256,{}\n"


def test_a_recorded_run_stands_beside_the_bounds(sassan: Sassan, tmp_path: Path):
    (tmp_path / "times.csv").write_text(TIMES.format(1000))
    shown = detail(sassan("report", SAXPY, "--recorded", tmp_path / "times.csv", "-o", "-").out)["measured"]
    assert [(one["grid"], one["block"], one["measured"]["cycles"]) for one in shown] == [([1024, 1, 1], [256, 1, 1], 1000.0)]
    assert [gap["code"] for gap in shown[0]["gaps"]] == ["unknown-device", "unknown-occupancy"]


def test_without_a_recording_nothing_is_measured(sassan: Sassan):
    assert detail(sassan("report", SAXPY, "-o", "-").out)["measured"] == []


def test_a_recording_that_is_none_is_refused(sassan: Sassan, tmp_path: Path):
    (tmp_path / "times.csv").write_text("what is this\n")
    found = sassan("report", SAXPY, "--recorded", tmp_path / "times.csv", "-o", "-")
    assert_refused(found, 3)
    assert found.codes == ["unknown-recording"]


@needs_nvrtc
@reads_sm_80
def test_source_text_is_in_the_page_where_it_lies_beside_the_code(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    text = "__global__ void k(float* x)\n{\n    x[threadIdx.x] *= 2;\n}\n"
    (tmp_path / "k.cu").write_text(text, "utf-8")
    page = sassan("report", tmp_path / "k.cu", "--arch", "sm_80", "-o", "-").out
    assert head(page)["sources"] == {f"{tmp_path / 'k.cu'}:k.cu": 0}
    assert packed(page, "source-0") == text.splitlines()
    shown = detail(page)
    assert shown["code"] == {"ptx": [], "sources": ["k.cu"]}
    assert {row["source"].rpartition("/")[2] for row in shown["graph"]["rows"] if row["source"]} >= {"k.cu:3", "k.cu:4"}


def test_without_a_source_there_is_none_in_the_page(sassan: Sassan):
    page = sassan("report", SAXPY, "-o", "-").out
    assert head(page)["sources"] == {}
    assert "code" not in detail(page)
