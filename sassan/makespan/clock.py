"""The clock of the searches: it stands still while one of them is compiled, so that no limit counts the seconds of the compiler.

A search is compiled at its first use after an installation. Moments of this clock mean the same in all threads of a process; a moment
plus `lag` is one of `shared`, the clock of all processes of a machine.
"""

import time
from threading import Lock

_lock = Lock()
_compilers = 0
_since = 0.0
_lag = 0.0


def now() -> float:
    """Return the seconds since some moment in the past, without those in which a compiler ran."""
    return shared() - lag()


def shared() -> float:
    """Return the seconds since some moment in the past, which all processes of a machine share."""
    return time.monotonic()


def lag() -> float:
    """Return the seconds in which a compiler ran, so far."""
    with _lock:
        return _lag + (time.monotonic() - _since if _compilers else 0.0)


def compiling() -> bool:
    """Say whether a compiler runs, and the clock stands still."""
    return _compilers > 0


def stop() -> None:
    """Take note that a compiler starts; several may run at a time, one inside the other or in different threads."""
    global _compilers, _since  # noqa: PLW0603 - there is one clock
    with _lock:
        if not _compilers:
            _since = time.monotonic()
        _compilers += 1


def go_on() -> None:
    """Take note that a compiler has ended."""
    global _compilers, _lag  # noqa: PLW0603 - there is one clock
    with _lock:
        _compilers -= 1
        if not _compilers:
            _lag += time.monotonic() - _since
