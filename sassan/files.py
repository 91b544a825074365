"""Atomic writing of files."""

import os
import re
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from sassan.system.leftovers import MACHINE, hold, machine, sweep

_PERMISSIONS = 0o777
_NAMES = re.compile(rf"\.sassan-{MACHINE}-[a-z0-9_]{{8}}\.tmp")
_HELD = os.name != "nt"
"""Whether a file can be replaced by one that is open, and so is held."""


Content = bytes | Callable[[BinaryIO], None]
"""What a file holds: bytes, or, for what is too large for memory, a function that writes them into an open file."""


def write(path: Path, data: Content, *, private: bool = False, lasting: bool = False) -> None:
    """Write a file atomically: an interrupt or a full disk leaves the old file, or none, never a part of the new one.

    What processes that were killed amid it have left in the folder is removed.

    A file that is replaced keeps its permissions; a new one has those of the umask, or is readable by the user alone (`private`).
    `lasting`: complete also after a crash of the machine. Raises OSError.
    """
    sweep(path.parent, _NAMES)
    # In the same folder, since a rename is atomic only inside one file system; a short name, since the final one may have maximum length.
    handle, scratch = _made(path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            if callable(data):
                data(file)
            else:
                file.write(data)
            file.flush()
            if lasting:
                os.fsync(handle)
            if not private:
                scratch.chmod(_permissions(path))
            if _HELD:
                scratch.replace(path)
        if not _HELD:
            scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def _made(folder: Path) -> tuple[int, Path]:
    """Return a new file that this process holds, open."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".sassan-{machine()}-", suffix=".tmp", dir=folder)
        hold(handle)
        if os.fstat(handle).st_nlink:  # else another process swept it before it was locked
            return handle, Path(name)
        os.close(handle)


def _permissions(path: Path) -> int:
    """Return the permissions of a file, of one that is not there yet those that the umask allows."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode) & _PERMISSIONS
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
