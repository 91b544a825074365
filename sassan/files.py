"""Atomic writing of files."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_PERMISSIONS = 0o777


def write(path: Path, data: bytes, *, private: bool = False, lasting: bool = False) -> None:
    """Write a file atomically: an interrupt or a full disk leaves the old file, or none, never a part of the new one.

    A file that is replaced keeps its permissions; a new one has those of the umask, or is readable by the user alone (`private`).
    `lasting`: complete also after a crash of the machine. Raises OSError.
    """
    # In the same folder, since a rename is atomic only inside one file system; a short name, since the final one may have maximum length.
    handle, name = tempfile.mkstemp(prefix=".sassan-", suffix=".tmp", dir=path.parent)
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        if not private:
            scratch.chmod(_permissions(path))
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def _permissions(path: Path) -> int:
    """Return the permissions of a file, of one that is not there yet those that the umask allows."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode) & _PERMISSIONS
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
