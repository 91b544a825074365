"""Writing output files."""

import stat
from pathlib import Path

from sassan.errors import UsageError
from sassan.files import write


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`: an interrupt or a full disk leaves the old file, or none, never a part of the new one.

    A link is followed and kept; a pipe or a device (`/dev/stdout`) is written to directly. Raises UsageError `unwritable-output`.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(data)
        else:
            write(path.resolve(), data)
    except OSError as error:
        raise UsageError(
            "unwritable-output",
            f"cannot write '{path}': {error.strerror or error}",
            hint="choose a file in an existing folder with write permission",
        ) from error
