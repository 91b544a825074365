"""`sassan task` where launches overlap: several streams, several tasks; the certificate of such a task."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Result, Sassan, assert_refused
from cli.test_certificate import FAULTS as SEEDED
from cli.test_certificate import Fault, at, refusal
from cli.test_task import A100, launch
from sassan.cli import main

Document = dict[str, Any]
TASKS = """
[task.camera]
program = "saxpy.cubin"
launches = "camera.toml"
gpu = "Orin"
deadline = "2ms"
period = "33ms"
copies = "12 GB/s"
beside = ["lidar"]

[task.lidar]
program = "reduce_shared.cubin"
launches = "lidar.toml"
period = "10ms"
copies = "10 GB/s"

[task.hasty]
program = "saxpy.cubin"
launches = "lidar.toml"
period = "1us"

[task.endless]
program = "saxpy.cubin"
launches = "lidar.toml"

[task.elsewhere]
program = "saxpy.cubin"
launches = "lidar.toml"
period = "10ms"
gpu = "T4"
"""
HOST = 'writes = [{address = "0x200000000000", size = 12000}]'
CAMERA = launch(count=2, more=HOST) + launch(grid=300, more="stream = 3")
LIDAR = f'[[launch]]\nkernel = "reduce_shared"\ngrid = [300, 1, 1]\nblock = [128, 1, 1]\nshared = 2048\n{HOST}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def written(folder: Path) -> Path:
    for kernel in ("saxpy", "reduce_shared"):
        shutil.copy(SAMPLES / "sm_80" / f"{kernel}.cubin", folder)
    (folder / "sassan.toml").write_text("loop-bound = 20\n" + TASKS, "utf-8")
    (folder / "camera.toml").write_text(CAMERA, "utf-8")
    (folder / "lidar.toml").write_text(LIDAR, "utf-8")
    return folder


def run(sassan: Sassan, *words: str | Path) -> Result:
    return sassan("task", "--task", "camera", *words)


@pytest.mark.usefixtures("project")
def test_what_launches_add_and_runs_of_others_are_the_response_time(sassan: Sassan):
    found = run(sassan, "--json").document["task"]
    (lidar,) = found["others"]
    assert (found["mode"], lidar["name"], lidar["runs"]) == ("interfered", "lidar", 1)
    rows = [each["response"]["bound_us"] for each in found["launches"]]
    assert found["bound"]["us"] == pytest.approx(sum(rows) + lidar["bound_us"])
    assert found["estimate"]["us"] < found["bound"]["us"] < 2000
    assert lidar["response_us"] <= 10_000
    assert all(each["response"]["end_us"] is None for each in found["launches"]), "no launch has a place of its own"
    texts = found["bound"]["assumptions"]
    assert texts[0].startswith("interfered: nothing but the tasks named")
    assert not any("nothing else is on the GPU" in text or "no other kernel is on the SM" in text for text in texts)
    assert not any("no other process" in text for text in texts)
    assert any("keeps 0 KiB" in text for text in texts), "L2 belongs to all"


@pytest.mark.usefixtures("project")
def test_the_text_names_who_shares_the_gpu(sassan: Sassan):
    out = run(sassan, "-q").out
    assert "interfered: launches of the task and lidar overlap in any order" in out.splitlines()[0]
    assert "lidar" in out.partition("its own response us")[2].splitlines()[1]


def test_several_streams_have_a_bound_of_their_own(sassan: Sassan, tmp_path: Path):
    def bound(text: str) -> dict[str, Any]:
        (tmp_path / "l.toml").write_text(text, "utf-8")
        found: dict[str, Any] = sassan(
            "task", SAMPLES / "sm_80" / "saxpy.cubin", "--launches", tmp_path / "l.toml", "--gpu", A100, "--json"
        ).document["task"]
        return found

    in_turn, apart = bound(launch() + launch(grid=300)), bound(launch() + launch(grid=300, more="stream = 7"))
    assert [each["mode"] for each in (in_turn, apart)] == ["isolated", "interfered"]
    assert in_turn["bound"]["us"] < apart["bound"]["us"] < 3 * in_turn["bound"]["us"]
    assert bound(launch(count=2) + launch(more="stream = 7"))["bound"]["us"] > bound(launch() + launch(more="stream = 7"))["bound"]["us"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--beside", "nobody"), "no task 'nobody'"),
        (("--beside", "lidar", "--beside", "lidar"), "is named once"),
        (("--beside", "camera"), "is named once"),
        (("--beside", "endless"), "need a period: endless"),
        (("--beside", "elsewhere"), "the task 'elsewhere' has gpu = T4"),
    ],
)
def test_tasks_that_cannot_share_a_gpu_are_refused(words: tuple[str, ...], said: str, sassan: Sassan):
    result = run(sassan, *words, "-q")
    assert_refused(result, 2)
    assert said in result.err


def test_a_program_without_a_project_has_no_other_tasks(sassan: Sassan, tmp_path: Path):
    (tmp_path / "l.toml").write_text(launch(), "utf-8")
    words = ("--launches", tmp_path / "l.toml", "--gpu", A100, "--project", "none", "--beside", "lidar")
    assert_refused(sassan("task", SAMPLES / "sm_80" / "saxpy.cubin", *words), 2)


def test_runs_that_may_pile_up_are_a_gap(sassan: Sassan, project: Path):
    (project / "lidar.toml").write_text(launch(), "utf-8")
    result = run(sassan, "--beside", "hasty", "-q")
    assert (result.status, "overload" in result.err) == (3, True)
    assert "may not have ended when the next one" in result.out


@pytest.mark.parametrize(("more", "why"), [("cooperative = true", "cooperative launch")])
def test_a_launch_that_waits_for_more_than_a_place_is_a_gap(more: str, why: str, sassan: Sassan, project: Path):
    (project / "lidar.toml").write_text(LIDAR + more, "utf-8")
    result = run(sassan, "--json")
    assert result.status == 3
    (gap,) = [gap for gap in result.document["task"]["gaps"] if gap["code"] == "needs-the-gpu"]
    assert why in gap["message"]


def test_the_gantt_chart_and_the_page_show_the_other_task(sassan: Sassan, project: Path):
    assert run(sassan, "--gantt", "g.svg", "--certificate", "c.json", "-q").status == 0
    chart, page = (project / "g.svg").read_text("utf-8"), (project / "c.html").read_text("utf-8")
    assert chart.count("<rect") > 4
    for text in (chart, page):
        assert "lidar" in text
        assert "another task" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = written(tmp_path_factory.mktemp("set"))
    words = ("--project", str(path / "sassan.toml"), "--task", "camera", "-q", "--certificate", str(path / "c.json"))
    assert main.run(["task", *words]) == 0
    return path


@pytest.fixture
def document(folder: Path) -> Document:
    found: Document = json.loads((folder / "c.json").read_text("utf-8"))
    return found


def test_a_certificate_of_several_tasks_holds(folder: Path, document: Document):
    assert refusal(folder, copy.deepcopy(document), sealed=True) == ""
    roles = {each["role"] for each in document["inputs"]}
    assert roles == {"program", "launches", "program of lidar", "launches of lidar", "project"}


def with_a_period_of_its_bound(document: Document) -> None:
    """Let the next run of the task start as the one before ends: two may be there while the other task runs."""
    document["task"]["period_us"] = document["task"]["bound_us"]


FAULTS: dict[str, tuple[Fault, str]] = {
    "another mode": (at("task", "mode", value="isolated"), "neither isolated"),
    "a task is dropped": (lambda document: document["others"].clear(), ""),
    "a shorter period": (at("others", 0, "period_us", value="1"), "may not have ended"),
    "no runs": (at("others", 0, "runs", value=0), "is not 1"),
    "more runs, as the period is shorter": (with_a_period_of_its_bound, "does not hold"),
    "a shorter response": (at("others", 0, "response_us", value="1"), "does not hold"),
    "others add less": (at("others", 0, "bound_us", value="1"), "others[0].bound_us"),
    "a launch of another task counts less often": (at("others", 0, "steps", 0, "count", value=0), "there is no launch"),
    "more launches are in turn": (at("steps", 0, "in_turn", value=50), "bound_us"),
    "a block takes less": (at("launches", 0, "takes", "warps", value="1/64"), "bound_us"),
    "a block takes nothing": (at("launches", 0, "takes", "warps", value="0"), "no such part"),
    "L2 keeps something": (at("product", "l2_kept_bytes", value=1 << 20), "L2 keeps nothing"),
    "more SMs": (at("product", "sms", value=64), "bound_us"),
    "smaller copies of the other": (at("others", 0, "copy_bytes_per_us", value="100000"), "others[0].bound_us"),
    "less is left dirty by the other": (at("others", 0, "steps", 0, "left_bytes", value=0), "others[0].bound_us"),
    **{
        name: SEEDED[name]
        for name in ("a row of a program is dropped", "a launch is shorter", "an assumption is dropped", "a faster clock")
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_found(fault: str, folder: Path, document: Document):
    change, why = FAULTS[fault]
    change(document)
    said = refusal(folder, document, sealed=True)
    assert said
    assert why in said


LOOKBACK = '[[launch]]\nkernel = "lookback"\ngrid = [64, 1, 1]\nblock = [128, 1, 1]\n'


def test_blocks_that_wait_for_words_of_others_are_certified_one_after_the_other(sassan: Sassan, tmp_path: Path):
    path, launches = tmp_path / "c.json", tmp_path / "l.toml"
    launches.write_text(LOOKBACK, "utf-8")
    words = (SAMPLES / "loops" / "sm_80" / "lookback.cubin", "--launches", launches, "--gpu", A100, "-q")
    assert sassan("task", *words, "--certificate", path).status == 0
    made = json.loads(path.read_text("utf-8"))
    assert made["launches"][0]["grid"]["line"] == 64
    for line, why in ((0, "does not follow from the optima"), (63, "not all blocks")):
        made["launches"][0]["grid"]["line"] = line
        assert why in refusal(tmp_path, made, sealed=True)
    launches.write_text(LOOKBACK + LOOKBACK + "stream = 1\n", "utf-8")
    apart = sassan("task", *words)
    assert (apart.status, "needs-the-gpu" in apart.err) == (3, True)
