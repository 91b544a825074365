"""Private temporary folders: the place where other programs work, on files with plain names.

They do not outlive their process for long: they are removed at its end, or when the next one begins.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sassan.errors import StorageError, is_full
from sassan.system.folders import temporary_place
from sassan.system.leftovers import MACHINE, hold, machine, sweep

_NAMES = re.compile(rf"sassan-[0-9]+-{MACHINE}-[a-z0-9_]{{8}}")
_HINT = "set TMPDIR to a folder with space for temporary files; see what `ulimit -f` says of their size"


@contextmanager
def scratch(parent: Path | None = None) -> Generator[Path]:
    """Hold a folder that only this user may enter, by default in the folder for temporary files: its path is plain then.

    Those of processes that were killed are removed. Raises StorageError `temporary-folder` where none can be made, or where the disk is
    full; OSError for a `parent` that cannot be used.
    """
    place = _place() if parent is None else parent
    sweep(place, _NAMES)
    try:
        folder, handle = _made(place)
    except OSError as error:
        if parent is not None:
            raise
        raise _unusable(place, error) from None
    try:
        yield folder
    except OSError as error:
        if parent is None and is_full(error):
            raise _unusable(place, error) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def sweep_scratch() -> None:
    """Remove the folders of processes that are gone, as those are that this one has killed."""
    with suppress(OSError):
        sweep(temporary_place(), _NAMES, again=True)


def _place() -> Path:
    try:
        return temporary_place()
    except OSError as error:
        raise StorageError("temporary-folder", f"{error.strerror or error}", hint=_HINT) from None


def _made(place: Path) -> tuple[Path, int | None]:
    """Return a new folder and the handle that locks it; None where the system opens no folders."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"sassan-{os.getpid()}-{machine()}-", dir=place))
        if os.name == "nt":
            return folder, None
        handle = os.open(folder, os.O_RDONLY)
        hold(handle)
        if os.fstat(handle).st_nlink:  # else another process swept it before it was locked
            return folder, handle
        os.close(handle)


def _unusable(place: Path, error: OSError) -> StorageError:
    return StorageError("temporary-folder", f"'{place}' cannot hold temporary files: {error.strerror or error}", hint=_HINT)
