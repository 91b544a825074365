"""The text of source files that line information names.

The name comes from the code, which others may have made, and a page with the text may be read by others: only what lies in the folders is
shown, and no link leads out of them.
"""

from pathlib import Path

from sassan.errors import UsageError
from sassan.ir import SourceLine
from sassan.system import reading

_LARGEST = 16 * 1024 * 1024
"""Bytes of a source file."""


def base(path: str) -> str:
    """Return the last part of a path of any system."""
    return path.replace("\\", "/").rpartition("/")[2]


class Sources:
    """Source files in some folders, found by their names: the paths in a cubin are those of another machine, and are not opened."""

    def __init__(self, *folders: str) -> None:
        """Take the folders; the first that has a file of a name has it for all.

        Raises UsageError `no-folder`.
        """
        for folder in folders:
            if not Path(folder).is_dir():
                raise UsageError("no-folder", f"'{folder}' is not a folder", hint="pass the folder that holds the source files")
        self._folders = folders
        self._lines: dict[str, tuple[str, ...]] = {}

    def text(self, line: SourceLine) -> str:
        """Return the text of a line, '' where there is none to show."""
        matches = self.lines(base(line.file))
        return matches[line.line - 1] if 0 < line.line <= len(matches) else ""

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the lines of the file of a name, none where there is no such file."""
        if name not in self._lines:
            self._lines[name] = next((lines for folder in self._folders if (lines := self._read(Path(folder, name)))), ())
        return self._lines[name]

    def _read(self, path: Path) -> tuple[str, ...]:
        return _lines(path) if any(inside(path, folder) for folder in self._folders) else ()


def inside(path: Path, folder: str) -> bool:
    """Say whether a path, wherever links lead, lies below a folder."""
    try:
        return path.resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle, before Python 3.13
        return False


def _lines(path: Path) -> tuple[str, ...]:
    try:
        if not path.is_file():
            return ()
        return tuple(reading.text(path, _LARGEST, errors="replace").removesuffix("\n").split("\n"))
    except (OSError, ValueError):
        return ()
