"""Compilers in processes of their own with a time limit: one that crashes or hangs affects nothing else (`sassan/compilers/library.py`)."""

import atexit
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Timer

from sassan.compilers import library
from sassan.system.processes import PIPE, kill, put_off, start, waited

_SHOWN = 300
_READ = 1 << 16


class CompileProblem(Exception):  # noqa: N818 - a result: the individual has infinite cost
    """A compilation failed; the message says why.

    `hung`: the compiler exceeded its time limit; `lasting`: the error is reproducible.
    """

    def __init__(self, message: str, *, hung: bool = False, lasting: bool = True) -> None:
        """Store the message and flags."""
        super().__init__(message)
        self.hung = hung
        self.lasting = lasting and not hung


class _Child:
    """A process that runs jobs."""

    def __init__(self, folder: Path | None = None) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        command = [sys.executable, "-I", "-S", library.__file__]
        self._process = start(command, program=len(command), folder=folder, stdin=PIPE, stderr=self._log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._jobs, self._answers = self._process.stdin, self._process.stdout

    def give(self, job: Mapping[str, object]) -> None:
        """Give it a job. One that has ended says so when it is asked for the answer."""
        with suppress(BrokenPipeError):
            self._jobs.write(json.dumps(job).encode() + b"\n")
            self._jobs.flush()

    def answer(self, seconds: float) -> bytes:
        """Return its answer, nothing where it ends without one; raises CompileProblem where that takes longer than so many seconds."""
        late = Event()

        def end() -> None:
            late.set()
            kill(self._process)

        timer = Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            answer = self._answers.readline()
        finally:
            timer.cancel()
        if late.is_set():
            raise _hung(seconds)
        return answer

    def end(self, seconds: float) -> str:
        """Wait until it has ended, and return the first error that it printed; raises CompileProblem for a failure, or a late end."""
        self._close()
        status = waited(self._process, seconds)
        if status is None:
            raise _hung(seconds)
        if status == -getattr(signal, "SIGALRM", 0):
            raise _hung(seconds)
        if status < 0:
            raise CompileProblem(f"the compiler crashed with signal {-status}", lasting=False)
        self._log.seek(0)
        text = _first_error(self._log.read(_READ).decode("utf-8", "replace"))
        if status:
            raise CompileProblem(text or f"the compiler ended with status {status}")
        return text

    def stop(self) -> None:
        """Stop it, whatever it does."""
        kill(self._process)
        self._close()
        self._answers.close()
        self._log.close()

    def _close(self) -> None:
        with suppress(BrokenPipeError):
            self._jobs.close()


_idle: list[_Child] = []
"""Children that have NVRTC loaded: to start one takes as long as to compile a small kernel."""


def answered(job: Mapping[str, object], seconds: float) -> None:
    """Run a job of NVRTC; raises CompileProblem."""
    limited = {**job, "seconds": seconds}
    # Another job may have hurt a child that is used again: a new one tries again.
    answer = _answer(limited, seconds, new=False) if _idle else b""
    refused = json.loads(answer or _answer(limited, seconds, new=True))
    if refused is not None:
        raise CompileProblem(_first_error(refused) or "the compiler refused the source")


def _answer(job: Mapping[str, object], seconds: float, *, new: bool) -> bytes:
    """Return the answer of a child, which waits for the next job then; nothing where one that is not new ends without an answer.

    Raises CompileProblem.
    """
    with _taken(_Child if new else _idle.pop) as (child, ending):
        child.give(job)
        answer = child.answer(seconds)
        if answer:
            with put_off():
                ending.pop_all()
                _idle.append(child)
        elif new:
            raise CompileProblem(child.end(seconds) or "the compiler ended without an answer", lasting=False)
        return answer


def executed(command: Sequence[str], folder: Path, seconds: float) -> str:
    """Run a command in a folder, and return what it printed first; raises CompileProblem."""
    with _taken(partial(_Child, folder)) as (child, _):
        child.give({"command": command, "seconds": seconds})
        return child.end(seconds)


@contextmanager
def _taken(take: Callable[[], _Child]) -> Generator[tuple[_Child, ExitStack]]:
    """Hold a child, which is stopped at the end of the block, or of the stack: a signal finds it with a name from its start on."""
    with ExitStack() as ending:
        with put_off():
            child = take()
            ending.callback(child.stop)
        yield child, ending


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle[-1].stop()
        _idle.pop()


def _hung(seconds: float) -> CompileProblem:
    return CompileProblem(f"the compiler exceeded its time limit of {seconds:g} s", hung=True)


def _first_error(log: str) -> str:
    """Return the first line of a log with an error, else its first line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else "")[:_SHOWN]
