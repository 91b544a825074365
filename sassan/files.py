"""Atomic writing of files."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

_PRIVATE, _ORDINARY = 0o600, 0o666


def write(path: Path, data: bytes, *, private: bool = False, lasting: bool = False) -> None:
    """Write a file atomically: an interrupt or a full disk leaves the old file, or none, never a part of the new one.

    `private`: readable by the user alone, otherwise as the umask allows. `lasting`: complete also after a crash of the machine. Raises
    OSError.
    """
    # In the same folder, since a rename is atomic only inside one file system; a short name, since the final one may have maximum length.
    scratch = path.with_name(f".sassan-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(scratch, flags, _PRIVATE if private else _ORDINARY)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise
