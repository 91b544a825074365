"""One call of the server: its limits, and errors that are answers."""

import gc
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from budget import PATIENCE
from cli.shell import SAMPLES
from sassan.errors import InputError, SelfCheckError
from sassan.mcp import work as calls_of_a_process
from sassan.mcp.calls import CallLimits, ToolCall
from sassan.mcp.messages import TOO_LARGE, BoundedLines
from sassan.mcp.work import lost, work

LARGE = (SAMPLES / "sm_61" / "large_5000.cuobjdump.sass").read_text("utf-8")
SAXPY = (SAMPLES / "sm_75" / "saxpy.cuobjdump.sass").read_text("utf-8")


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # a call changes the folder of its process

    def run(tool: str, limits: CallLimits | None = None, **given: object) -> dict[str, object]:
        return dict(work(ToolCall(tool, given, str(tmp_path), limits or CallLimits(PATIENCE))).document)

    return run


@pytest.fixture
def without_callbacks() -> Iterator[None]:
    """No function that the garbage collector calls: that of Hypothesis would be where an alarm is raised, and its error is passed over."""
    known = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(known)


@pytest.mark.usefixtures("without_callbacks")
def test_a_call_ends_in_time(call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calls_of_a_process, "_GRACE", PATIENCE)  # this process is that of the tests: no alarm ends it
    answer = call("bound", CallLimits(0.2), text=LARGE, language="sass")
    assert answer["error"]["code"] == "time-limit"
    assert "--time-limit" in answer["error"]["hint"]


def test_a_call_that_takes_too_much_memory_is_refused(call, monkeypatch: pytest.MonkeyPatch):
    def grows(*_: object, **__: object) -> object:
        raise MemoryError

    monkeypatch.setattr("sassan.mcp.tools_of_code.listing_of", grows)
    assert call("listing", text=SAXPY, language="sass")["error"]["code"] == "memory-limit"


def test_a_defect_is_an_answer(call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.mcp.tools_of_code.listing_of", lambda *_: 1 / 0)
    assert call("listing", text=SAXPY, language="sass")["error"]["code"] == "internal"


WRONG = [
    ({}, "usage"),
    ({"text": SAXPY}, "usage"),
    ({"text": SAXPY, "language": "sass", "file": "k.sass"}, "usage"),
    ({"text": "garbage \x00\ud800", "language": "sass"}, "binary-input"),
    ({"text": "garbage", "language": "sass"}, "unknown-input"),
    ({"text": ".version 7.0\n.target sm_75\n!!", "language": "ptx"}, None),
    ({"text": SAXPY, "language": "sass", "gpu": "no such GPU"}, "unknown-gpu"),
    ({"text": SAXPY, "language": "sass", "gpu": "../x.toml"}, "outside-root"),
    ({"text": SAXPY, "language": "sass", "arch": "sm_nothing"}, "architecture"),
    ({"text": SAXPY, "language": "sass", "function": "none"}, "unknown-function"),
    ({"file": "/etc/passwd"}, "outside-root"),
    ({"text": SAXPY, "language": "sass", "parameters": {"none": 3}}, "unknown-parameter"),
]


@pytest.mark.parametrize(("given", "code"), WRONG, ids=lambda each: str(each)[:40])
def test_what_is_wrong_has_a_code(call, given, code):
    answer = call("bound", **given)
    assert set(answer) == {"error"}
    assert answer["error"]["code"] == code or code is None
    assert answer["error"]["message"]
    assert answer["error"]["code"] != "internal"


def test_the_input_has_a_limit(call, tmp_path: Path):
    (tmp_path / "k.sass").write_text(LARGE, "utf-8")
    for given in ({"text": LARGE, "language": "sass"}, {"file": "k.sass"}):
        answer = call("listing", CallLimits(PATIENCE, input=1000), **given)
        assert answer["error"]["code"] == "too-large"
        assert "--max-input" in answer["error"]["hint"]


def test_a_process_that_ended_is_an_error_of_its_call():
    call = ToolCall("bound", {}, "/", CallLimits(5))
    late = lost(call, InputError("time-limit", "it took longer than the time limit"))
    assert late.document["error"]["message"] == "it is not done within 5 s"
    assert lost(call, SelfCheckError("worker-lost", "signal 11")).document["error"]["code"] == "worker-lost"


def lines(data: bytes, limit: int) -> list[bytes]:
    reader = BoundedLines(io.BytesIO(data), limit)
    return list(iter(reader.next, b""))


def test_a_message_beyond_the_limit_is_answered_and_not_kept():
    small, huge = b'{"jsonrpc":"2.0","id":1}\n', b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"x":"' + b"x" * 3000 + b'"}}\n'
    behind = b'{"method":"tools/call","params":{"x":"' + b"x" * 3000 + b'"},"jsonrpc":"2.0","id":"b"}\n'
    got = lines(small + huge % b"7" + small + behind + b"y" * 5000 + b"\n" + small, 1000)
    refusal = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"' + TOO_LARGE.encode() + b'"}}\n'
    assert got == [small, refusal % b"7", small, refusal % b'"b"', small]
