"""The tool that runs a program: what it writes, and that it is offered only where that is allowed."""

from pathlib import Path

import pytest

from sassan.launches import Launches, ProgramLaunch
from sassan.launches import read as read_launches
from sassan.mcp import tool_of_programs
from sassan.mcp.calls import CallLimits, ToolCall
from sassan.mcp.work import work
from sassan.record import RecordedProgram


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that records a program of a folder; which words it was run with stands in the notes of the recording."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").write_bytes(b"\x7fELF")

    def recorded(words: tuple[str, ...], *_: object) -> RecordedProgram:
        launches = (ProgramLaunch("k", (2, 1, 1), (32, 1, 1), arguments=None, count=3),) if words[1:] != ("none",) else ()
        return RecordedProgram(Launches(launches, words[0], words[1:], status=0, notes=(Path(words[0]).name, *words[1:])))

    monkeypatch.setattr(tool_of_programs, "record", recorded)
    return lambda **given: dict(work(ToolCall("record", given, str(tmp_path), CallLimits(20))).document)


def test_a_recording_is_written_into_the_folder(call, tmp_path: Path):
    answer = call(program="program", arguments=["-n", "5"])
    assert answer["output"] == "launches.toml"
    assert answer["kernels"] == [{"kernel": "k", "launches": 3}]
    assert answer["notes"] == ["program", "-n", "5"]
    assert read_launches(str(tmp_path / "launches.toml")).launches[0].count == 3


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"program": "../program"}, "outside-root"),
        ({"program": "/bin/sh"}, "outside-root"),
        ({"program": "program", "output": "../x.toml"}, "outside-root"),
        ({"program": "program", "output": "program"}, "usage"),
        ({"program": "program", "arguments": ["none"]}, "no-launches"),
    ],
)
def test_what_leads_out_or_launches_nothing_is_refused(call, tmp_path: Path, given: dict[str, object], code: str):
    assert call(**given)["error"]["code"] == code
    assert not (tmp_path / "launches.toml").exists()


def test_it_is_offered_where_programs_may_be_run():
    pytest.importorskip("mcp")
    from sassan.mcp.server import KernelServer  # noqa: PLC0415 - an extra
    from sassan.mcp.workers import CallWorkers  # noqa: PLC0415

    offered = [sorted(KernelServer("/", CallLimits(), CallWorkers(1), programs=programs).tools) for programs in (False, True)]
    assert "record" not in offered[0]
    assert offered[1] == sorted([*offered[0], "record"])
