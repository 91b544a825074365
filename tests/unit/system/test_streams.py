"""Pipes are read as long as somebody writes them, and processes end with all that they started."""

import errno
import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest

from sassan.system import processes, reading
from sassan.system.processes import ToolLimits, ToolProblem, finish, kill, run, start, waited
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


def test_words_of_an_input_are_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    words = [*SHELL, "echo 'x.cu(1): error: #error No space left on device' >&2; exit 2"]
    assert finish(words, program=3, seconds=60, size=100, folder=tmp_path).status == 2

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(processes.tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left"):
        finish(words, program=3, seconds=60, size=100, folder=tmp_path)


def test_a_limit_on_the_size_of_files_is_no_full_disk(tmp_path: Path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        for words in ("exec head -c 2000000 /dev/zero > x", "echo 'fatal: x.o: File too large' >&2; exit 1"):
            with pytest.raises(OSError, match="File too large") as caught:
                run([*SHELL, words], tmp_path, ToolLimits(seconds=60, size=100), program=3)
            assert caught.value.errno == errno.EFBIG
        words = "echo 'x.cu(1): error: #error No space left on device' >&2; exit 2"
        assert finish([*SHELL, words], program=3, seconds=60, size=100, folder=tmp_path).status == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGALRM])
def test_a_signal_amid_the_start_of_a_process_leaves_none(number: signal.Signals, monkeypatch: pytest.MonkeyPatch):
    class SignalError(Exception):
        pass

    def handle(*_: object) -> None:
        raise SignalError

    begun = []

    def starting(*words: object, **options: object) -> object:
        begun.append(start(*words, **options))  # type: ignore[arg-type]
        signal.raise_signal(number)
        return begun[0]

    monkeypatch.setattr(processes, "start", starting)
    before = signal.signal(number, handle)
    try:
        with pytest.raises(SignalError):
            finish([*SHELL, "sleep 60"], program=3, seconds=60, size=100)
        assert signal.getsignal(number) is handle
    finally:
        signal.signal(number, before)
    assert begun[0].returncode == -signal.SIGKILL


def test_a_number_that_another_may_have_is_not_killed(monkeypatch: pytest.MonkeyPatch):
    killed = []

    def killpg(number: int, how: int) -> None:
        status = os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT | os.WNOHANG)  # an error where it was given back
        killed.append((how, status is not None))

    monkeypatch.setattr(os, "killpg", killpg)
    assert finish(["/bin/echo", "x"], seconds=60, size=100).output == b"x\n"
    with start(["/bin/true"]) as process:
        assert waited(process, 60) == 0
        kill(process)
    assert killed == [(signal.SIGKILL, True)]


def test_every_tool_has_a_limit_that_outlives_this_process():
    assert run(["/bin/cat", "/proc/self/limits"], None, ToolLimits(7.5, 10_000)).split(b"Max cpu time")[1].split()[0] == b"8"
