"""The results of a batch as a Parquet table."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from cli.shell import ROOT, SAMPLES, Sassan, assert_refused
from sassan.batch import parquet
from sassan.extras import install

PAGE = ROOT / "docs/guides/analyze-a-library.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one listing of two functions and a file that is none, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass", tmp_path / "two.sass")
    (tmp_path / "bad.sass").write_text("?\n")
    return tmp_path


def batch(sassan: Sassan, *options: str):
    return sassan("batch", "bad.sass", "two.sass", "-o", "r.jsonl", "--executor", "serial", "--quiet", *options)


def test_a_row_has_what_its_line_says():
    line = {
        "name": "k",
        "arch": "sm_80",
        "file": "k.sass",
        "instructions": 3,
        "settings": {"model": "table"},
        "strings": {"worst_path": "C2"},
        "wcet": {"value": 7, "status": "optimal"},
        "makespan": None,
        "grid": None,
        "loops": [{"bound": 3}, {"bound": None}],
        "gaps": [{"code": "unbounded-loop"}, {"code": "unbounded-loop"}],
        "input": {"sha256": "ab", "function": 0, "functions": 1},
    }
    row = parquet.row(line)
    assert {name: value for name, value in row.items() if value is not None} == {
        "name": "k",
        "arch": "sm_80",
        "file": "k.sass",
        "sha256": "ab",
        "function": 0,
        "functions": 1,
        "instructions": 3,
        "wcet": 7,
        "wcet_status": "optimal",
        "model": "table",
        "loops": 2,
        "unbounded_loops": 1,
        "gaps": ["unbounded-loop"],
        "worst_path": "C2",
    }


def test_a_table_has_a_row_for_each_line(sassan: Sassan, folder: Path):
    tables = pytest.importorskip("pyarrow.parquet")
    assert batch(sassan, "--parquet", "r.parquet").status == 3
    rows = tables.read_table("r.parquet").to_pylist()
    assert [(row["file"], row["demangled"], row["error"]) for row in rows] == [
        ("bad.sass", None, "unknown-input"),
        ("two.sass", "two_kernels_second(int*, int)", None),
        ("two.sass", "two_kernels_first", None),
    ]
    assert all(row["wcet"] or row["gaps"] for row in rows[1:])
    # It is made of the lines, also of those of an earlier run, whatever stood there.
    (folder / "r.parquet").write_text("?")
    assert batch(sassan, "--resume", "--parquet", "r.parquet").status == 3
    assert tables.read_table("r.parquet").to_pylist() == rows


def test_the_page_has_every_column_and_its_questions_are_answered(sassan: Sassan, folder: Path, capsys: pytest.CaptureFixture[str]):
    tables = pytest.importorskip("pyarrow.parquet")
    del folder
    batch(sassan, "--parquet", "results.parquet")
    page = PAGE.read_text("utf-8")
    named = [name for line in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", line)]
    assert sorted(named) == sorted(tables.read_schema("results.parquet").names)
    (question,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    duckdb, _ = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    counts = duckdb.sql(question).fetchall()
    assert sum(count for *_, count in counts) == sum(len(row["gaps"] or ()) for row in tables.read_table("results.parquet").to_pylist())
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    capsys.readouterr()
    exec(program, {})  # noqa: S102 - the program of the page
    assert "instructions" in capsys.readouterr().out


def test_it_is_refused_before_the_work(sassan: Sassan, folder: Path, monkeypatch: pytest.MonkeyPatch):
    without = sassan("batch", "two.sass", "--parquet", "r.parquet")
    assert_refused(without, 2)
    assert "-o X.jsonl" in without.err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = batch(sassan, "--parquet", "r.parquet")
    assert_refused(refused, 4)
    assert refused.codes == ["pyarrow-missing"]
    assert install("parquet") in refused.err
    assert not (folder / "r.jsonl").exists()
