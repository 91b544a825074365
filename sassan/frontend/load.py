"""Reads the text or the bytes of an input, from a file or from standard input."""

import errno
import sys

from sassan.errors import InputError
from sassan.frontend.image import Image, format_of
from sassan.source import UTF16_MARKS, Source, decoded
from sassan.system.reading import read

LIMIT = 64 * 1024 * 1024
"""The largest input, in bytes: some 500,000 instructions. A larger dump can be split with `cuobjdump -fun NAME`."""

_EXTRACT = "extract the cubins with: cuobjdump -xelf all FILE, and pass the ones you need"


def load(path: str) -> Source | Image:
    """Return the text of the file at `path`, or of standard input for `-`; the bytes of a cubin, host program, library or fatbin.

    Raises InputError with one of the codes missing-file, is-directory, no-permission, unreadable, too-large, binary-input, not-utf8.
    """
    return content(path, read_bytes(path, LIMIT))


def content(name: str, data: bytes) -> Source | Image:
    """Return these bytes as text or as an image; `name` is used in error messages.

    Raises InputError with one of the codes too-large, binary-input, not-utf8.
    """
    blank = Source(name, "")
    if len(data) > LIMIT:
        raise InputError(
            "too-large",
            f"'{name}' is larger than {LIMIT // 1024 // 1024} MiB",
            source=blank,
            hint=_EXTRACT if format_of(data) else "dump one function at a time: cuobjdump -sass -fun NAME FILE",
        )
    if format_of(data):
        return Image(name, data)
    if b"\0" in data and not data.startswith(UTF16_MARKS):
        raise InputError(
            "binary-input",
            f"'{name}' contains NUL bytes; expected text",
            source=blank,
            hint="pass a cubin, a program that contains cubins, or a listing: cuobjdump -sass FILE > dump.sass",
        )
    try:
        return Source(name, decoded(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            "not-utf8",
            f"'{name}' is not UTF-8 text: byte {error.start}, on line {line}",
            source=blank,
            hint="convert the file to UTF-8",
        ) from None


def read_bytes(path: str, limit: int) -> bytes:
    """Return at most one byte more than the limit, of a file or of standard input for `-`.

    Raises InputError with one of the codes missing-file, is-directory, no-permission, unreadable.
    """
    blank = Source(path, "")
    try:
        if path == "-":
            return sys.stdin.buffer.read(limit + 1)
        return read(path, limit)
    except FileNotFoundError:
        raise InputError("missing-file", f"there is no file '{path}'", source=blank) from None
    except IsADirectoryError:
        raise InputError("is-directory", f"'{path}' is a directory", source=blank, hint="pass the files in it") from None
    except PermissionError:
        raise InputError("no-permission", f"no permission to read '{path}'", source=blank, hint="check its permissions") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError("unreadable", f"'{path}' cannot be read: {reason}", source=blank, hint=_stream_hint(error)) from None


def _stream_hint(error: Exception) -> str | None:
    """Return what to do about a pipe without a writer and about what is not a file."""
    waited = isinstance(error, OSError) and error.errno in {errno.ETIMEDOUT, errno.EINVAL}
    return "name a plain file, or pass - and the program's output as standard input" if waited else None
