"""Entries of a cache below the platform's cache folder: plain data by name, nothing that could run.

An entry is a line with the SHA-256 of what follows, then the data. It is written beside its place and moved there at once, so
that concurrent runs never see half of one; an entry that does not hold what its first line says is as good as none. A folder that cannot be
used is no error: a cache only saves time.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sassan.files import write

_VARIABLE = "SASSAN_CACHE"
_FOLDER_MODE = 0o700


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one folder, `name`. `form` begins each, and names the version of what they hold.

    `limit` is for the bytes of all; past it the least recently used ones go, until a quarter is free.
    """

    name: str
    form: bytes
    limit: int = 256 * 1024 * 1024

    def folder(self) -> Path:
        """Return the folder: below SASSAN_CACHE, else below the cache folder of the platform."""
        import platformdirs  # noqa: PLC0415 - start-up

        return Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("sassan", appauthor=False)) / self.name

    def get(self, name: str) -> bytes | None:
        """Return the data of an entry, None when there is none that is whole."""
        path = self.folder() / name
        try:
            with path.open("rb") as file:
                head, _, data = file.read(self.limit).partition(b"\n")
            os.utime(path)
        except OSError:
            return None
        return data if head == self._head(data) else None

    def put(self, name: str, data: bytes, *, look: bool = True) -> None:
        """Keep an entry, where that is possible; `look` at the size of the folder after it."""
        path = self.folder() / name
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            write(path, self._head(data) + b"\n" + data, private=True)
            if look:
                self._shrink(keep=path)

    def _head(self, data: bytes) -> bytes:
        return self.form + b" sha256:" + hashlib.sha256(data).hexdigest().encode()

    def _shrink(self, keep: Path) -> None:
        """Remove the least recently used entries when all together are too large; another run may remove them first."""
        found = sorted(_files(keep.parent))
        total = sum(size for _, _, size in found)
        if total <= self.limit:
            return
        for _, name, size in found:
            if total <= self.limit * 3 // 4:
                return
            if name != keep.name:
                with contextlib.suppress(OSError):
                    (keep.parent / name).unlink()
                total -= size


def _files(place: Path) -> Iterator[tuple[int, str, int]]:
    """Yield (time of last use, name, size) of every file of the folder, scratch files that a killed run left behind too."""
    with os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                yield seen.st_mtime_ns, entry.name, seen.st_size
