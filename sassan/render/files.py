"""Writing a file so that it is there whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from sassan.errors import UsageError


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`: an interrupt or a full disk leaves the old file, or none, and never a half.

    A link is followed and kept; a pipe or a device (`/dev/stdout`) is written to directly. Raises UsageError when the place
    cannot be written.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise UsageError(
            "unwritable-output",
            f"cannot write '{path}': {error.strerror or error}",
            hint="name a file in an existing folder that you may write to",
        ) from error


def _replace(path: Path, data: bytes) -> None:
    # In the same folder, since a rename is atomic only inside one file system; a short name, since the final one may be as long as allowed.
    temporary = path.with_name(f".sassan-{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
