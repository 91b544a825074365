"""`--quiet`, of every command: no notes, and no table beside a file."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan
from sassan.cli.group import SUMMARIES, command
from sassan.measure import pictures

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
DELAYS = SAMPLES / "measure" / "synthetic-delays.csv"
BOUNDED = ("--loop-bound", "2")
SHORT = ("LCL", "-W", "4", "--engine", "exact")
PRINT = {
    "analyze": (BFS, *BOUNDED),
    "blocks": (BFS, *BOUNDED),
    "cfg": (BFS,),
    "check": (BFS, *BOUNDED, "--require-bounded"),
    "diff": (BFS, SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"),
    "estimate": (BFS, *BOUNDED, "--gpu", "GTX 1080", "--block-dim", "256", "--grid", "60"),
    "gpus": (),
    "ipet": (BFS, *BOUNDED),
    "listing": (BFS,),
    "memory": (BFS,),
    "strings": (BFS,),
}
"""Commands that print a table at once, the same each time."""
WRITE = {
    "batch": ((BFS, "--executor", "serial"), "x.jsonl"),
    "cfg": ((BFS,), "x.dot"),
    "diff": ((BFS, BFS, "--sass"), "x.html"),
    "init": ((BFS, *BOUNDED), "x.toml"),
    "ipet": ((BFS, *BOUNDED), "x.lp"),
    "makespan": (SHORT, "x.svg"),
    "report": ((BFS, *BOUNDED), "x.html"),
}


@pytest.mark.parametrize("name", [name for name in SUMMARIES if name != "experiment"])
def test_every_command_has_it(name: str):
    assert "--quiet" in [option for parameter in command(name).params for option in parameter.opts]


@pytest.mark.parametrize("name", PRINT)
def test_the_table_is_the_same_and_there_is_no_note(name: str, sassan: Sassan):
    loud, quiet = sassan(name, *PRINT[name]), sassan(name, *PRINT[name], "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (loud.status, loud.out, "")
    assert loud.out


@pytest.mark.parametrize("name", WRITE)
def test_a_file_is_written_and_nothing_printed(name: str, sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    arguments, output = WRITE[name]
    result = sassan(name, *arguments, "-o", output, "-q")
    assert (result.status, result.out, result.err) == (0, "", "")
    assert Path(output).stat().st_size


@pytest.mark.slow
def test_programs_pictures_and_pages_are_files_too(sassan: Sassan, tmp_path: Path):
    assert sassan("makespan", *SHORT, "--lp", tmp_path / "x.lp", "-q").out == ""
    saxpy = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
    assert sassan("makespan", saxpy, "-W", "2", "--engine", "bounds", "--lp", tmp_path / "y.lp", "-q").out == ""
    assert sassan("serve", BFS, "--export", tmp_path / "x.html", "-q").out == ""
    assert sassan("makespan", *SHORT, "-q").out


def test_what_could_not_be_written_is_said(sassan: Sassan, tmp_path: Path):
    result = sassan("ipet", BFS, "-o", tmp_path / "x.lp", "-q")
    assert result.status == 3
    assert "unbounded-loop" in result.out
    (tmp_path / "bad.sass").write_text("nothing", "utf-8")
    result = sassan("batch", tmp_path / "bad.sass", BFS, "-o", tmp_path / "x.jsonl", "--executor", "serial", "-q")
    assert result.status == 3
    assert "unknown-input" in result.out


def test_a_document_that_was_asked_for_is_printed(sassan: Sassan, tmp_path: Path):
    assert sassan("ipet", BFS, *BOUNDED, "-o", tmp_path / "x.lp", "-q", "--json").document["functions"]


@pytest.mark.slow
def test_samples_and_pictures_of_measurements_print_nothing(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "render_figure", lambda *_: b"drawn")
    assert sassan("measure", DELAYS, "--resamples", "199", "--plots", tmp_path, "-q").out == ""
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"drawn"}
    assert sassan("measure", DELAYS, "--resamples", "199", "-q").out
