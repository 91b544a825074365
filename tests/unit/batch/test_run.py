"""From inputs to lines: what is split, what is lost, and what goes on."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.reading import read_facts, read_program
from sassan.app.request import AnalysisRequest
from sassan.app.settings import Settings
from sassan.batch import BatchSummary, Begun, Job, run
from sassan.batch import work as working
from sassan.batch.inputs import Input
from sassan.batch.lines import ResultPosition
from sassan.batch.work import Item, ResultChunk, lost, work
from sassan.errors import InputError, UsageError
from sassan.executor import More, Serial, Threads
from sassan.fields.field import document

JOB = Job(AnalysisRequest((), Settings(loop_bound=10)))
SAXPY = "saxpy.nvdisasm.sass"
ERROR = InputError("worker-lost", "gone")


class Lines:
    def __init__(self) -> None:
        self.text = b""

    def write(self, lines: bytes) -> None:
        self.text += lines

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(one) for one in self.text.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sample(folder: Path, name: str, arch: str = "sm_61", to: str = "") -> str:
    shutil.copy(SAMPLES / arch / name, folder / (to or name))
    return to or name


def ran(*paths: str, job: Job = JOB, begun: Begun | None = None) -> tuple[list[dict[str, Any]], BatchSummary]:
    sink = Lines()
    summary = run(paths, job, Serial(), sink, begun=begun)
    return sink.documents, summary


def item(*files: str, **more: Any) -> Item:
    return Item(tuple(Input(one, str(Path(one).absolute())) for one in files), **more)


def test_a_line_has_the_keys_of_analyze_and_says_where_it_belongs(folder: Path):
    file = sample(folder, SAXPY)
    (found,), _ = ran(file)
    place = found.pop("input")
    (function,) = read_program(file).functions
    assert found == json.loads(json.dumps(document(AnalysisFields, analyze(function, JOB.request.settings, file))))
    assert place == {"sha256": "sha256", "function": 0, "functions": 1} | {"sha256": place["sha256"]}
    assert len(place["sha256"]) == 64


def test_a_file_with_several_functions_has_a_line_for_each(folder: Path):
    found, summary = ran(sample(folder, "separate_sections.cuobjdump.sass"), sample(folder, SAXPY))
    assert [(one["file"], one["input"]["function"], one["input"]["functions"]) for one in found][-1] == (SAXPY, 0, 1)
    assert (summary.files, summary.functions) == (2, len(found))


def test_a_file_that_is_refused_is_a_line_and_stops_no_other(folder: Path):
    Path("bad.sass").write_text("nothing of the kind\n")
    Path("empty.ptx").write_text("")
    Path("bytes.cubin").write_bytes(b"\x7fELF" + bytes(100))
    found, summary = ran("bad.sass", "empty.ptx", "none.sass", "bytes.cubin", sample(folder, SAXPY))
    assert [one.get("error", {}).get("code") for one in found] == ["unknown-input", "empty-input", "missing-file", "unsupported-elf", None]
    assert found[2]["error"]["message"] == "there is no file 'none.sass'"
    assert found[2]["input"] == {"sha256": None}
    assert (summary.files, summary.functions, summary.status) == (5, 1, 3)
    assert [one.file for one in summary.first_refused] == ["bad.sass", "empty.ptx", "none.sass", "bytes.cubin"]


def test_a_defect_in_one_function_is_a_line_and_stops_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(function: Any, *more: Any) -> Any:
        if function.arch == "sm_61":
            raise KeyError("oops")
        return analyze(function, *more)

    monkeypatch.setattr("sassan.batch.work.analyze", broken)
    found, summary = ran(sample(folder, SAXPY), sample(folder, SAXPY, "sm_70", to="b.sass"))
    assert (found[0]["error"]["code"], found[0]["error"]["message"], found[0]["name"]) == ("internal", "KeyError: 'oops'", found[1]["name"])
    assert (summary.functions, summary.status) == (1, 5)


def test_a_name_cannot_break_a_line(folder: Path):
    name = "a\n\x1b[31m\u2028\udcff.sass"
    sample(folder, SAXPY, to=name)
    sink = Lines()
    run([name], JOB, Serial(), sink)
    assert sink.text.count(b"\n") == 1
    assert sink.text.isascii()
    assert sink.documents[0]["file"] == name


def test_only_functions_that_are_asked_for_are_analyzed_and_a_file_without_any_has_a_line(folder: Path):
    found, summary = ran(
        sample(folder, SAXPY), sample(folder, "bfs_step.nvdisasm.sass"), job=Job(AnalysisRequest((), patterns=("*saxpy*",)))
    )
    assert [("wcet" in one, one["input"]["functions"]) for one in found] == [(True, 1), (False, 0)]
    assert (summary.files, summary.functions, summary.status) == (2, 1, 0)


def test_a_file_that_holds_much_leaves_portions_behind(folder: Path, monkeypatch: pytest.MonkeyPatch):
    file = sample(folder, "separate_sections.cuobjdump.sass")
    whole, _ = ran(file)
    monkeypatch.setattr(working, "PORTION", 1)
    found = work(JOB, item(file))
    assert isinstance(found, More)
    assert [(one.start, one.stop) for one in found.items] == [(number, number + 1) for number in range(len(whole))]
    assert ran(file)[0] == whole


def test_what_comes_behind_a_file_with_portions_stays_behind_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    files = [sample(folder, SAXPY), sample(folder, "separate_sections.cuobjdump.sass"), sample(folder, SAXPY, "sm_70", to="z.sass")]
    monkeypatch.setattr(working, "PORTION", 60)
    sink, threaded = Lines(), Lines()
    run(files, JOB, Serial(), sink)
    run(files, JOB, Threads(2), threaded)
    assert [one["file"] for one in sink.documents] == [files[0], *[files[1]] * 4, files[2]]
    assert threaded.text == sink.text


def test_several_files_that_were_lost_are_tried_one_by_one():
    assert lost(item("a", "b"), ERROR) == More(ResultChunk(), (item("a"), item("b")))


def test_a_file_that_was_lost_is_taken_apart():
    assert lost(item("a"), ERROR) == More(ResultChunk(), (item("a", apart=True),))


def test_a_file_taken_apart_is_an_item_per_function(folder: Path):
    found = work(JOB, item(sample(folder, "separate_sections.cuobjdump.sass"), apart=True))
    assert isinstance(found, More)
    assert [(one.start, one.stop, one.apart) for one in found.items] == [(n, n + 1, False) for n in range(len(found.items))]
    assert all(one.name and one.arch == "sm_61" for one in found.items)


def test_a_function_that_was_lost_is_a_line_with_its_name():
    found = lost(item("a", start=1, stop=2, functions=3, digest="d", name="k", arch="sm_61"), ERROR)
    assert isinstance(found, ResultChunk)
    assert json.loads(found.lines) == {
        "name": "k",
        "arch": "sm_61",
        "file": "a",
        "error": {"code": "worker-lost", "message": "gone", "hint": None, "status": 3},
        "input": {"sha256": "d", "function": 1, "functions": 3},
    }
    assert found.ended == 0


def test_a_file_that_is_lost_while_it_is_read_is_a_line():
    found = lost(item("a", apart=True), ERROR)
    assert isinstance(found, ResultChunk)
    assert json.loads(found.lines)["input"] == {"sha256": None}
    assert found.ended == 1


def test_a_portion_of_a_file_that_has_changed_is_refused(folder: Path):
    found = work(JOB, item(sample(folder, SAXPY), start=0, stop=1, functions=1, digest="other"))
    assert isinstance(found, ResultChunk)
    assert json.loads(found.lines)["error"]["code"] == "file-changed"


def test_a_batch_goes_on_in_the_middle_of_a_file(folder: Path):
    file = sample(folder, "separate_sections.cuobjdump.sass")
    whole, _ = ran(file, sample(folder, SAXPY))
    first = whole[0]["input"]
    begun = Begun((ResultPosition(file, first["sha256"], 0, first["functions"]),))
    assert ran(file, SAXPY, begun=begun)[0] == whole[1:]


def test_inputs_that_are_done_are_not_analyzed_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (one,), _ = ran(sample(folder, SAXPY))
    monkeypatch.setattr("sassan.batch.work.analyze", None)
    found, summary = ran(SAXPY, begun=Begun((ResultPosition(SAXPY, one["input"]["sha256"], 0, 1),)))
    assert (found, summary.files) == ([], 1)


@pytest.mark.parametrize(
    ("place", "what"),
    [
        (ResultPosition(SAXPY, "other", 0, 1), "its content has changed"),
        (ResultPosition("before.sass", None), f"now '{SAXPY}' stands in its place"),
    ],
)
def test_other_inputs_than_before_are_refused(folder: Path, place: ResultPosition, what: str):
    with pytest.raises(UsageError, match=what) as caught:
        ran(sample(folder, SAXPY), begun=Begun((place,)))
    assert caught.value.code == "inputs-changed"


def test_an_input_that_has_gone_is_refused(folder: Path):
    (one,), _ = ran(sample(folder, SAXPY))
    with pytest.raises(UsageError, match="there is no such input any more"):
        ran(SAXPY, begun=Begun((ResultPosition(SAXPY, one["input"]["sha256"], 0, 1), ResultPosition("z.sass", None))))


def test_nothing_to_analyze_is_refused(folder: Path):
    (folder / "d").mkdir()
    (folder / "d" / "notes.txt").touch()
    with pytest.raises(InputError, match="there is nothing to analyze in 'd'; 1 other files were skipped") as caught:
        ran("d")
    assert caught.value.code == "no-input"


def test_a_time_limit_needs_processes(folder: Path):
    with pytest.raises(UsageError, match="only a process of its own can be ended"):
        ran(sample(folder, SAXPY), job=Job(time_limit=1.0))


def test_flow_facts_may_speak_of_other_files_and_must_be_of_the_same_text(folder: Path):
    file = sample(folder, "bfs_step.nvdisasm.sass")
    (function,) = read_program(file).functions
    Path("facts.toml").write_text(f'[function."elsewhere"]\ntext = "sha256:0"\n[function."{function.name}"]\ntext = "sha256:0"\n')
    found, _ = ran(file, sample(folder, SAXPY), job=Job(AnalysisRequest((), Settings(facts=read_facts("facts.toml")))))
    assert [one.get("error", {}).get("code") for one in found] == ["facts-text-mismatch", None]


def test_a_pattern_that_no_function_matches_is_refused(folder: Path):
    with pytest.raises(UsageError, match=r"no function of 1 files matches 'zzz\*'") as caught:
        ran(sample(folder, SAXPY), job=Job(AnalysisRequest((), patterns=("zzz*",))))
    assert caught.value.code == "unknown-function"
