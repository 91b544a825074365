"""The files that a page shows, and those whose change changes it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sassan.app.sources import inside
from sassan.errors import UsageError

CODE = frozenset({".cu", ".cubin", ".fatbin", ".ptx", ".sass"})
"""Ends of names of what is shown of a folder; a file that is named itself may have any."""
_READ = CODE | {".h", ".hpp", ".cuh", ".inc", ".toml"}
"""Ends of names of what else an analysis may read."""
_MOST = 5_000
"""Files that are compared, several times a second."""

Stamps = Mapping[str, tuple[int, int]]
"""Time of the last change in ns, and size in bytes, by path."""


class Folder:
    """A folder with all below it, or a single file with those beside it.

    What begins with a dot is not looked at, nor is what a link out of the folder leads to.
    """

    def __init__(self, path: str) -> None:
        """Take the path of a folder or of a file."""
        self._file = None if Path(path).is_dir() else path
        self.path = path if self._file is None else str(Path(path).parent)

    def stamps(self) -> Stamps:
        """Return the stamps of the files now.

        Raises UsageError `too-many-files`.
        """
        stamps: dict[str, tuple[int, int]] = {}
        for entry in self._entries():
            try:
                status = entry.stat()
            except OSError:  # it is gone again
                continue
            stamps[entry.path] = status.st_mtime_ns, status.st_size
            if len(stamps) > _MOST:
                raise UsageError("too-many-files", f"'{self.path}' holds more than {_MOST} files", hint="name a smaller folder, or a file")
        return stamps

    def shown(self, stamps: Stamps) -> list[str]:
        """Return the inputs, by name."""
        if self._file is not None:
            return [self._file]
        return sorted(path for path in stamps if _suffix(path) in CODE)

    def changed(self, before: Stamps, now: Stamps) -> list[str]:
        """Return the inputs that have to be analyzed anew: those that changed, and all where something changed that is not an input."""
        inputs = self.shown(now)
        different = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        if self._file is not None:
            return inputs if different else []
        if any(_suffix(path) not in CODE for path in different):
            return inputs
        # PTX may stand beside a cubin of the same name.
        stems = {os.path.splitext(path)[0] for path in different}  # noqa: PTH122 - of text
        return [path for path in inputs if path in different or os.path.splitext(path)[0] in stems]  # noqa: PTH122

    def _entries(self) -> Iterator["os.DirEntry[str]"]:
        left = [self.path]
        while left:
            try:
                with os.scandir(left.pop()) as entries:
                    known = [entry for entry in entries if not entry.name.startswith(".")]
            except OSError:
                continue
            for entry in known:
                if entry.is_dir(follow_symlinks=False):
                    left += [entry.path] if self._file is None else []
                elif _is_file(entry) and (self._is_input(entry) or self._is_read(entry)):
                    yield entry

    def _is_read(self, entry: "os.DirEntry[str]") -> bool:
        return _suffix(entry.name) in _READ and (not entry.is_symlink() or inside(Path(entry.path), self.path))

    def _is_input(self, entry: "os.DirEntry[str]") -> bool:
        return self._file is not None and entry.name == Path(self._file).name


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()  # noqa: PTH122 - of text
