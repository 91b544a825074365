"""Private temporary folders: the place where other programs work, on files with plain names."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sassan.system.folders import temporary_place


@contextmanager
def scratch(parent: Path | None = None) -> Generator[Path]:
    """Hold a folder that only this user may enter, by default in the folder for temporary files: its path is plain then.

    Raises OSError.
    """
    with tempfile.TemporaryDirectory(prefix="sassan-", dir=parent or temporary_place()) as name:
        yield Path(name)
