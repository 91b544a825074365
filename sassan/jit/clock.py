"""The clock of time limits: it stops while anything is compiled, so that they exclude compilation.

A function is compiled at its first use after an installation. Moments of this clock mean the same in all threads of a process; a moment
plus `lag` is one of `shared`, the clock of all processes of a machine.
"""

import time
from threading import Lock

_lock = Lock()
_compilers = 0
_since = 0.0
_lag = 0.0


def now() -> float:
    """Return the seconds since a fixed moment, without those in which a compiler ran."""
    return shared() - lag()


def shared() -> float:
    """Return the seconds since a fixed moment, the same for all processes of a machine."""
    return time.monotonic()


def lag() -> float:
    """Return the seconds in which a compiler ran, so far."""
    with _lock:
        return _lag + (time.monotonic() - _since if _compilers else 0.0)


def compiling() -> bool:
    """Say whether a compiler runs, so that the clock is stopped."""
    return _compilers > 0


def stop() -> None:
    """Stop the clock, as a compiler starts; several may run at a time, nested or in different threads."""
    global _compilers, _since  # noqa: PLW0603 - there is one clock
    with _lock:
        if not _compilers:
            _since = time.monotonic()
        _compilers += 1


def go_on() -> None:
    """Restart the clock, as a compiler has ended."""
    global _compilers, _lag  # noqa: PLW0603 - there is one clock
    with _lock:
        _compilers -= 1
        if not _compilers:
            _lag += time.monotonic() - _since
