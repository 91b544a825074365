"""A cache of compilations and of costs below the platform's cache folder, addressed by content: JSON and cubins, nothing that could run.

An entry is a line with the SHA-256 of what follows, then the data, written beside its place and moved there at once: concurrent runs
never see half of one, and one that does not hold what its first line says is as good as none. A folder that cannot be used is no error.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import cast

FORMAT = b"sassan-evolve-1"
"""Part of every key: an entry of another version of this module is never found."""
LIMIT = 256 * 1024 * 1024
"""Bytes of all entries; past it the least recently used ones go, until a quarter is free."""
_VARIABLE = "SASSAN_CACHE"
_LOOK_EVERY = 64
"""The size of the folder is looked at when the key of a new entry falls to one in so many."""


class Cache:
    """Entries in one folder; `used` False keeps and finds nothing."""

    def __init__(self, *, used: bool = True) -> None:
        """Look for the folder when it is needed."""
        self._used = used

    def get(self, name: str) -> bytes | None:
        """Return the data of an entry, None when there is none that is whole."""
        if not self._used:
            return None
        path = folder() / name
        try:
            head, _, data = path.read_bytes().partition(b"\n")
            os.utime(path)
        except OSError:
            return None
        return data if head == _head(data) else None

    def put(self, name: str, data: bytes) -> None:
        """Keep an entry, where that is possible."""
        if not self._used:
            return
        path = folder() / name
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(path, _head(data) + b"\n" + data)
            if int(name[:4], 16) % _LOOK_EVERY == 0:
                _shrink(path.parent)

    def get_object(self, name: str) -> dict[str, object] | None:
        """Return the JSON object of an entry, None when there is none."""
        data = self.get(name)
        if data is None:
            return None
        try:
            found: object = json.loads(data)
        except ValueError:
            return None
        return cast("dict[str, object]", found) if isinstance(found, dict) else None

    def put_object(self, name: str, value: dict[str, object]) -> None:
        """Keep a JSON object."""
        self.put(name, json.dumps(value, sort_keys=True).encode())


def folder() -> Path:
    """Return the folder of the entries: below SASSAN_CACHE, else below the cache folder of the platform."""
    import platformdirs  # noqa: PLC0415 - start-up

    return Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("sassan", appauthor=False)) / "evolve"


def key(*parts: str | bytes) -> str:
    """Return the name of the entry for everything that it depends on."""
    digest = hashlib.sha256(FORMAT)
    for one in parts:
        data = one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return a hash of which files this sassan consists of: costs that another one computed are not taken."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(one for pattern in ("**/*.py", "**/*.toml", "**/*.lark") for one in root.glob(pattern)):
        seen = path.stat()
        digest.update(f"{path.relative_to(root)} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def write(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it; raises OSError."""
    handle, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(scratch).unlink()
        raise


def _head(data: bytes) -> bytes:
    return FORMAT + b" sha256:" + hashlib.sha256(data).hexdigest().encode()


def _shrink(place: Path) -> None:
    """Remove the least recently used entries when all together are too large; another run may remove them first."""
    found: list[tuple[int, str, int]] = []
    with os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                found.append((seen.st_mtime_ns, entry.path, seen.st_size))
    total = sum(size for _, _, size in found)
    if total <= LIMIT:
        return
    for _, path, size in sorted(found):
        if total <= LIMIT * 3 // 4:
            return
        with contextlib.suppress(OSError):
            Path(path).unlink()
        total -= size
