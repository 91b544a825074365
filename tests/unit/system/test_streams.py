"""Pipes are read as long as somebody writes them, and processes end with all that they started."""

import os
import threading
import time
from pathlib import Path

import pytest

from sassan.system import reading
from sassan.system.processes import ToolLimits, ToolProblem, finish, run, start
from sassan.system.reading import beginning, read, write_stream

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes with names are those of POSIX")
SHELL = ("/bin/sh", "-c")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def written(pipe: Path, *parts: bytes) -> threading.Thread:
    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for part in parts:
                file.write(part)
                time.sleep(0.01)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end_and_its_beginning_is_not_lost(pipe: Path):
    writer = written(pipe, b"ab", b"cd" * 100_000)
    with beginning(pipe, 3, 1 << 20) as start:
        assert start == b"abc"
        assert read(pipe, 1 << 20) == b"ab" + b"cd" * 100_000
    writer.join()


def test_what_was_looked_at_and_not_read_is_not_kept(pipe: Path):
    writer = written(pipe, b"old")
    with beginning(pipe, 3, 10):
        pass
    writer.join()
    writer = written(pipe, b"new")
    assert read(pipe, 10) == b"new"
    writer.join()


def test_a_pipe_without_a_writer_or_with_a_silent_one_is_an_error(pipe: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "BEGIN_SECONDS", 0.02)
    monkeypatch.setattr(reading, "SILENT_SECONDS", 0.03)
    with pytest.raises(TimeoutError, match=r"nothing was written to it for 0\.02 s"):
        read(pipe, 10)
    handle = os.open(pipe, os.O_RDWR)
    with pytest.raises(TimeoutError, match=r"nothing was written to it for 0\.03 s"):
        read(pipe, 10)
    os.close(handle)


def test_the_null_device_is_empty_and_others_are_refused(tmp_path: Path):
    assert read(os.devnull, 10) == b""
    for path, kind in (("/dev/zero", "a device"), (tmp_path, "a directory")):
        with pytest.raises(OSError, match=kind):
            read(path, 10)


def test_a_stream_is_written_where_somebody_reads(pipe: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(OSError, match="without a reader"):
        write_stream(pipe, b"x")
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_stream(pipe, b"data")
    assert os.read(handle, 10) == b"data"
    monkeypatch.setattr(reading, "SILENT_SECONDS", 0.02)
    with pytest.raises(TimeoutError, match="took nothing"):
        write_stream(pipe, bytes(1 << 20))
    os.close(handle)


def test_a_pager_may_take_its_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "SILENT_SECONDS", 0.01)
    out, into = os.pipe()
    taken: list[bytes] = []

    def take() -> None:
        time.sleep(0.05)
        with os.fdopen(out, "rb") as file:
            taken.append(file.read(300_000))

    reader = threading.Thread(target=take)
    reader.start()
    try:
        write_stream(f"/dev/fd/{into}", b"x" * 300_000)
    finally:
        os.close(into)
        reader.join()
    assert taken == [b"x" * 300_000]


def test_a_process_ends_with_all_that_it_started():
    begun = time.monotonic()
    ended = finish([*SHELL, "sleep 60 & echo begun; sleep 60"], program=3, seconds=0.3, size=100)
    assert (ended.late, ended.output) == (True, b"begun\n")
    ended = finish([*SHELL, "sleep 60 & echo done"], program=3, seconds=0.3, size=100)  # the pipe stays open
    assert ended.output == b"done\n"
    assert time.monotonic() - begun < 30
    assert len(finish([*SHELL, "yes"], program=3, seconds=60, size=100).output) == 101
    assert finish(["/bin/cat"], given=b"x" * 300_000, seconds=60, size=1 << 20).output == b"x" * 300_000


def test_a_word_that_is_not_plain_starts_nothing(tmp_path: Path):
    for word in ("$(touch x)", "a b", "`x`", "a\nb", "\udcff", "é", "x" * 300, "a;b", "~"):
        with pytest.raises(ValueError, match="no plain word"):
            start(["/bin/true", word])
    with pytest.raises(ToolProblem, match="cannot be started"):
        run([str(tmp_path / "none"), "x"], None, ToolLimits(seconds=1, size=1))
