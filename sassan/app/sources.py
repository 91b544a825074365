"""The text of source files that line information names.

The name comes from the code, which others may have made, and a page with the text may be read by others: only source code that lies in the
folders is shown, nothing that is hidden, and no link leads out of them.
"""

from pathlib import Path
from typing import Self

from sassan.errors import UsageError
from sassan.ir import SourceLine
from sassan.system import reading

_LARGEST = 16 * 1024 * 1024
"""Bytes of a source file."""
_C = {
    ".cu",
    ".cuh",
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".h",
    ".hh",
    ".hpp",
    ".hxx",
    ".inc",
    ".inl",
    ".ipp",
    ".tpp",
    ".impl",
    ".cl",
    ".slang",
    ".hlsl",
}
_FORTRAN = {".cuf", ".f", ".for", ".f90", ".f95", ".f03", ".f08"}
_SUFFIXES = _C | _FORTRAN | {".ptx", ".ll", ".mlir", ".ttir", ".ttgir", ".llir", ".py", ".pyx", ".jl", ".rs", ".mojo", ".zig", ".nim"}
"""Ends of names of source code in the languages that are compiled for a GPU."""


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

    @classmethod
    def of_text(cls, name: str, text: str) -> Self:
        """Return the only source there is: a text that is in no file and goes by the name of one."""
        sources = cls()
        sources._lines[name] = _split(text)
        return sources

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
        real = next((real for folder in self._folders if (real := _inside(path, folder)) is not None), None)
        return _lines(real) if real is not None and real.suffix.lower() in _SUFFIXES else ()


def inside(path: Path, folder: str) -> bool:
    """Say whether a path, wherever links lead, lies below a folder, and nothing on the way from there is hidden."""
    return _inside(path, folder) is not None


def _inside(path: Path, folder: str) -> Path | None:
    """Return where a path leads, if that is below a folder and nothing on the way from there is hidden."""
    try:
        real, root = path.resolve(), Path(folder).resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle, before Python 3.13
        return None
    shown = real.is_relative_to(root) and not any(part.startswith(".") for part in (path.name, *real.relative_to(root).parts))
    return real if shown else None


def _lines(path: Path) -> tuple[str, ...]:
    try:
        if not path.is_file():
            return ()
        return _split(reading.text(path, _LARGEST, errors="replace"))
    except (OSError, ValueError):
        return ()


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").split("\n"))
