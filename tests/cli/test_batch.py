"""`sassan batch` as a shell sees it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from budget import FULL, PATIENCE, some
from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.executor import dask

pytestmark = pytest.mark.slow

SMALL = ["saxpy", "early_return"]
BOUND = ("--loop-bound", "10")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one listing of two functions in `d`, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    shutil.copy(SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass", tmp_path / "d" / "two.sass")
    return tmp_path


def lines(path: str) -> list[dict[str, Any]]:
    """Return the lines of a file of results, without its first."""
    return [json.loads(one) for one in Path(path).read_text().splitlines()][1:]


def test_a_batch_writes_a_line_per_function_and_a_summary(sassan: Sassan, folder: Path):
    del folder
    Path("d/bad.sass").write_text("?\n")
    Path("d/notes.txt").touch()
    result = sassan("batch", "d", "-o", "r.jsonl", "--executor", "serial", *BOUND)
    assert (result.status, result.err) == (3, "")
    assert [(one["file"], "error" in one) for one in lines("r.jsonl")] == [
        ("d/bad.sass", True),
        ("d/two.sass", False),
        ("d/two.sass", False),
    ]
    shown = [" ".join(one.split()) for one in result.out.splitlines()]
    assert shown[:6] == [
        "count what",
        "2 files",
        "2 functions",
        "2 functions with a WCET",
        "1 refused: unknown-input",
        "1 other files skipped",
    ]
    assert "d/bad.sass: unknown-input: the input is neither a SASS listing nor PTX" in result.out


def test_the_settings_in_the_first_line_are_json_and_no_text_of_python(sassan: Sassan, folder: Path):
    options = ("--executor", "serial", "--loop-bound", "3", "--block-dim", "32", "--order", "taken-first")
    assert sassan("batch", folder, "-o", folder / "x.jsonl", *options).status in {0, 3}
    head = (folder / "x.jsonl").read_text("utf-8").partition("\n")[0]
    settings = json.loads(head)["batch"]["settings"]
    assert (settings["loop_bound"], settings["exploration"]["order"]) == (3, "taken-first")
    assert not re.search(r"\w\(|<\w|None|True|False|frozenset|Path", head)


def test_the_lines_are_what_analyze_says(sassan: Sassan, folder: Path):
    del folder
    assert sassan("batch", "d/two.sass", "-o", "r.jsonl", "--executor", "serial", "-W", "4", "--model", "table").status == 0
    found = sassan("analyze", "d/two.sass", "-W", "4", "--model", "table", "--json").document["functions"]
    for one in found:
        del one["profile"]  # of baselines
    assert [{key: value for key, value in one.items() if key != "input"} for one in lines("r.jsonl")] == found


def test_a_value_that_its_parameter_cannot_hold_is_refused_as_analyze_does(sassan: Sassan, folder: Path):
    shutil.copy(SAMPLES / "sm_61" / "saxpy.ptx", folder / "d" / "one.ptx")
    result = sassan("batch", "d", "-o", "r.jsonl", "--executor", "serial", "--param", "saxpy_param_0=99999999999")
    assert (result.status, [one.get("error", {}).get("code") for one in lines("r.jsonl")]) == (2, ["parameter", None, None])


def test_results_may_go_to_standard_output(sassan: Sassan, folder: Path):
    del folder
    result = sassan("batch", "d", "-o", "-", "--executor", "serial")
    assert [json.loads(one)["file"] for one in result.out.splitlines()] == ["d/two.sass", "d/two.sass"]
    assert result.err.startswith("files: 1\nfunctions: 2\n")


def test_the_summary_may_be_a_document(sassan: Sassan, folder: Path):
    del folder
    found = sassan("batch", "d", "--executor", "serial", "--json").document
    assert (found["schema"], found["batch"]["files"], found["batch"]["functions"]) == (1, 1, 2)
    assert len(found["batch"]["slowest"]) == 2


def test_results_that_are_there_are_kept_unless_told_otherwise(sassan: Sassan, folder: Path):
    del folder
    first = ("batch", "d", "-o", "r.jsonl", "--executor", "serial")
    assert sassan(*first).status == 0
    before = Path("r.jsonl").read_bytes()
    again = sassan(*first)
    assert_refused(again, 2)
    assert again.codes == ["output-exists"]
    assert sassan(*first, "--resume").status == 0
    assert sassan(*first, "--overwrite").status == 0
    assert Path("r.jsonl").read_bytes() == before
    other = sassan(*first, "--resume", *BOUND)
    assert_refused(other, 2)
    assert "loop_bound was not given, is 10" in other.err


def test_a_listing_is_never_overwritten(sassan: Sassan, folder: Path):
    listing = folder / "d" / "two.sass"
    before = listing.read_bytes()
    result = sassan("batch", "d", "-o", "d/two.sass", "--overwrite", "--executor", "serial")
    assert_refused(result, 2)
    assert (result.codes, listing.read_bytes()) == (["not-a-batch"], before)


def test_an_interrupt_before_the_first_line_says_that_nothing_is_there(sassan: Sassan, folder: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    del folder
    monkeypatch.setattr("sassan.batch.results.ResultsFile.write", interrupted)
    result = sassan("batch", "d", "-o", "r.jsonl", "--executor", "serial")
    assert (result.status, result.err) == (
        130,
        "interrupted before the first result: there is no 'r.jsonl'; the same command starts again\n",
    )
    assert not Path("r.jsonl").exists()


def test_a_run_that_was_cut_off_in_the_middle_of_a_line_goes_on(sassan: Sassan, folder: Path):
    del folder
    run = ("batch", "d", "-o", "r.jsonl", "--executor", "serial")
    assert sassan(*run).status == 0
    whole = Path("r.jsonl").read_bytes()
    for size in (len(whole) - 1, whole.rindex(b"\n", 0, -1) + 1, whole.index(b"\n") + 9, 5):
        Path("r.jsonl").write_bytes(whole[:size])
        assert sassan(*run, "--resume").status == 0
        assert Path("r.jsonl").read_bytes() == whole


def test_results_inside_the_directory_that_is_read_are_no_input(sassan: Sassan, folder: Path):
    del folder
    assert sassan("batch", "d", "-o", "d/r.sass", "--executor", "serial").status == 0
    assert sassan("batch", "d", "-o", "d/r.sass", "--executor", "serial", "--resume").status == 0
    assert [one["file"] for one in lines("d/r.sass")] == ["d/two.sass", "d/two.sass"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("-",), "standard-input"),
        (("d", "--resume"), "usage"),
        (("d", "-o", "r", "--resume", "--overwrite"), "usage"),
        (("d", "-o", "-", "--json"), "usage"),
        (("d", "--executor", "dask"), "usage"),
        (("d", "--scheduler", "tcp://127.0.0.1:1"), "usage"),
        (("d", "--executor", "serial", "-j", "2"), "usage"),
        (("d", "--executor", "serial", "--time-limit", "1"), "usage"),
        (("d", "-o", "none/r.jsonl", "--executor", "serial"), "cannot-write"),
        (("d", "--sm", "x", "--executor", "serial"), "architecture"),
    ],
)
def test_options_that_cannot_be_carried_out_are_refused(sassan: Sassan, folder: Path, arguments: tuple[str, ...], code: str):
    del folder
    result = sassan("batch", *arguments)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_a_directory_with_nothing_to_analyze_is_refused_and_leaves_no_file(sassan: Sassan, folder: Path):
    (folder / "empty").mkdir()
    result = sassan("batch", "empty", "-o", "r.jsonl", "--executor", "serial")
    assert_refused(result, 3)
    assert result.codes == ["no-input"]
    assert not Path("r.jsonl").exists()


def test_hostile_names_steer_no_terminal(sassan: Sassan, folder: Path):
    Path("d/\x1b[31m\nbad\u202e.sass").write_text("?\n")
    del folder
    result = sassan("batch", "d", "--executor", "serial")
    assert result.status == 3
    assert all(line.isprintable() for line in (result.out + result.err).splitlines())
    assert "\\x1b[31m\\nbad\\u202e.sass: unknown-input" in result.out


def test_a_function_that_takes_too_long_is_refused_alone(sassan: Sassan, folder: Path):
    shutil.copy(SAMPLES / "sm_61" / "medium_500.cuobjdump.sass", folder)
    result = sassan("batch", "medium_500.cuobjdump.sass", "-o", "r.jsonl", "-j", "1", "--time-limit", "0.01", *BOUND)
    assert result.status == 3
    (found,) = lines("r.jsonl")
    assert (found["name"], found["error"]["code"], found["input"]["functions"]) == ("medium_500", "time-limit", 1)


def write_hostile(folder: Path) -> None:
    """Write files with names that a shell or a page could take for something else, and damaged ones."""
    code, cubin = (SAMPLES / "sm_61" / "saxpy.cuobjdump.sass").read_bytes(), (SAMPLES / "sm_80" / "saxpy.cubin").read_bytes()
    for name in ("\x1b[31m", "a\nb", "-o", "$(touch ran)", "; touch ran;", "\u202e", "<img src=x onerror=alert(1)>", "a" * 240, "' or \""):
        (folder / f"{name}.sass").write_bytes(code)
    for name, data in {
        "cut.cubin": cubin[:900],
        "empty.cubin": b"",
        "elf.cubin": b"\x7fELF" + bytes(500),
        "zeros.fatbin": bytes(500),
    }.items():
        (folder / name).write_bytes(data)
    (folder / "open.ptx").write_text(".version 8.0\n.target sm_80\n.func" + "{" * 5000)
    (folder / "loop.sass").symlink_to("loop.sass")
    (folder / "zero.sass").symlink_to("/dev/zero")
    (folder / "folder.sass").mkdir()
    os.mkfifo(folder / "pipe.sass")


@pytest.fixture
def cluster() -> Iterator[str]:
    """A cluster of one worker: that several keep the order is tested with the executor."""
    distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as made:
        yield made.scheduler_address


def test_every_executor_writes_the_same_lines_also_of_hostile_names_and_files(
    sassan: Sassan, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dask, "_CONNECT", PATIENCE)  # a busy machine
    write_hostile(folder / "d")
    inputs = [str(SAMPLES / arch / f"{name}.nvdisasm.sass") for arch in some(("sm_61", "sm_90")) for name in SMALL]
    runs: dict[str, tuple[str, ...]] = {"serial": (), "processes": ("-j", "2")}
    if FULL:
        runs["dask"] = ("--scheduler", request.getfixturevalue("cluster"))
    for executor, options in runs.items():
        result = sassan("batch", *inputs, "none.sass", "d", *BOUND, "-o", executor, "--executor", executor, *options)
        assert (result.status, result.err) == (3, "")
        assert all(line.isprintable() for line in result.out.splitlines())
    assert len({Path(executor).read_bytes() for executor in runs}) == 1
    assert len([one for one in lines("serial") if "error" not in one]) == len(inputs) + 11
    assert sorted(path.name for path in Path().iterdir()) == sorted(["d", *runs])


def test_a_page_of_hostile_names_and_files_holds_them_as_text(sassan: Sassan, folder: Path):
    write_hostile(folder / "d")
    result = sassan("serve", "d", "--export", "page.html", "-q")
    assert result.status == 3
    assert all(line.isprintable() for line in result.err.replace("\t", " ").splitlines())
    text = Path("page.html").read_text("utf-8")
    assert "<img" not in text
    assert "\u202e" not in text
    assert sorted(path.name for path in Path().iterdir()) == ["d", "page.html"]


def test_an_interrupted_run_goes_on_to_the_same_lines(sassan: Sassan, folder: Path):
    del folder
    for number in range(12):
        Path(f"d/{number:02d}.sass").write_text((SAMPLES / "sm_61" / "saxpy.nvdisasm.sass").read_text() + f"\n// {number}\n" + " " * 99_000)
    command = [sys.executable, "-m", "sassan", "batch", "d", "-o", "r.jsonl", "-j", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    with process:
        while not (Path("r.jsonl").exists() and Path("r.jsonl").read_bytes().count(b"\n") > 3):
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert err == "interrupted: 'r.jsonl' has the results so far; the same command with --resume continues\n"
    done = len(lines("r.jsonl"))
    assert 3 <= done < 14
    found = sassan("batch", "d", "-o", "r.jsonl", "--resume", "--executor", "serial", "--json").document["batch"]
    assert (found["before"], found["files"], found["functions"]) == (done, 13, 14)
    assert sassan("batch", "d", "-o", "whole", "--executor", "serial").status == 0
    assert Path("r.jsonl").read_bytes() == Path("whole").read_bytes()


def test_a_cache_that_workers_do_not_use_is_one_note(sassan: Sassan, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "open"))
    result = sassan("batch", str(folder), "-o", str(tmp_path / "out.jsonl"), "--executor", "serial")
    assert result.err.count("is not used") == 1
