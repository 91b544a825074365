"""Entries of a cache below the platform's cache folder: plain data by name, never code.

An entry is a line with the SHA-256 of the data, then the data. It is written atomically, so that concurrent runs never see a part of one;
an entry that does not match its SHA-256 is ignored. A folder that cannot be used is not an error: a cache only saves time. One that belongs
to another user, or that others may write, is not used, which a warning says: its entries may say anything. Only plain files are opened.
"""

import contextlib
import hashlib
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sassan.files import write
from sassan.system.folders import make_private, own_file, trusted

CACHE = "SASSAN_CACHE"
"""The environment variable that names the folder of all caches."""
_OPEN = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
"""Neither waits for the writer of a pipe nor follows a link; some of these flags are unknown to Windows."""


def cache_folder(name: str) -> Path:
    """Return the folder of a cache: below SASSAN_CACHE, else below the cache folder of the platform."""
    import platformdirs  # noqa: PLC0415 - start-up

    return Path(os.environ.get(CACHE) or platformdirs.user_cache_dir("sassan", appauthor=False)) / name


class CacheWarning(UserWarning):
    """A cache is not used, since others may write it: what it would have saved is done anew."""


def usable(folder: Path) -> bool:
    """Make the folder of a cache where it is missing; say whether it may be used, and warn, once, where others may write it."""
    with contextlib.suppress(OSError):
        make_private(folder)
        if trusted(folder):
            return True
        warnings.warn(
            f"the cache '{folder}' is not used: it is a link or another user's, or others may write it or a folder on the way to it "
            f"(take that away with chmod go-w, or set another folder in {CACHE})",
            CacheWarning,
            stacklevel=1,  # here, so that Python shows it once
        )
    return False


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of the folder `name`. Each begins with `form`, which includes the version of the format.

    `limit` is in bytes, for all entries together; beyond it the least recently used are removed until a quarter is free.
    """

    name: str
    form: bytes
    limit: int = 256 * 1024 * 1024

    def folder(self) -> Path:
        """Return the folder."""
        return cache_folder(self.name)

    def get(self, name: str) -> bytes | None:
        """Return the data of an entry, None if it is missing or damaged."""
        path = self.folder() / name
        try:
            if not trusted(path.parent):
                return None
            with os.fdopen(os.open(path, _OPEN), "rb") as file:
                if not own_file(os.fstat(file.fileno())):
                    return None
                head, _, data = file.read(self.limit).partition(b"\n")
            os.utime(path)
        except OSError:
            return None
        return data if head == self._head(data) else None

    def put(self, name: str, data: bytes, *, look: bool = True) -> None:
        """Store an entry, if possible; with `look`, check the size of the folder afterwards."""
        path = self.folder() / name
        with contextlib.suppress(OSError):
            if not usable(path.parent):
                return
            write(path, self._head(data) + b"\n" + data, private=True)
            if look:
                self._shrink(keep=path)

    def _head(self, data: bytes) -> bytes:
        return self.form + b" sha256:" + hashlib.sha256(data).hexdigest().encode()

    def _shrink(self, keep: Path) -> None:
        """Remove the least recently used entries if the limit is exceeded; another run may remove them first."""
        entries = sorted(_files(keep.parent))
        total = sum(size for _, _, size in entries)
        if total <= self.limit:
            return
        for _, name, size in entries:
            if total <= self.limit * 3 // 4:
                return
            if name != keep.name:
                with contextlib.suppress(OSError):
                    (keep.parent / name).unlink()
                total -= size


def _files(folder: Path) -> Iterator[tuple[int, str, int]]:
    """Yield (time of last use, name, size in bytes) of every file of the folder, including scratch files of killed runs."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                yield status.st_mtime_ns, entry.name, status.st_size
