"""The command line as a whole: usage, help, version, and what becomes of a defect, an interrupt and a missing tool."""

import importlib.util
import json
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from sassan import __version__
from sassan.cli.group import SUMMARIES
from sassan.errors import SelfCheckError

SM_61 = SAMPLES / "sm_61"
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
MANDELBROT = SM_61 / "mandelbrot.cuobjdump.sass"
BELOW_A_FILE = BFS
"""No folder, so that nobody can write below it, whoever runs the tests and whatever HOME is."""
OF_FILES = ["analyze", "cfg", "strings", "ipet", "memory"]
BAD_OPTIONS = [
    [],
    ["--frob"],
    ["--order", "sideways"],
    ["--ablate", "everything"],
    ["--loop-bound", "-1"],
    ["--loop-bound", "ten"],
    ["--loop-bound", "9" * 5000],
    ["--loop-bound", "1.5"],
    ["--loop-bound"],
    ["--call-depth", "-1"],
    ["--call-depth", "x"],
    ["--letters", "1999"],
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=lambda options: " ".join(options)[:30])
@pytest.mark.parametrize("command", OF_FILES)
def test_a_wrong_option_is_a_usage_error(command: str, options: list[str], sassan: Sassan):
    file = [str(BFS)] if options else []
    result = sassan(command, *file, *options)
    assert_refused(result, 2)
    assert result.codes == ["usage"]
    assert result.err.endswith("--help' lists the options, with examples\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["frob"],
        ["--frob"],
        ["analyze", str(BFS), "-W", "0"],
        ["analyze", str(BFS), "-W", "-3"],
        ["analyze", str(BFS), "-W", "many"],
        ["analyze", str(BFS), "--model", "guess"],
        ["cfg", str(BFS), "--level", "block"],
        ["cfg", str(BFS), str(BFS)],
        ["cfg", str(BFS), "-o", "x.jpeg"],
        ["cfg", str(BFS), "-o", "x"],
        ["cfg", str(BFS), "-o", ""],
        ["cfg", str(BFS), "-o", f"{BELOW_A_FILE}/x.dot"],
        ["ipet", str(BFS), "-o", "x.svg"],
        ["ipet", str(BFS), "--loop-bound", "1", "-o", f"{BELOW_A_FILE}/x.lp"],
        ["ipet", str(BFS), "--facts-template", "--json"],
        ["ipet", str(BFS), "--facts-template", "-o", "x.lp"],
        ["ipet", str(BFS), "--facts-template", "-o", f"{BELOW_A_FILE}/x.toml"],
        ["analyze", str(BFS), "--sm", "banana"],
        ["analyze", str(BFS), "-f", "nothing"],
    ],
    ids=lambda arguments: " ".join(Path(one).name for one in arguments),
)
def test_a_wrong_command_line_is_a_usage_error(arguments: list[str], sassan: Sassan):
    assert_refused(sassan(*arguments), 2)


def test_a_number_beyond_its_limits_is_refused_in_words(sassan: Sassan):
    result = sassan("analyze", BFS, "--loop-bound", "-1")
    assert "invalid value for '--loop-bound': a number of at least 0 is needed" in result.err


@pytest.mark.parametrize("command", [[], *([one] for one in sorted(SUMMARIES))])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_teaches_with_examples(command: list[str], option: str, sassan: Sassan):
    result = sassan(*command, option)
    assert result.status == 0
    assert "Examples:\n" in result.out
    assert f"  sassan {' '.join(command)}" in result.out
    assert max(len(line) for line in result.out.splitlines()) <= 80


def test_the_help_of_all_shows_each_summary_in_full(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = sassan("--help").out
    assert [name for name, summary in SUMMARIES.items() if summary not in shown] == []


def test_without_a_command_help_is_shown(sassan: Sassan):
    result = sassan()
    assert result.status == 0
    assert "Exit status: 0 done" in result.out


def test_the_version_is_printed(sassan: Sassan):
    assert sassan("--version").out == f"sassan {__version__}\n"


def test_a_defect_is_one_line_and_no_traceback(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("sassan.app.request.analyze", broken)
    result = sassan("analyze", SAXPY)
    assert result.status == 5
    assert result.codes == ["internal"]
    assert "Traceback" not in result.err
    assert "ZeroDivisionError: a defect" in result.err


def test_a_defect_can_be_traced(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("sassan.app.request.analyze", broken)
    monkeypatch.setenv("SASSAN_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        sassan("analyze", SAXPY)


def test_ctrl_c_ends_with_130_and_nothing_printed(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sassan.app.request.analyze", interrupted)
    result = sassan("analyze", SAXPY)
    assert (result.status, result.out, result.err) == (130, "", "")


def test_a_failed_self_check_is_status_5(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    def wrong(*_: object) -> None:
        raise SelfCheckError("recost", "the fixpoint is none")

    monkeypatch.setattr("sassan.app.request.analyze", wrong)
    assert_refused(sassan("analyze", SAXPY), 5, silent=False)


def test_a_missing_tool_is_status_4_with_its_install_command(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, find=importlib.util.find_spec: None if name == "pygraphviz" else find(name)
    )
    result = sassan("cfg", MANDELBROT, "-o", "x.svg")
    assert_refused(result, 4)
    assert "pip install pygraphviz" in result.err


def test_one_refused_function_does_not_hide_the_others(sassan: Sassan):
    result = sassan("analyze", "--json", "-", SAXPY, stdin=SAXPY.read_bytes().replace(b"sm_61", b"sm_999"))
    assert result.status == 3
    assert [one["name"] for one in result.document["functions"]] == ["saxpy"]
    assert json.dumps(result.document["errors"]).count('"code"') == 1
