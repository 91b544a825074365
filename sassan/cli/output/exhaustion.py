"""The limits of a command on its time and its memory: the system enforces them, and the command ends with an error that says so."""

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from sassan.cli.output import failure
from sassan.errors import InputError, OutOfTimeError
from sassan.jit import clock

_GRACE = 10.0
"""Seconds after the end of the time: compiled code that has not returned to Python by then is ended with the process."""
_AGAIN = 0.5
"""Seconds until the error is raised once more: in a finalizer, or the callback of a weak reference, Python ignores it."""
_SOON = 0.05
"""Seconds of a limit that are not worth another alarm."""
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_available() -> int:
    """Return the bytes of memory that this machine, or its container, has."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [1 << 40]
    for name in _CGROUPS:
        with suppress(OSError, ValueError):
            known.append(int(Path(name).read_text("ascii")))
    return min(known)


@contextmanager
def limited(seconds: float | None, memory: int | None) -> Generator[None]:
    """Run a block with at most so many seconds, those of the compiler of searches not counted, and bytes of memory; None: no limit.

    Raises OutOfTimeError `time-limit`, InputError `memory-limit`.
    """
    with _time(seconds), _memory(memory):
        try:
            yield
        except MemoryError:
            raise out_of_memory() from None


def out_of_memory() -> InputError:
    """Return the error for what needs more memory than there is."""
    return InputError("memory-limit", "more memory is needed than the limit", hint="raise --memory-limit, or choose functions with -f")


@contextmanager
def _time(seconds: float | None) -> Generator[None]:
    alarm = getattr(signal, "SIGALRM", None)
    if seconds is None or alarm is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    error = OutOfTimeError(seconds)
    begin = clock.now()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        left = seconds - (clock.now() - begin)
        signal.setitimer(signal.ITIMER_REAL, left if left > _SOON else _AGAIN)
        if left <= _SOON:
            raise error

    def abort() -> None:
        while (left := seconds + _GRACE - (clock.now() - begin)) > 0:
            if returned.wait(left):
                return
        failure.show(error)
        sys.stdout.flush()
        os._exit(error.status)

    returned = threading.Event()
    before = signal.signal(alarm, end)
    threading.Thread(target=abort, daemon=True).start()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        returned.set()
        signal.signal(alarm, before)


@contextmanager
def _memory(limit: int | None) -> Generator[None]:
    if limit is None or sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
