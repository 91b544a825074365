"""`sassan task`: the response time of a recorded sequence, its deadline, what moves it."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Result, Sassan, assert_refused

SAXPY = SAMPLES / "sm_80" / "saxpy.cubin"
A100 = "A100-PCIE-40GB"
BETWEEN = 0.9
"""us between two launches."""


def launch(*, grid: int = 64, count: int = 1, more: str = "") -> str:
    return f'[[launch]]\nkernel = "saxpy"\ngrid = [{grid}, 1, 1]\nblock = [256, 1, 1]\nparam = ["0x160=4096"]\ncount = {count}\n{more}\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "launches.toml"
    path.write_text(launch(count=3) + launch(grid=8), "utf-8")
    return path


def write(file: Path, text: str) -> Path:
    file.write_text(text, "utf-8")
    return file


def run(sassan: Sassan, file: Path, *more: str | Path, gpu: str = A100) -> Result:
    return sassan("task", SAXPY, "--launches", file, "--gpu", gpu, *more)


def task(sassan: Sassan, file: Path, *more: str | Path, gpu: str = A100) -> dict[str, Any]:
    document: dict[str, Any] = run(sassan, file, *more, "--json", gpu=gpu).document["task"]
    return document


def test_the_response_time_is_the_sum_of_launches_of_what_is_between_them_and_of_what_they_leave(sassan: Sassan, file: Path):
    found = task(sassan, file, "--deadline", "1ms")
    first, second = found["launches"]
    l2 = 40960 * 1024 / (1555 * 0.83 * 1000)
    assert first["response"]["dirty_us"] == pytest.approx(l2), "all of L2 may be dirty before the first launch"
    assert second["response"]["dirty_us"] == pytest.approx(l2), "the buffers of the launch before are not known"
    bounds = [3 * (first["bound"]["us"] + BETWEEN + l2), second["bound"]["us"] + BETWEEN + l2]
    assert [each["response"]["bound_us"] for each in (first, second)] == pytest.approx(bounds)
    assert found["bound"]["us"] == pytest.approx(sum(bounds))
    assert found["slack_us"] == pytest.approx(1000 - sum(bounds))
    assert [each["response"]["end_us"] for each in (first, second)] == pytest.approx([bounds[0], sum(bounds)])
    assert second["response"]["slack_us"] == pytest.approx(found["slack_us"])
    assert sum(each["response"]["share"] for each in (first, second)) == pytest.approx(1)
    assert found["estimate"]["us"] < found["bound"]["us"]
    texts = found["bound"]["assumptions"]
    assert texts[0].startswith("isolated: nothing else is on the GPU")
    assert not any("L2 holds no dirty sectors" in text for text in texts), "they are charged"


def test_known_buffers_leave_no_more_dirty_than_they_hold(sassan: Sassan, file: Path):
    pointers = ", ".join(
        f'{{offset = {offset}, size = 8, value = "0x{0x200000000000 + at * 65536:016x}", '
        f"pointer = {{buffer = {at}, offset = 0, size = 16384}}}}"
        for at, offset in ((1, 8), (2, 16))
    )
    params = f'params = [{{offset = 0, size = 4, value = "0x00001000"}}, {pointers}]\n'
    one = f'[[launch]]\nkernel = "saxpy"\ngrid = [64, 1, 1]\nblock = [256, 1, 1]\n{params}\n'
    found = task(sassan, write(file, one + one))
    assert found["launches"][1]["response"]["dirty_us"] == pytest.approx(2 * 16384 / (1555 * 0.83 * 1000), rel=0.01)


@pytest.mark.parametrize(("deadline", "status"), [("1ms", 0), ("0.2ms", 0), ("50us", 1), ("1 us", 1)])
def test_a_deadline_that_may_be_missed_is_status_1(sassan: Sassan, file: Path, deadline: str, status: int):
    result = run(sassan, file, "--deadline", deadline, "-q")
    assert (result.status, result.err) == (status, "")
    assert ("may be missed" if status else "is met") in result.out.splitlines()[1]


def test_a_bound_above_the_period_is_status_1(sassan: Sassan, file: Path):
    assert run(sassan, file, "--period", "50us").status == 1
    assert "of a period of 50 us" in run(sassan, file, "--period", "50us").out


def test_without_a_bound_the_status_is_3_and_gaps_say_why(sassan: Sassan, file: Path):
    result = run(sassan, write(file, launch() + launch().replace("saxpy", "other")), "--deadline", "1ms")
    assert (result.status, result.codes) == (3, ["gaps"])
    assert "unknown-kernel" in result.err
    assert "response time: no bound" in result.out


def test_a_listing_without_registers_says_what_is_missing(sassan: Sassan, file: Path):
    result = sassan("task", SAMPLES / "sm_80" / "saxpy.cuobjdump.sass", "--launches", file, "--gpu", A100)
    assert (result.status, "unknown-occupancy" in result.err) == (3, True)
    assert "--registers N" in result.out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (launch(more="cooperative = true") + launch(more="stream = 7"), "needs-the-gpu"),
        ('cut = "after 60 s"\n' + launch(), "recording-cut"),
        (launch() + launch(more="programmatic = true"), "overlapping-launch"),
        ("schema = 1\n", "no-launches"),
    ],
)
def test_what_has_no_sum_is_a_gap(sassan: Sassan, file: Path, text: str, code: str):
    result = run(sassan, write(file, text), "--json")
    assert result.status == 3
    assert code in [gap["code"] for gap in result.document["task"]["gaps"]]
    assert result.document["task"]["bound"] is None


def test_copies_are_charged_where_a_rate_is_given_and_else_a_gap(sassan: Sassan, file: Path):
    host = 'writes = [{address = "0x200000000000", size = 1200000}]'
    plain = task(sassan, write(file, launch()))["bound"]["us"]
    write(file, launch(more=host))
    unknown = run(sassan, file)
    assert (unknown.status, "copy-time" in unknown.err) == (3, True)
    assert task(sassan, file, "--copies", "12 GB/s")["bound"]["us"] == pytest.approx(plain + 100 + 2.0 + BETWEEN)
    assert task(sassan, file, "--copies", "outside")["bound"]["us"] == pytest.approx(plain)
    within = 'writes = [{address = "0x200000000000", size = 1000000, source = "0x200001000000"}]'
    moved = task(sassan, write(file, launch(more=within)))["bound"]["us"]
    assert moved == pytest.approx(plain + 2 * 1_000_000 / (1555 * 0.83 * 1000) + 2.0 + BETWEEN)


GATE = ("--deadline", "60us", "--copies", "outside")


def test_the_gate_fails_where_the_grid_grows_the_clock_is_lowered_or_the_share_is(sassan: Sassan, file: Path, tmp_path: Path):
    board = tmp_path / "board.toml"
    text = (
        '[sources]\na = "assumed: a board"\n[product."Board"]\narchitecture = "sm_80"\nsms = 16\nboost_mhz = {}\ndram = "LPDDR5"\n'
        'dram_gb = 64\ndram_gb_per_s = 204.8\nl2_kib = 4096\nsource = "a"\n'
    )
    write(board, text.format(1300))
    write(file, launch())
    assert run(sassan, file, *GATE, gpu=str(board)).status == 0
    grown = run(sassan, write(file, launch(grid=6400)), *GATE, gpu=str(board))
    assert (grown.status, "may be missed" in grown.out) == (1, True)
    write(file, launch())
    slow = run(sassan, file, *GATE, gpu=str(write(board, text.format(130))))
    assert (slow.status, "may be missed" in slow.out) == (1, True)
    write(board, text.format(1300))
    shared = run(sassan, file, *GATE, "--dram-share", "10%", gpu=str(board))
    assert (shared.status, "others leave it 10.0% of the bandwidth" in shared.out.splitlines()[0]) == (1, True)


def test_an_integrated_gpu_says_in_its_first_line_that_nothing_else_moves_dram(sassan: Sassan, file: Path):
    assert "nothing else moves DRAM: neither the CPU" in run(sassan, file, gpu="Orin").out.splitlines()[0]
    assert "moves DRAM" not in run(sassan, file).out.splitlines()[0]
    others = run(sassan, file, "--co-runners", "20 GB/s", gpu="Orin").out.splitlines()[0]
    assert "others leave it 86.0% of the bandwidth given" in others


def test_what_others_move_lengthens_bounds_estimates_and_latencies(sassan: Sassan):
    shape = (SAXPY, "--block-dim", "256", "--grid", "6400", "--param", "0x160=1638400", "--gpu", "Orin", "--json")
    alone, shared = (sassan("analyze", *shape, *more).document["functions"][0] for more in ((), ("--dram-share", "50%")))
    assert shared["grid"]["us"] > 1.3 * alone["grid"]["us"]
    assert shared["wcet"]["value"] > alone["wcet"]["value"], "latencies of DRAM are longer"
    expected = [sassan("estimate", *shape, *more).document["functions"][0]["estimate"]["us"] for more in ((), ("--dram-share", "50%"))]
    assert expected[1] > 1.5 * expected[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--deadline", "5"), "--deadline must be a time such as"),
        (("--deadline", "34ms", "--period", "33ms"), "later than --period"),
        (("--copies", "inside"), "--copies must be a bandwidth"),
        (("--dram-share", "0%"), "--dram-share must be a part"),
        (("--dram-share", "60%", "--co-runners", "1 GB/s"), "exclude each other"),
        (("--co-runners", "2 TB/s"), "leaves nothing"),
        (("-f", "saxpy"), "a task is all launches"),
        (("--model", "unit"), "a bound in cycles"),
        (("--task", "camera"), "camera"),
        (("-o", "x.png"), "cannot tell the format"),
        (("--certificate", "x.html"), "cannot tell the format"),
    ],
)
def test_what_is_no_task_is_refused(more: tuple[str, ...], said: str, sassan: Sassan, file: Path):
    result = run(sassan, file, *more)
    assert_refused(result, 2)
    assert said in result.err


def test_a_task_needs_a_gpu_and_launches(sassan: Sassan, file: Path):
    assert "needs a GPU" in sassan("task", SAXPY, "--launches", file).err
    assert "needs its launches" in sassan("task", SAXPY, "--gpu", A100).err
    assert "has no effect without --gpu" in sassan("analyze", SAXPY, "--dram-share", "60%").err


def test_figures_are_in_the_order_in_which_they_move_the_bound(sassan: Sassan, file: Path, tmp_path: Path):
    picture = tmp_path / "x.svg"
    found = task(sassan, file, "-o", picture, "--dram-share", "80%")
    moves = [term["moves_us"] for term in found["terms"]]
    assert moves == sorted(moves, reverse=True)
    assert min(moves) >= 0, "a figure that is worse makes no bound shorter"
    by_name = {term["figure"]: term for term in found["terms"]}
    assert by_name["time between launches"]["moves_us"] == pytest.approx(4 * 0.09)
    assert by_name["launch overhead"]["moves_us"] == pytest.approx(4 * 0.2, abs=0.01)
    assert by_name["share of DRAM"]["moves_us"] >= by_name["DRAM efficiency"]["moves_us"] > 1
    assert {"clock of the SMs", "L2 bandwidth", "dispatch of blocks", "latency global"} <= by_name.keys()
    assert by_name["launch overhead"]["status"] == "assumed"
    texts = [each.text or "" for each in ET.fromstring(picture.read_text("utf-8")).iter() if each.tag.endswith("text")]  # noqa: S314 - our own
    assert sum(text.startswith("latency global") for text in texts) == 1


PROJECT = """
[task.camera]
program = "{program}"
launches = "launches.toml"
gpu = "Orin"
deadline = "2ms"
period = "33ms"
co_runners = "20 GB/s"
"""


def test_a_task_of_the_project_has_its_program_and_its_options(sassan: Sassan, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    project = write(tmp_path / "sassan.toml", PROJECT.format(program=SAXPY))
    given = task(sassan, file, "--deadline", "2ms", "--period", "33ms", "--co-runners", "20 GB/s", "--project", "none", gpu="Orin")
    for words in ((), ("--task", "camera")):
        found = sassan("task", *words, "--json").document["task"]
        assert {**found, "name": ""} == given
        assert found["name"] == "camera"
    assert sassan("task", "--deadline", "1us").status == 1, "the command line goes first"
    assert sassan("analyze", SAXPY).status == 0, "other commands pass tasks over"
    write(project, project.read_text("utf-8") + PROJECT.format(program="x").replace("camera", "lidar"))
    several = sassan("task")
    assert_refused(several, 2)
    assert "camera, lidar" in several.err
    assert "no task 'radar'" in sassan("task", "--task", "radar").err


@pytest.mark.parametrize("wrong", ["deadline = 5", "color = 'red'", "period = '1 day'", "program = []", "dram-share = '60%'"])
@pytest.mark.usefixtures("file")
def test_a_task_of_the_project_that_is_wrong_is_refused(wrong: str, sassan: Sassan, tmp_path: Path):
    key = wrong.partition(" ")[0]
    kept = [line for line in PROJECT.format(program=SAXPY).splitlines() if not line.startswith(key)]
    write(tmp_path / "sassan.toml", "\n".join([*kept, wrong]))
    result = sassan("task")
    assert result.status in (2, 3)
    assert len(result.codes) == 1
    assert result.out == ""


def test_the_table_is_a_sheet_too(sassan: Sassan, file: Path):
    head, first, second = run(sassan, file, "--csv").out.splitlines()
    assert {"response_us", "share", "copies_us", "dirty_us", "end_us", "slack_us"} <= set(head.split(","))
    assert [line.partition(",")[0] for line in (first, second)] == ["saxpy", "saxpy"]
