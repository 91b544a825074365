"""A cache of disassembly under the platform's cache folder, addressed by content: plain text, nothing that could run.

An entry is a line with the SHA-256 of what follows, then the text. It is written beside its place and moved there at once, so
that concurrent runs never see half of one; an entry that does not hold what its first line says is as good as none. A folder that cannot be
used is no error: the cache only saves time.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

FORMAT = b"sassan-disassembly-1"
"""Part of every key: an entry of another version of this module is never found."""
LIMIT = 256 * 1024 * 1024
"""Bytes of all entries; past it the least recently used ones go, until a quarter is free."""
_VARIABLE = "SASSAN_CACHE"
_SUFFIX = ".sass"
_FOLDER_MODE = 0o700


def folder() -> Path:
    """Return the folder of the entries: below SASSAN_CACHE, else below the cache folder of the platform."""
    import platformdirs  # noqa: PLC0415 - only cubins need it

    return Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("sassan", appauthor=False)) / "disassembly"


def key(data: bytes, *context: str) -> str:
    """Return the name of the entry for an input and everything else that its disassembly depends on."""
    digest = hashlib.sha256(FORMAT)
    for part in (hashlib.sha256(data).hexdigest(), *context):
        digest.update(f"\0{part}".encode())
    return digest.hexdigest()


def get(name: str) -> bytes | None:
    """Return the text of an entry, None when there is none that is whole."""
    path = _path(name)
    try:
        with path.open("rb") as file:
            head, _, text = file.read(LIMIT).partition(b"\n")
        os.utime(path)
    except OSError:
        return None
    return text if head == _head(text) else None


def put(name: str, text: bytes) -> None:
    """Keep an entry, where that is possible."""
    path = _path(name)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        _write(path, _head(text) + b"\n" + text)
        _shrink(path.parent, keep=path)


def _path(name: str) -> Path:
    return folder() / f"{name}{_SUFFIX}"


def _head(text: bytes) -> bytes:
    return FORMAT + b" sha256:" + hashlib.sha256(text).hexdigest().encode()


def _write(path: Path, data: bytes) -> None:
    handle, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)  # noqa: PTH105 - the name is a plain string here
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)  # noqa: PTH108 - as above
        raise


def _shrink(place: Path, keep: Path) -> None:
    """Remove the least recently used entries when all together are too large; another run may remove them first."""
    entries = sorted(_entries(place))
    total = sum(size for _, _, size in entries)
    if total <= LIMIT:
        return
    for _, name, size in entries:
        if total <= LIMIT * 3 // 4:
            return
        if name != keep.name:
            with contextlib.suppress(OSError):
                (place / name).unlink()
            total -= size


def _entries(place: Path) -> Iterator[tuple[int, str, int]]:
    """Yield (time of last use, name, size) of every file of the folder, scratch files that a killed run left behind too."""
    with os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                yield seen.st_mtime_ns, entry.name, seen.st_size
