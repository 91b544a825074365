"""What processes that were killed left behind: temporary files and folders that no process holds any more.

Each is locked by its process while that lives. The system gives the lock back however the process ends, so that neither a number that was
given to another process nor one of another container misleads. What cannot be locked (Windows, some network file systems) is never swept.
Some network file systems keep locks for each machine by itself: the name says which machine holds what, and what is another's is swept only
when it was not changed for long.
"""

import os
import re
import shutil
import stat
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

_SWEPT: set[tuple[str, str]] = set()
"""Folders that this process has looked through, with the names that it looked for."""
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
MACHINE = r"(?P<machine>[0-9a-f]{8})"
"""The part of a name that `machine` gives."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LONG = 24 * 3600.0
"""Seconds after which what another machine left is taken for left."""


@cache
def machine() -> str:
    """Return what names the machine since its start, as all of its containers see it, so whoever sees its locks."""
    try:
        known = _BOOT.read_text("ascii")
    except OSError:
        known = os.uname().nodename if hasattr(os, "uname") else ""
    return sha256(known.encode()).hexdigest()[:8]


def hold(handle: int) -> None:
    """Lock an open file or folder for this process, if possible; waits for one who is about to sweep it."""
    with suppress(ImportError, OSError):
        import fcntl  # noqa: PLC0415 - there is none on Windows

        fcntl.flock(handle, fcntl.LOCK_EX)


def sweep(folder: Path, names: re.Pattern[str], *, again: bool = False) -> None:
    """Remove what this user's processes that are gone left in a folder, once for each folder unless `again`; never raises OSError.

    The names have a part `MACHINE`.
    """
    key = str(folder), names.pattern
    if key in _SWEPT and not again:
        return
    _SWEPT.add(key)
    with suppress(OSError, ImportError):
        with os.scandir(folder) as entries:
            left = [(entry.path, name["machine"]) for entry in entries if (name := names.fullmatch(entry.name))]
        for path, held_by in left:
            with suppress(OSError):
                _remove(path, 0.0 if held_by == machine() else _LONG)


def _remove(path: str, age: float) -> None:
    """Remove a plain file or a folder of this user that is not locked and of this age in seconds. Raises OSError, ImportError."""
    import fcntl  # noqa: PLC0415 - there is none on Windows

    handle = os.open(path, _OPEN)
    try:
        seen = os.fstat(handle)
        if seen.st_uid != os.getuid() or (age and time.time() - seen.st_mtime < age):
            return
        if stat.S_ISDIR(seen.st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(seen.st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(path).unlink()
    finally:
        os.close(handle)
