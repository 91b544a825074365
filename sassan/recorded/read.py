"""Reads a recording of any format: which one it is, its first bytes and its shape say, never its name."""

from pathlib import Path

from sassan.errors import InputError
from sassan.recorded.faults import LIMIT
from sassan.recorded.ncu_report import MAGIC, read_report
from sassan.recorded.types import Recording, TuningSpace
from sassan.source import Source


def read(path: str) -> Recording | TuningSpace:
    """Return what the file at `path` records.

    Raises InputError: missing-file, is-directory, no-permission, unreadable, too-large; bad-recording with the place in the file.
    """
    return content(path, _bytes(path))


def content(path: str, data: bytes) -> Recording | TuningSpace:
    """Return what these bytes record; `path` is what errors call them."""
    if data.startswith(MAGIC):
        return read_report(path, data)
    raise InputError("bad-recording", "unknown", source=Source(path, ""))


def _bytes(path: str) -> bytes:
    blank = Source(path, "")
    try:
        with Path(path).open("rb") as file:
            data = file.read(LIMIT + 1)
    except FileNotFoundError:
        raise InputError("missing-file", f"there is no file '{path}'", source=blank) from None
    except IsADirectoryError:
        raise InputError("is-directory", f"'{path}' is a directory", source=blank, hint="name the files in it") from None
    except PermissionError:
        raise InputError("no-permission", f"'{path}' may not be read", source=blank, hint="check its permissions") from None
    except (OSError, ValueError) as error:
        raise InputError("unreadable", f"'{path}' cannot be read: {error}", source=blank) from None
    if len(data) > LIMIT:
        hint = "record fewer launches: ncu --launch-count N"
        raise InputError("too-large", f"'{path}' is larger than {LIMIT >> 20} MiB", source=blank, hint=hint)
    return data
