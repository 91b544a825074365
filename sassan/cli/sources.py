"""The text of source lines, for listings of code that has line information."""

from functools import lru_cache
from pathlib import Path

from sassan.errors import UsageError
from sassan.ir import SourceLine

_LARGEST = 16 * 1024 * 1024
"""Bytes of a source file."""


class Sources:
    """Source files in one folder, found by their names: the paths in a cubin are those of another machine, and are not opened."""

    def __init__(self, folder: str | None) -> None:
        """Take the folder, None for none.

        Raises UsageError `no-folder`.
        """
        if folder is not None and not Path(folder).is_dir():
            raise UsageError("no-folder", f"'{folder}' is not a folder", hint="pass the folder that holds the source files")
        self._folder = folder

    def text(self, line: SourceLine) -> str:
        """Return the text of a line, '' where there is none to show."""
        if self._folder is None:
            return ""
        matches = _lines(self._folder, line.file.replace("\\", "/").rpartition("/")[2])
        return matches[line.line - 1] if 0 < line.line <= len(matches) else ""


@lru_cache(maxsize=64)
def _lines(folder: str, name: str) -> tuple[str, ...]:
    try:
        path = Path(folder) / name
        if name in {"", ".", ".."} or not path.is_file() or path.stat().st_size > _LARGEST:
            return ()
        return tuple(path.read_text("utf-8", "replace").split("\n"))
    except (OSError, ValueError):
        return ()
