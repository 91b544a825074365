"""The file of results: what it refuses, and where it goes on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sassan.app.request import AnalysisRequest
from sassan.app.settings import Settings
from sassan.batch.job import Job
from sassan.batch.lines import ResultPosition, line, refusal
from sassan.batch.results import ResultsFile
from sassan.errors import InputError, UsageError
from sassan.ipet.wcet import Setup
from sassan.products import find
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel

JOB = Job(AnalysisRequest((), Settings(loop_bound=10)))


def said(file: str, function: int | None = None, functions: int | None = None) -> bytes:
    return line(refusal(ResultPosition(file, "ab", function, functions), InputError("c", "m")))


def written(path: Path, *lines: bytes) -> None:
    with ResultsFile(str(path), JOB) as results:
        for one in lines:
            results.write(one)


def resumed(path: Path, job: Job = JOB) -> list[tuple[str, int | None, bool]]:
    with ResultsFile(str(path), job, resume=True) as results:
        return [(one.file, one.function, one.done) for one in results.begun.places]


def refused(path: Path, job: Job = JOB, **how: bool) -> str:
    with pytest.raises(UsageError) as caught:
        ResultsFile(str(path), job, **how)
    return caught.value.code


def test_the_first_line_says_who_wrote_and_how(tmp_path: Path):
    written(tmp_path / "r", said("a"))
    head = json.loads((tmp_path / "r").read_bytes().splitlines()[0])
    assert (head["schema"], head["tool"]["name"], head["batch"]["settings"]["loop_bound"]) == (1, "sassan", 10)


def test_a_file_without_a_line_is_not_left_behind(tmp_path: Path):
    written(tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_results_are_not_overwritten_unasked(tmp_path: Path):
    written(tmp_path / "r", said("a"))
    assert refused(tmp_path / "r") == "output-exists"


def test_results_are_overwritten_when_asked(tmp_path: Path):
    written(tmp_path / "r", said("a"))
    with ResultsFile(str(tmp_path / "r"), JOB, overwrite=True) as results:
        results.write(said("b"))
    assert [json.loads(one).get("file") for one in (tmp_path / "r").read_bytes().splitlines()] == [None, "b"]


def test_a_file_is_done_with_the_last_of_its_functions(tmp_path: Path):
    written(tmp_path / "r", said("a", 0, 2), said("a", 1, 2), said("b", 0, 3), said("b", 1, 3))
    assert resumed(tmp_path / "r") == [("a", 1, True), ("b", 1, False)]


def test_a_torn_last_line_is_dropped(tmp_path: Path):
    written(tmp_path / "r", said("a"), said("b")[:-7])
    assert resumed(tmp_path / "r") == [("a", None, True)]
    assert (tmp_path / "r").read_bytes().endswith(said("a"))


def test_a_torn_first_line_is_nothing(tmp_path: Path):
    (tmp_path / "r").write_bytes(b'{"schema": 1, "to')
    assert resumed(tmp_path / "r") == []


def test_other_settings_are_refused_and_named(tmp_path: Path):
    written(tmp_path / "r", said("a"))
    with pytest.raises(UsageError, match="loop_bound was 10, is 11") as caught:
        ResultsFile(str(tmp_path / "r"), Job(AnalysisRequest((), Settings(loop_bound=11))), resume=True)
    assert caught.value.code == "other-settings"


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path / "r", said("a"))
    monkeypatch.setattr("sassan.app.documents.__version__", "99.0")
    assert refused(tmp_path / "r", resume=True) == "other-settings"


OTHERS = [
    b"LCL\n",
    b"LCL",
    b"[]\n",
    b'{"schema": 1}\n',
    b'{"schema": 1}',
    b'{"schema": 1, "tool": {"name": "sassan", "version": "0.1.0"}, "functions": []}\n',
    b"\xff\n",
    b"[" * 100_000 + b"\n",
]


@pytest.mark.parametrize("how", ["resume", "overwrite"])
@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_batch_is_neither_gone_on_with_nor_written_anew(tmp_path: Path, text: bytes, how: str):
    (tmp_path / "r").write_bytes(text)
    assert refused(tmp_path / "r", **{how: True}) == "not-a-batch"
    assert (tmp_path / "r").read_bytes() == text


def test_an_empty_file_and_results_of_anything_that_was_a_batch_are_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path / "r", said("a"))
    head, _ = (tmp_path / "r").read_bytes().splitlines(keepends=True)
    monkeypatch.setattr("sassan.app.documents.__version__", "99.0")
    for text in (b"", head + b"torn", head):
        (tmp_path / "r").write_bytes(text)
        with ResultsFile(str(tmp_path / "r"), Job(AnalysisRequest((), Settings(loop_bound=11))), overwrite=True) as results:
            results.write(said("b"))
        assert (tmp_path / "r").read_bytes().endswith(b"\n" + said("b"))


@pytest.mark.parametrize(
    "lines",
    [
        (said("a", 1, 2),),
        (said("a", 0, 2), said("b")),
        (said("a", 0, 2), said("a", 0, 2)),
        (said("a", 0, 3), said("a", 1, 4)),
        (b"{}\n",),
        (b'{"file": "a", "input": {"sha256": 1}}\n',),
        (b'{"file": "a", "input": {"sha256": "x", "function": "1"}}\n',),
        (b"\n", said("a")),
    ],
)
def test_lines_that_no_batch_writes_are_refused(tmp_path: Path, lines: tuple[bytes, ...]):
    written(tmp_path / "r", *lines)
    assert refused(tmp_path / "r", resume=True) == "results-damaged"


def test_two_batches_do_not_write_one_file(tmp_path: Path):
    with ResultsFile(str(tmp_path / "r"), JOB):
        assert refused(tmp_path / "r", resume=True) == "output-busy"


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path: Path):
    assert refused(tmp_path) == "cannot-write"
    assert refused(tmp_path / "none" / "r") == "cannot-write"


@pytest.mark.parametrize(
    "other",
    [
        Job(),
        Job(AnalysisRequest((), Settings(loop_bound=10, warps=16))),
        Job(replace(JOB.request, patterns=("k",))),
        replace(JOB, time_limit=1.0),
        Job(AnalysisRequest((), Settings(loop_bound=10, setup=Setup(without=frozenset({"a"}))))),
        Job(AnalysisRequest((), Settings(loop_bound=10, gpu=find("RTX 3080")))),
        Job(AnalysisRequest((), Settings(loop_bound=10, costs=TableCostModel(Tables(None, {"global": 900}))))),
    ],
)
def test_a_fingerprint_tells_settings_apart(other: Job):
    assert other.fingerprint() != JOB.fingerprint()


def test_a_fingerprint_is_the_same_in_every_order_of_sets_and_mappings():
    one = Job(
        AnalysisRequest(
            (), Settings(setup=Setup(without=frozenset({"a", "b"})), costs=TableCostModel(Tables(None, {"global": 9, "shared": 8})))
        )
    )
    other = Job(
        AnalysisRequest(
            (), Settings(setup=Setup(without=frozenset({"b", "a"})), costs=TableCostModel(Tables(None, {"shared": 8, "global": 9})))
        )
    )
    assert one.fingerprint() == other.fingerprint()


def test_where_results_come_from_is_no_setting():
    assert Job(replace(JOB.request, cached=False)).fingerprint() == JOB.fingerprint()


def test_results_go_to_no_device(tmp_path: Path):
    assert refused(Path("/dev/null")) == "cannot-write"
    assert refused(Path("/dev/null"), overwrite=True) == "cannot-write"
    assert Path("/dev/null").exists()
    assert refused(tmp_path) == "cannot-write"
