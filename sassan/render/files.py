"""Writing output files."""

import errno
import io
import os
import stat
from pathlib import Path

from sassan.errors import UsageError, is_full, no_space
from sassan.files import Content, write
from sassan.system.reading import described, write_stream

_STREAMS = (stat.S_IFIFO, stat.S_IFCHR)
_HINT = "choose a file in an existing folder with write permission"


def write_atomically(path: Path, data: Content) -> int:
    """Write `data` to `path`: an interrupt or a full disk leaves the old file, or none, never a part of the new one.

    A link is followed and kept; a pipe or a character device (`/dev/stdout`) is written to directly. Return how many other names the
    replaced file has: these hard links keep the old content. Raises UsageError `unwritable-output`, StorageError `no-space`.
    """
    try:
        others = _others(path)
        if others is None:
            write_stream(path, _whole(data))
            return 0
        write(path.resolve(), data)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, before Python 3.13
        if isinstance(error, OSError) and is_full(error):
            raise no_space(f"'{path}'", error) from None
        reason = (getattr(error, "strerror", None) or str(error)).partition(" from ")[0]
        raise UsageError("unwritable-output", f"cannot write '{path}': {reason}", hint=_HINT) from error
    return others


def refuse_unwritable(path: Path) -> None:
    """Refuse a file whose folder is missing or takes none, and what is neither a file nor a stream, before there is anything to write.

    Raises UsageError `unwritable-output`.
    """
    try:
        streams, folder = _others(path) is None, path.resolve().parent
        reason = "" if streams or os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES if folder.is_dir() else errno.ENOENT)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, before Python 3.13
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        raise UsageError("unwritable-output", f"cannot write '{path}': {reason}", hint=_HINT)


def _whole(data: Content) -> bytes:
    if not callable(data):
        return data
    out = io.BytesIO()
    data(out)
    return out.getvalue()


def _others(path: Path) -> int | None:
    """Return how many other names a regular file has, 0 where there is no file yet, None for a stream, which cannot be replaced."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return 0
    if stat.S_ISREG(seen.st_mode):
        return seen.st_nlink - 1
    if stat.S_IFMT(seen.st_mode) not in _STREAMS:
        raise UsageError("unwritable-output", f"cannot write '{path}': it is {described(seen.st_mode)}", hint=_HINT)
    return None
