"""Files that somebody named, and streams to write to: at once, with a limit, and never waited for without end.

A plain file is read. A pipe (`<(cuobjdump …)`, `/dev/stdin`) is read as long as somebody writes it. Anything else (a device, a socket, a
folder) is refused by an OSError that says what it is; `/dev/null` is empty.
"""

import errno
import os
import select
import stat
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_OPEN = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
"""Does not wait for the writer of a pipe, and takes no terminal."""
_KINDS: Mapping[int, str] = {
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a device",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
LIMIT = 64 * 1024 * 1024
"""Bytes of a file of text."""
_BLOCK = 1 << 20
_KEPT: dict[tuple[int, int], bytes] = {}
"""What was written to pipes whose beginning is looked at: it comes once only."""
_STEP = 0.02
BEGIN_SECONDS = 1.0
"""For the writer of a pipe to open it."""
SILENT_SECONDS = 60.0
"""For a writer that has opened a pipe, between two things that it writes."""


def described(mode: int) -> str:
    """Return what stands at a path that is not a plain file, '' for one."""
    return _KINDS.get(stat.S_IFMT(mode), "" if stat.S_ISREG(mode) else "no file")


def read(path: Path | str, limit: int) -> bytes:
    """Return the bytes of a file, at most one more than the limit.

    Raises OSError, also for what is not a plain file and for a pipe without a writer, and ValueError for a name that can be none.
    """
    handle = os.open(path, _OPEN)
    try:
        status = os.fstat(handle)
        if stat.S_ISFIFO(status.st_mode):
            data = _KEPT.pop(_name(status), None)
            return _piped(handle, path, limit) if data is None else data
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a directory", str(path))
        if not stat.S_ISREG(status.st_mode) and not _is_null(status):
            raise OSError(errno.EINVAL, f"it is {described(status.st_mode)}, not a file", str(path))
        return _whole(handle, limit)
    finally:
        os.close(handle)


@contextmanager
def beginning(path: Path | str, size: int, limit: int) -> Generator[bytes]:
    """Give the first bytes of a file; raises as `read`. Inside the block one `read` of a pipe returns all of it, up to this limit."""
    if not stat.S_ISFIFO(Path(path).stat().st_mode):
        yield read(path, size - 1)
        return
    handle = os.open(path, _OPEN)  # as long as it is open, its number is that of no other
    try:
        name = _name(os.fstat(handle))
        try:
            data = _KEPT[name] = _piped(handle, path, limit)
            yield data[:size]
        finally:
            _KEPT.pop(name, None)
    finally:
        os.close(handle)


def text(path: Path | str, limit: int = LIMIT, *, errors: str = "strict") -> str:
    """Return the text of a file in UTF-8, with line ends as in Python; raises as `read`, OSError for a larger one, UnicodeDecodeError."""
    data = read(path, limit)
    if len(data) > limit:
        raise OSError(errno.EOVERFLOW, f"it is larger than {limit // 1024 // 1024} MiB", str(path))
    return data.decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def plain(path: Path | str) -> BinaryIO:
    """Open a plain file, to read parts of it; raises as `read`, also for a pipe."""
    handle = os.open(path, _OPEN)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"it is {described(mode)}, not a file", str(path))
    return os.fdopen(handle, "rb")


def write_stream(path: Path | str, data: bytes) -> None:
    """Write to a pipe that somebody reads, or to a device such as a terminal. Raises OSError, also for a pipe without a reader.

    A pipe that has a name in a folder is given up when its reader takes nothing; one that this process was given has a reader who may
    be a pager, and tells when that has gone.
    """
    try:
        handle = os.open(path, _OPEN & ~os.O_RDONLY | os.O_WRONLY)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a pipe without a reader", str(path)) from None
        raise
    named = stat.S_ISFIFO(os.fstat(handle).st_mode) and os.path.lexists(os.path.realpath(path))
    limit = SILENT_SECONDS if named else None
    try:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(handle, left) :]
            except BlockingIOError:
                if not select.select([], [handle], [], limit)[1]:
                    raise OSError(errno.ETIMEDOUT, f"its reader took nothing for {SILENT_SECONDS:g} s", str(path)) from None
    finally:
        os.close(handle)


def _name(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_null(status: os.stat_result) -> bool:
    null = Path(os.devnull).stat()
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev


def _whole(handle: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit + 1
    while left and (part := os.read(handle, min(left, _BLOCK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _piped(handle: int, path: Path | str, limit: int) -> bytes:
    """Return what is written to a pipe until its writers have closed it."""
    parts: list[bytes] = []
    left = limit + 1
    begun, until = False, time.monotonic() + BEGIN_SECONDS
    while left:
        try:
            part = os.read(handle, min(left, _BLOCK))
        except BlockingIOError:  # somebody has it open
            if not begun:
                begun, until = True, time.monotonic() + SILENT_SECONDS
            part = None
        if part:
            parts.append(part)
            left -= len(part)
            begun, until = True, time.monotonic() + SILENT_SECONDS
        elif part == b"" and begun:
            break
        elif time.monotonic() >= until:
            reason = f"it is a pipe, and nothing was written to it for {SILENT_SECONDS if begun else BEGIN_SECONDS:g} s"
            raise OSError(errno.ETIMEDOUT, reason, str(path))
        elif part is None:
            select.select([handle], [], [], until - time.monotonic())
        else:
            time.sleep(_STEP)  # before the first writer, the system reports the end of the pipe at once
    return b"".join(parts)
